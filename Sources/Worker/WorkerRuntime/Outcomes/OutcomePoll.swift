import Basics
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

/// The telemetry polls of one loop.
struct OutcomePolling {
    /// The number of polls that may wait for their turn. More are deferred, because behind them in a lane others would wait that
    /// are no polls.
    static let maximumWaiting = 1024

    var queue = FIFO<WaitingCall>()
    var allowance = PollAllowance()
    /// The rest that the hub asked for when it was asked for an outcome. Sends go on.
    var pause = HubPause()
    /// True if the hub says nothing of any notification. It is not asked any more, for as long as the worker runs.
    var isRefused = false
    /// True if it was said that calls cannot be followed for want of something of ours.
    var isAbsenceKnown = false

    var hasRoom: Bool { queue.count < Self.maximumWaiting }
}

extension ExchangeID {
    /// The exchange of a flight's telemetry poll. Numbers below zero set such apart from calls.
    static func poll(of flight: Flight) -> Int { ~ExchangeID(flight, call: 0).number }

    /// True if the exchange is the poll of what `flight` carries now.
    func isPoll(of flight: Flight) -> Bool { flight.isActive && number >> 48 == Int(flight.generation & 0x7FFF) }
}
