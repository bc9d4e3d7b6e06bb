/// The history of one request so far: its calls and their attempts, kept until its final result is written.
///
/// A report is reused; texts that came with answers lie one behind another in `bytes`.
public struct DeliveryReport: Sendable {
    /// A text in the report's bytes.
    public struct Text: Sendable, Equatable {
        var start: Int32
        var length: Int32
    }

    /// One planned hub call.
    public struct Call: Sendable {
        /// The platform, or nil for a template call.
        public var platform: Platform?
        /// The outcome of the call, once it has one.
        public var outcome: Outcome?
        /// The reason why it was no success.
        public var code: ErrorCode?
        /// The hub's last status, or 0.
        public var httpStatus = 0
        /// The size of the body.
        public var payloadByteCount = 0
        /// The attempts made.
        public var attemptCount = 0
        /// The id under which the hub's telemetry knows the notification. Standard tier only.
        public var notificationID: Text?
        /// The hub's own word for the call in its logs.
        public var trackingID: Text?
        /// The last words of the hub or the library, when it was no success.
        public var detail: Text?
        /// The last Retry-After, in milliseconds.
        public var retryAfter: Int64?

        /// A call that was not made yet.
        public init(platform: Platform?) { self.platform = platform }
    }

    /// The end of one attempt.
    public enum AttemptResult: String, Sendable, CaseIterable {
        case ok, error, timeout, aborted
    }

    /// One attempt of one call.
    public struct Attempt: Sendable {
        /// Its number within the call, from 1.
        public var number: Int
        /// The call's index.
        public var call: Int
        /// The moment at which it was handed to the connection.
        public var startedAt: Timestamp
        /// From then to its end, in milliseconds.
        public var duration: Int64 = 0
        /// The end of the attempt.
        public var result = AttemptResult.aborted
        /// The hub's status, or 0.
        public var httpStatus = 0
        /// The reason why it was no success.
        public var code: ErrorCode?
        /// True if any byte of the request had left.
        public var bytesSent = false
        /// The wait before the next attempt, in milliseconds, or nil when there was none.
        public var backoff: Int64?

        /// An attempt that starts now.
        public init(number: Int, call: Int, startedAt: Timestamp) {
            self.number = number
            self.call = call
            self.startedAt = startedAt
        }
    }

    /// The most attempts that a report keeps in detail (the result schema's limit). Later ones are only counted.
    public static let maximumAttempts = 50

    /// The planned calls, in the plan's order.
    public var calls: [Call] = []
    /// The attempts, in the order in which they were made.
    public private(set) var attempts: [Attempt] = []
    /// True if each call that the hub accepted gets an outcome, too.
    public private(set) var isFollowed = false
    /// The faults of a request that is rejected.
    public var faults: [RequestFault] = []
    /// The moment at which the record was taken from Kafka.
    public var consumedAt = Timestamp(milliseconds: 0)
    /// The moment at which the first call was handed to a connection.
    public var firstAttemptAt: Timestamp?
    /// The time spent waiting because the hub said so, in milliseconds.
    public var throttleWait: Int64 = 0
    /// The time spent in calls, in milliseconds.
    public var hubTime: Int64 = 0
    private var bytes = ByteWriter()

    /// An empty report.
    public init() {}

    /// Notes if each call that the hub accepted gets an outcome, too.
    public mutating func note(isFollowed: Bool) { self.isFollowed = isFollowed }

    /// Forgets everything and keeps the room.
    public mutating func removeAll() {
        calls.removeAll(keepingCapacity: true)
        isFollowed = false
        attempts.removeAll(keepingCapacity: true)
        if !faults.isEmpty { faults.removeAll(keepingCapacity: true) }
        bytes.removeAll()
        firstAttemptAt = nil
        throttleWait = 0
        hubTime = 0
    }

    /// Keeps a text, cut to `limit` bytes and there before a whole character.
    public mutating func keep(_ text: Span<UInt8>, limit: Int = 256) -> Text? {
        var end = min(text.count, limit)
        if end < text.count {
            // A character has at most three bytes behind its first one; what has more is no UTF-8 and is cut anywhere.
            let shortest = max(0, end - 3)
            var start = end
            while start > shortest && text[start] & 0xC0 == 0x80 { start -= 1 }
            if text[start] & 0xC0 != 0x80 { end = start }
        }
        guard end > 0 else { return nil }
        let kept = text.extracting(0..<end)
        let start = bytes.count
        bytes.append(kept)
        return Text(start: Int32(start), length: Int32(kept.count))
    }

    /// The bytes of a kept text.
    @_lifetime(borrow self)
    public borrowing func span(_ text: Text) -> Span<UInt8> {
        bytes.span.extracting(Int(text.start)..<Int(text.start) + Int(text.length))
    }

    /// Notes an attempt that has ended. The texts of the attempts before it that no call has any more are forgotten from time to time.
    public mutating func add(_ attempt: Attempt) {
        calls[attempt.call].attemptCount = attempt.number
        hubTime += attempt.duration
        if attempts.count < Self.maximumAttempts { attempts.append(attempt) }
        if bytes.count > calls.count * Self.textBytesOfCall { dropReplacedTexts() }
    }

