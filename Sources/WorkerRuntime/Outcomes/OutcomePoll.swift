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
    var phase = Phase.waiting
    /// The number of the token that the poll was signed with.
    var tokenSerial: UInt64 = 0
    /// The outcome of the call, while the list of refused devices is being read.
    var outcome: CallOutcome?

    /// Reads a record. Nil for one that pushfan has not written.
    ///
    /// - Parameters:
    ///   - record: A record of a delay lane.
    ///   - due: When its headers say to poll the hub.
    ///   - delay: The delay lane, by its place in `DelayLanes.lengths`.
    ///   - now: The present moment.
    init?(_ record: borrowing ConsumedRecord, due: Int64?, in delay: Int, now: Timestamp) {
        guard let due, due < now.adding(seconds: Self.longestWait).milliseconds, let value = record.value,
            let call = try? TrackedCall(value)
        else { return nil }
        self.call = call
        self.due = Timestamp(milliseconds: due)
        recheckTime = DelayLanes.recheckTime(
            in: delay, written: record.timestamp.map(Timestamp.init(milliseconds:)) ?? now, due: self.due, now: now)
    }

    /// More than any poll waits, in seconds: two days.
    private static let longestWait: Int64 = 172_800
}

/// The content of a record's headers about a telemetry poll, read without keeping any of them.
struct PollHeaders {
    /// True if the record holds a poll.
    private(set) var isPoll = false
    /// True if it is this group's, or nil when it does not say whose.
    private(set) var isOurs: Bool?
    /// The time to poll the hub.
    private(set) var due: Int64?

    init(_ record: borrowing ConsumedRecord, group: String) {
        var found = (isPoll: false, isOurs: Bool?.none, due: Int64?.none)
        record.forEachHeader { name, value in
            guard let value else { return }
            switch name.count {
            case 12 where Self.equal(name, "pushfan-poll"): found.isPoll = true
            case 13 where Self.equal(name, "pushfan-group"): found.isOurs = Self.equal(value, group)
            case 21 where Self.equal(name, "pushfan-not-before-ms"): found.due = Self.number(value)
            default: break
            }
        }
        (isPoll, isOurs, due) = found
    }

    private static func equal(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
        word.withUTF8Buffer { letters in
            guard letters.count == text.count else { return false }
            for index in text.indices where text[index] != letters[index] { return false }
            return true
        }
    }

    private static func equal(_ text: Span<UInt8>, _ word: String) -> Bool {
        let letters = word.utf8Span.span
        guard letters.count == text.count else { return false }
        for index in text.indices where text[index] != letters[index] { return false }
        return true
    }

    /// The number in at most 18 digits, or nil for anything else.
    private static func number(_ text: Span<UInt8>) -> Int64? {
        guard (1...18).contains(text.count) else { return nil }
        var number: Int64 = 0
        for index in text.indices {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }
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
