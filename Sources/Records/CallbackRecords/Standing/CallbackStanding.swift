import PushModel

/// The distance of a receiver from the end of the results, and the time that is left for it.
package struct CallbackStanding: Sendable, Equatable {
    /// The receiver's name.
    package let receiver: String
    /// False for one that has no position yet: the service has not begun with it.
    package internal(set) var hasBegun = false
    /// The records that lie before it, wanted or not.
    package internal(set) var behind: Int64 = 0
    /// The records that lie before it on the topic of what is sent once more, those of other receivers included.
    package internal(set) var replaysBehind: Int64 = 0
    /// The time of the oldest result that lies before it, in milliseconds since 1970. Nil where none does, or it is not known.
    package internal(set) var oldest: Int64?
    /// The records between the first that is left and its position, in the partition where they are fewest. Nil where none lies before it.
    package internal(set) var margin: Int64?
    /// The results that retention has deleted before it came to them.
    package internal(set) var lost: Int64 = 0
    /// The time for which the topic keeps a record, in milliseconds. Nil if it deletes nothing by age, that is not known, or no receiver is behind.
    package internal(set) var kept: Int64?
    /// The time that is left until brokers may delete the oldest result that lies before it, in milliseconds.
    package internal(set) var left: Int64?

    /// A receiver of which nothing is known.
    init(_ receiver: String) { self.receiver = receiver }

    /// True if less than a quarter of the time is left, as for the requests of workers.
    package var isShort: Bool { kept.flatMap { kept in left.map { $0 < kept / 4 } } ?? false }
    /// True if less than a twentieth of the time is left: 17 h of 14 days.
    package var isUrgent: Bool { kept.flatMap { kept in left.map { $0 < kept / 20 } } ?? false }
}

extension CallbackStanding {
    /// Adds a partition of results.
    ///
    /// - Parameters:
    ///   - position: Its position there.
    ///   - low: The first offset that is left.
    ///   - high: The next offset.
    mutating func add(position: Int64, low: Int64, high: Int64) {
        hasBegun = true
        lost = lost.addingSaturated(max(0, low - max(0, position)))
        let waiting = max(0, high - max(position, low))
        guard waiting > 0 else { return }
        behind = behind.addingSaturated(waiting)
        margin = min(margin ?? .max, max(0, position - low))
    }

    /// Adds a partition of what is sent once more.
    mutating func addReplays(position: Int64?, low: Int64, high: Int64) {
        replaysBehind = replaysBehind.addingSaturated(max(0, high - max(position ?? low, low)))
    }

    /// Notes the time of a result that lies before it.
    mutating func note(waitingSince time: Int64) { oldest = min(oldest ?? time, time) }

    /// Finds out what is left of the time for which results are kept.
    mutating func measure(kept: Int64?, now: Int64) {
        self.kept = kept
        guard let kept else { return }
        guard let oldest else { return left = behind == 0 ? kept : nil }
        let (age, overflow) = now.subtractingReportingOverflow(oldest)
        left = overflow ? 0 : kept - max(0, min(age, kept))
    }
}
