import Basics

/// The open failures of incidents as far as they were counted, and the time to count again. Pure: it reads no clock.
///
/// Each count is kept as it is made, so one that takes too long costs the others nothing: it is not known, and its turn comes last.
struct IncidentCounts: Sendable {
    /// The age at which a count is made again, 30 s in nanoseconds.
    static let life: Int64 = 30_000_000_000
    /// The most incidents that are counted for one question, and those whose counts are kept.
    static let capacity = (asked: 50, kept: 200)
    /// The rest after counts, as a multiple of their time: 5 % of a processor at most.
    static let rest: Int64 = 20
    /// The longest time of counts that makes the rest longer, 60 s in nanoseconds.
    private static let longest: Int64 = 60_000_000_000

    private struct Count {
        var open: Int?
        let at: MonotonicTime
    }

    private var counts: [String: Count] = [:]
    private var next = MonotonicTime.past
    private var isCounting = false

    /// The counts that are known, by the ids of their incidents.
    var open: [String: Int] { counts.compactMapValues(\.open) }

    /// Begins to count, if it is time for that and no other call does: those that were not counted of late, the oldest counts last.
    ///
    /// - Parameters:
    ///   - ids: The incidents that are asked for.
    ///   - now: The present.
    /// - Returns: The incidents to count one after the other, or none. If there are some, ``end(at:took:)`` follows.
    mutating func begin(_ ids: [String], at now: MonotonicTime) -> [String] {
        let ids = ids.prefix(Self.capacity.asked)
        guard !isCounting, now >= next else { return [] }
        let due = ids.filter { id in counts[id].map { now.nanoseconds(since: $0.at) >= Self.life } ?? true }
        let order = due.enumerated().sorted { one, other in
            (counts[one.element]?.at ?? .past, one.offset) < (counts[other.element]?.at ?? .past, other.offset)
        }
        isCounting = !order.isEmpty
        return order.map(\.element)
    }

    /// Keeps a count, or that it could not be made.
    mutating func note(_ open: Int?, of id: String, at now: MonotonicTime) {
        counts[id] = Count(open: open, at: now)
        guard counts.count > Self.capacity.kept, let oldest = counts.min(by: { $0.value.at < $1.value.at }) else { return }
        counts[oldest.key] = nil
    }

    /// Ends to count, and rests.
    mutating func end(at now: MonotonicTime, took nanoseconds: Int64) {
        isCounting = false
        next = now.advanced(byNanoseconds: Self.rest * min(max(0, nanoseconds), Self.longest))
    }
}
