import Basics
import HTTPServing
import PushModel

/// What a stream of server-sent events consists of (HTML standard, section 9.2).
enum EventFrames {
    /// The most bytes of the longest event, that of the fleet.
    static let limit = 65_536
    /// Status and header fields of a stream. No proxy may keep it back.
    static let head = APIAnswer(
        status: 200,
        headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"])
    /// How long a client waits before it connects again.
    static let beginning = Array("retry: 2000\n\n".utf8)
    /// Keeps proxies from ending a silent connection.
    static let comment = Array(":\n\n".utf8)
    /// The last one; its id says to whoever connects again that nothing more comes.
    static let end = event("end", id: endID, data: Array("{}".utf8))
    /// The id of the last one.
    static let endID = "end"

    /// The last one of a stream whose reader may have no more. It has no id, so that whoever connects again says what came before.
    package static func problem(_ problem: APIProblem) -> [UInt8] {
        Array("event: problem\ndata: ".utf8) + problem.json + Array("\n\n".utf8)
    }

    /// One event. Each line of `data` becomes a line of data.
    static func event(_ name: StaticString, id: String, data: [UInt8]) -> [UInt8] {
        var frame = ByteWriter(capacity: data.count + 64)
        frame.append("event: ")
        frame.append(name)
        frame.append("\nid: ")
        // A result says its state itself, and a line end in it would begin another field.
        frame.append(String(id.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F }))
        for line in data.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            frame.append("\ndata: ")
            frame.append(line.span)
        }
        frame.append("\n\n")
        return frame.bytes
    }
}

/// When the streams of events have something to send: a comment every 15 s, and a state that changes by time alone. Without clock.
///
/// Each step takes the logarithm of the number of streams.
struct EventSchedule: Sendable {
    /// Seconds between two comments.
    static let commentInterval: Int64 = 15

    private var moments = MomentHeap<MonotonicTime, Int>()
    private var streams: Set<Int> = []

    /// How many streams there are.
    var count: Int { streams.count }

    /// Adds a stream, which has just been sent something.
    mutating func add(_ stream: Int, at now: MonotonicTime) {
        streams.insert(stream)
        moments.add(stream, at: Self.next(after: now))
    }

    /// Has a stream looked at once more, at a moment of its own.
    mutating func add(_ stream: Int, lookingAt moment: MonotonicTime) {
        if streams.contains(stream) { moments.add(-stream, at: moment) }
    }

    /// Forgets a stream; its moments are passed over when they come.
    mutating func remove(_ stream: Int) {
        streams.remove(stream)
        guard moments.count > 4 * streams.count + 64 else { return }
        moments = MomentHeap(moments.entries.filter { streams.contains(abs($0.element)) })
    }

    /// Takes the next stream whose time has come, and whether it is to get a comment.
    mutating func next(at now: MonotonicTime) -> (stream: Int, isComment: Bool)? {
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
