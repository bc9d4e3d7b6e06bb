import Basics
import Delivery
import Kafka
import ResultFeed

/// A result that a receiver has not taken yet, in its process's memory.
struct DeskRecord: Sendable {
    /// The part of its life.
    enum Phase: Sendable {
        /// An earlier result of its request is not done with.
        case behind
        /// It may be called.
        case ready
        /// It waits for its next attempt.
        case waiting
        /// A call is in flight.
        case inFlight
        /// It was given up, and its dead letter is being written.
        case givenUp
    }

    let record: FeedRecord
    let place: TopicPartition
    /// The memory that it counts for.
    let byteCount: Int
    var phase = Phase.ready
    /// The number of the next result of its request.
    var next: Int?
    /// Calls that were begun.
    var attempts = 0
    /// The beginnings of the first call and the last one.
    var firstStart = MonotonicTime.past
    var lastStart = MonotonicTime.past
    /// The end of the first call that was in vain.
    var firstFailure: MonotonicTime?
    /// The wall clock's moments of the first call and the last one.
    var firstAt: Int64 = 0
    var lastAt: Int64 = 0
    /// True if it failed while others were taken, so that its failures say nothing of the receiver.
    var failsAlone = false
    /// The status of the last answer, or nil where there was none.
    var status: Int?

    init(_ record: FeedRecord, in place: TopicPartition) {
        self.record = record
        self.place = place
        byteCount = record.line.count + 512
    }

    /// True if it was called before, and waits for another call.
    var isRetry: Bool { attempts > 0 && (phase == .waiting || phase == .ready) }
}

/// A result that a receiver did not take, which becomes a dead letter.
struct UntakenResult: Sendable {
    /// The reason for which it is not called again.
    enum Reason: String, Sendable {
        /// It was not taken for as long as the receiver's `give_up_after` says.
        case gaveUp = "gave_up"
        /// It kept the results behind it from being called, while others were taken.
        case heldUpOthers = "held_up_others"
    }

    let number: Int
    let record: FeedRecord
    let place: TopicPartition
    let reason: Reason
    let attempts: Int
    let firstAt: Int64
    let lastAt: Int64
    let status: Int?
}

/// A call that begins now.
struct DeskCall: Sendable {
    /// The number of the record, and of the call while it is in flight.
    let number: Int
    let record: FeedRecord
    /// The number of the attempt, from 1.
    let attempt: Int
}

/// A call in flight, as the limits know it.
struct DeskFlight: Sendable {
    /// Its role, or nil where it went to another address.
    var call: CircuitBreaker.Call?
    let start: MonotonicTime
}
