import Delivery
import PushModel

extension Flight {
    /// The reason and the time of a record's wait, where it holds more than a request to be sent at once.
    struct Wait {
        /// The data of the record, for a request that comes from a delay lane.
        var delayed: DelayedRecord?
        /// The call whose outcome must be polled, when the record holds one instead of a request.
        private(set) var poll: OutcomePoll?
        /// The dead letter of a record that cannot be understood and must wait for the window, or an empty one for a record of
        /// another group.
        var deadLetter: OutcomeBatch?
        /// True if it is to make room for what was read behind it.
        private(set) var mustDefer = false

        /// The time to check the record again that waits in a delay lane.
        var recheckTime: Timestamp? { delayed?.recheckTime ?? poll?.recheckTime }

        /// The time of that record.
        var writtenAt: Timestamp? { delayed?.writtenAt ?? poll?.writtenAt }

        /// The time when it is due, by that record.
        var due: Timestamp? { delayed?.due ?? poll?.due }

        /// The memory that it takes, about.
        @inline(__always) var byteCount: Int { (delayed.map { 2 * $0.text.count + 1024 } ?? 0) + (deadLetter?.byteCount ?? 0) }

        /// Notes that the record holds the poll of a call's outcome.
        mutating func setPoll(_ poll: OutcomePoll) { self.poll = poll }

        /// Notes its records, which are written without a call.
        mutating func conclude(as outcome: OutcomeBatch) { deadLetter = outcome }

        /// Marks it for deferral, so that there is room for what was read behind it.
        mutating func markForDeferral() { mustDefer = true }
    }
}