    /// The bytes that texts of a call may take: twice the three that it has, each of 256.
    static let textBytesOfCall = 1536

    private mutating func dropReplacedTexts() {
        let former = bytes
        bytes = ByteWriter()
        func kept(_ text: Text?, in report: inout Self) -> Text? {
            text.flatMap { report.keep(former.span.extracting(Int($0.start)..<Int($0.start) + Int($0.length))) }
        }
        for index in calls.indices {
            calls[index].notificationID = kept(calls[index].notificationID, in: &self)
            calls[index].trackingID = kept(calls[index].trackingID, in: &self)
            calls[index].detail = kept(calls[index].detail, in: &self)
        }
    }

    /// The bytes that calls, attempts and texts take in memory, with the room that is kept for them.
    public var byteCount: Int {
        bytes.room.count + calls.capacity * MemoryLayout<Call>.stride + attempts.capacity * MemoryLayout<Attempt>.stride
    }

    /// The attempts of the call that had most, those not kept in detail included, or 0 when no call was made.
    public var attemptCount: Int { calls.reduce(0) { max($0, $1.attemptCount) } }

    /// The attempts of all calls together, which every attempt raises.
    public var attemptTotal: Int { calls.reduce(0) { $0 + $1.attemptCount } }

    /// The end of the request as a whole, given how its calls ended. A call without an outcome counts as cancelled.
    public var conclusion: Conclusion {
        if let fault = faults.first {
            let outcome = fault.code.outcome
            return Conclusion(state: Self.state(endedAs: outcome, otherwise: .rejected), outcome: outcome, code: fault.code)
        }
        var worst: (call: Int, outcome: Outcome)?
        var hasSuccess = false
        for index in calls.indices {
            let outcome = calls[index].outcome ?? .cancelled
            if outcome == .success {
                hasSuccess = true
            } else if worst.map({ outcome.gravity < $0.outcome.gravity }) ?? true {
                worst = (index, outcome)
            }
        }
        guard let worst else {
            // Without any call nobody was reached, and to call that a success would hide a fault of ours.
            if !hasSuccess { return Conclusion(state: .failed, outcome: .transient, code: .internal) }
            return Conclusion(state: .sent, outcome: .success)
        }
        let state = hasSuccess ? ResultState.partial : Self.state(endedAs: worst.outcome)
        let isUnfinished = calls[worst.call].outcome == nil
        let code = calls[worst.call].code ?? (isUnfinished ? .workerShutdown : .internal)
        return Conclusion(state: state, outcome: worst.outcome, code: code, call: worst.call)
    }

    static func state(endedAs outcome: Outcome, otherwise other: ResultState = .failed) -> ResultState {
        switch outcome {
        case .expired: .expired
        case .cancelled: .cancelled
        case .duplicate: .duplicate
        case .success, .transient, .throttled, .permanent, .auth, .payload, .noTarget, .ambiguous: other
        }
    }
}

extension Outcome {
    /// The weight of a call's failure to a person who may press "replay": the least counts for the whole request.
    var gravity: Int {
        switch self {
        case .ambiguous: 0
        case .auth: 1
        case .throttled: 2
        case .transient: 3
        case .expired: 4
        case .payload: 5
        case .permanent: 6
        case .noTarget: 7
        case .cancelled: 8
        case .duplicate: 9
        case .success: 10
        }
    }
}

/// The end of a request as a whole.
public struct Conclusion: Sendable, Equatable {
    /// The state of the request.
    public var state: ResultState
    /// The class that people filter by.
    public var outcome: Outcome
    /// The reason why it was no success.
    public var code: ErrorCode?
    /// The call that the reason comes from.
    public var call: Int?
}

extension ErrorCode {
    /// The class of a request that ends for this reason before any call.
    public var outcome: Outcome {
        switch self {
        case .expiredInQueue, .expiredOnHold: .expired
        case .duplicate: .duplicate
        case .cancelled, .workerShutdown, .hubCanceled: .cancelled
        case .hubUnauthorized, .hubForbidden: .auth
        case .hubThrottled, .hubQuota, .orderingKeyFull: .throttled
        case .hubUnavailable, .hubTimeout, .connectFailed, .tlsFailed, .dnsFailed, .circuitOpen, .internal: .transient
        case .responseInvalid, .nothingCounted, .hubAbandoned, .hubStateUnknown, .telemetryUnfinished, .telemetryMissing,
            .telemetryUnanswered, .telemetryUnavailable:
            .ambiguous
        case .unknownHub, .notConfigured, .hubNotFound, .devicesRefused: .permanent
        case .noTarget: .noTarget
        case .schemaInvalid, .recordTooLarge, .tagExpressionInvalid, .tagLimitExceeded, .payloadTooLarge, .payloadRejected:
            .payload
        }
    }
}
