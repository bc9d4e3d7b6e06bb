import Basics

/// When the streams of events have something to send: a comment every 15 s, and a state that changes by time alone. Without clock.
///
/// Each step takes the logarithm of the number of streams.
struct EventSchedule: Sendable {
    /// Seconds between two comments.
    static let commentInterval: Int64 = 15

    private var moments = MomentHeap<MonotonicTime, Int>()
    private var streams: Set<Int> = []

    /// How many streams there are.
    package var count: Int { streams.count }

    /// Adds a stream, which has just been sent something.
    package mutating func add(_ stream: Int, at now: MonotonicTime) {
        streams.insert(stream)
        moments.add(stream, at: Self.next(after: now))
    }

    /// Has a stream looked at once more, at a moment of its own.
    package mutating func add(_ stream: Int, lookingAt moment: MonotonicTime) {
        if streams.contains(stream) { moments.add(-stream, at: moment) }
    }

    /// Forgets a stream; its moments are passed over when they come.
    mutating func remove(_ stream: Int) {
        streams.remove(stream)
        guard moments.count > 4 * streams.count + 64 else { return }
        moments = MomentHeap(moments.entries.filter { streams.contains(abs($0.element)) })
    }

    /// Takes the next stream whose time has come, and whether it is to get a comment.
    package mutating func next(at now: MonotonicTime) -> (stream: Int, isComment: Bool)? {
        while let found = moments.removeDue(now) {
            guard streams.contains(abs(found)) else { continue }
            if found > 0 { moments.add(found, at: Self.next(after: now)) }
            return (abs(found), found > 0)
        }
        return nil
    }

    private static func next(after now: MonotonicTime) -> MonotonicTime {
        now.advanced(byNanoseconds: commentInterval * 1_000_000_000)
    }
}
