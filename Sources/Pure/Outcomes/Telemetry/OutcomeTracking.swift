public import PushModel

/// Follows one accepted call until the hub's telemetry says what became of it, or no time is left.
///
/// asked → asked, by an answer that is not final; asked → over, by a final one, at the deadline, or when the hub refuses. It reads no
/// clock. It holds what is needed to go on elsewhere: whoever makes the next poll may be another process.
public struct OutcomeTracking: Sendable, Equatable {
    /// The service's terms for polls, and how long we go on (page HubProtocol, "Polls"). All are milliseconds.
    public struct Terms: Sendable, Equatable {
        /// The wait before the first poll, default 2 s: telemetry is seldom visible sooner.
        public var firstWait: Int64
        /// The wait between polls, default 10 s, as the service asks for.
        public var interval: Int64
        /// The most that jitter adds to a wait, default 1 s, so that calls of one moment do not ask together.
        public var jitter: Int64
        /// The time for which telemetry may stay invisible, default 30 min, as long as the service says it can.
        public var visibilityLimit: Int64
        /// The time for which we go on at all, default 35 min: longer than the 30 min after which the hub abandons.
        public var deadline: Int64

        /// Terms. The defaults are the service's.
        public init(
            firstWait: Int64 = 2000, interval: Int64 = 10_000, jitter: Int64 = 1000, visibilityLimit: Int64 = 1_800_000,
            deadline: Int64 = 2_100_000
        ) {
            self.firstWait = firstWait
            self.interval = interval
            self.jitter = jitter
            self.visibilityLimit = visibilityLimit
            self.deadline = deadline
        }

        /// Every problem of the terms, each a plain sentence that begins with the setting's name.
        public func problems() -> [String] {
            var problems: [String] = []
            if !(0...3_600_000).contains(firstWait) { problems.append("first wait: not between 0 and 1 h") }
            if !(10...3_600_000).contains(interval) { problems.append("interval: not between 10 ms and 1 h") }
            if !(0...3_600_000).contains(jitter) { problems.append("jitter: not between 0 and 1 h") }
            if !(1...86_400_000).contains(deadline) { problems.append("deadline: not between 1 ms and 24 h") }
            if !(1...max(deadline, 1)).contains(visibilityLimit) {
                problems.append("visibility limit: not between 1 ms and the deadline")
            }
            return problems
        }

        /// More polls than ever fit into the time. Only a clock that stands or goes back comes to them.
        var maximumPolls: Int { Int(clamping: max(deadline, 0) / max(interval, 1) + 3) }
    }

    /// The step that follows an answer.
    public enum Step: Sendable, Equatable {
        /// Ask again after so many milliseconds.
        case poll(after: Int64)
        /// It is over, and this became of the call.
        case conclude(OutcomeVerdict)
        /// It is over, and nothing will be known: this hub refuses polls with this policy. Poll it no more.
        case unavailable
    }

    /// The moment at which the hub accepted the call.
    public let acceptedAt: Timestamp
    /// The polls made so far.
    public private(set) var pollCount: Int
    /// The last that the hub said, or nil until it does.
    public private(set) var telemetry: NotificationTelemetry?
    /// True if the hub has answered any poll, if only that it knows nothing yet.
    public private(set) var wasAnswered: Bool

    /// Begins to follow a call, or goes on with one.
    ///
    /// - Parameters:
    ///   - acceptedAt: When the hub accepted the call.
    ///   - pollCount: The polls made so far. Default 0.
    ///   - telemetry: The last that the hub told. Default nothing.
    ///   - wasAnswered: Whether it has answered any poll. Default no.
    public init(acceptedAt: Timestamp, pollCount: Int = 0, telemetry: NotificationTelemetry? = nil, wasAnswered: Bool = false) {
        self.acceptedAt = acceptedAt
        self.pollCount = max(pollCount, 0)
        self.telemetry = telemetry
        self.wasAnswered = wasAnswered || telemetry != nil
    }

    /// The wait before the first poll, in milliseconds.
    public func firstWait(_ terms: Terms, using generator: inout some RandomNumberGenerator) -> Int64 {
        let jitter = Int64.random(in: 0...max(terms.jitter, 0), using: &generator)
        return min(max(terms.firstWait, 0) + jitter, max(terms.deadline, 0))
    }

    /// Takes an answer and says what follows.
    ///
    /// The last poll is made when the time is just over, so that an outcome is missed by no more than the answer takes.
    ///
    /// - Parameters:
    ///   - answer: What came of the poll.
    ///   - terms: The service's terms.
    ///   - now: The present moment.
    ///   - generator: Draws the jitter.
    /// - Returns: When to ask again, or what became of the call.
    public mutating func answered(
        _ answer: PollAnswer, under terms: Terms, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> Step {
        if pollCount < .max { pollCount += 1 }
        var floor: Int64 = 0
        switch answer {
        case .telemetry(let telemetry):
            self.telemetry = telemetry
            wasAnswered = true
            if let verdict = OutcomeVerdict(final: telemetry) { return .conclude(verdict) }
        case .notVisible: wasAnswered = true
        case .throttled(let retryAfter): floor = max(retryAfter ?? 0, 0)
        case .forbidden: return .unavailable
        case .refused: return .conclude(late)
        case .failed: break
        }
        let isInvisible = answer == .notVisible && telemetry == nil
        let left = (isInvisible ? terms.visibilityLimit : terms.deadline) - elapsed(at: now)
        guard left > 0, floor <= left, pollCount < terms.maximumPolls else { return .conclude(late) }
        let jitter = Int64.random(in: 0...max(terms.jitter, 0), using: &generator)
        return .poll(after: max(floor, min(max(terms.interval, 1) + jitter, left)))
    }

    /// The verdict when no time is left.
    private var late: OutcomeVerdict { OutcomeVerdict(late: telemetry, wasAnswered: wasAnswered) }

    /// The time since the call was accepted, or 0 when a clock went back.
    private func elapsed(at now: Timestamp) -> Int64 { max(now.milliseconds(since: acceptedAt), 0) }
}
