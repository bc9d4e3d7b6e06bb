import Delivery
import Kafka
import Outcomes
import PushModel

/// A record of a delay lane that holds a call whose outcome must be polled.
final class OutcomePoll {
    /// The state of the poll.
    enum Phase {
        /// Waits for its time. Goes to `ready`.
        case waiting
        /// Waits for its turn. Goes to `asking`.
        case ready
        /// The hub is being asked. Goes to `reading`, or is over.
        case asking
        /// The outcome is known, and the list of refused devices is being read.
        case reading
    }

    /// The call.
    var call: TrackedCall
    /// The time to poll the hub.
    let due: Timestamp
    /// The time to check the record again.
    let recheckTime: Timestamp
    /// The time of the record.
    let writtenAt: Timestamp
    var phase = Phase.waiting
    /// The number of the token that the poll was signed with.
    var tokenSerial: UInt64 = 0
    /// The outcome of the call, while the list of refused devices is being read.
    var outcome: CallOutcome?

    /// Reads a record of a delay lane, by its place in `DelayLanes.lengths`. Nil for one that pushfan has not written.
    init?(_ record: borrowing ConsumedRecord, due: Int64?, in delay: Int, now: Timestamp) {
        guard let due, due < now.adding(seconds: Self.longestWait).milliseconds, let value = record.value,
            let call = try? TrackedCall(value)
        else { return nil }
        self.call = call
        self.due = Timestamp(milliseconds: due)
        writtenAt = record.timestamp.map(Timestamp.init(milliseconds:)) ?? now
        recheckTime = DelayLanes.recheckTime(in: delay, written: writtenAt, due: self.due, now: now)
    }

    /// More than any poll waits, in seconds: two days.
    private static let longestWait: Int64 = 172_800
}
