/// The sum of what the parts of a large request came to so far. It does not grow with their number.
public struct PartTotals: Sendable, Equatable {
    /// The parts that are named among those that were not sent. The others are found by their own results.
    public static let maximumNamed = 100

    /// The parts that were sent everywhere.
    public private(set) var sent = 0
    /// The parts of which some calls were taken and others not.
    public private(set) var partial = 0
    /// The parts that failed, refused ones included.
    public private(set) var failed = 0
    /// The parts of which it is unknown whether they reached a device.
    public private(set) var ambiguous = 0
    /// The parts that came too late.
    public private(set) var expired = 0
    /// The parts that were cancelled.
    public private(set) var cancelled = 0
    /// The first parts that came in and were not sent everywhere, at most `maximumNamed`.
    public private(set) var notSent: [Int] = []
    /// The calls that the hub took.
    public private(set) var acceptedCalls = 0
    /// The calls of which it is unknown whether the hub took them.
    public private(set) var ambiguousCalls = 0
    /// The attempts of the call that had most.
    public private(set) var attempts = 0
    /// The moment of the first call.
    public private(set) var firstAttemptAt: Timestamp?
    /// The time spent in calls, in milliseconds.
    public private(set) var hubTime: Int64 = 0
    /// The time that parts spent waiting because the hub said so, in milliseconds.
    public private(set) var throttleWait: Int64 = 0
    /// The gravest safety of those parts that were not sent everywhere, or nil when there is none.
    private var openSafety: ReplaySafety?
    private var worst: Worst?

    private struct Worst: Equatable {
        var outcome: Outcome
        var code: ErrorCode?
        var chunk: Int
    }

    /// No part.
    public init() {}

    /// All parts.
    public var count: Int { sent + partial + failed + ambiguous + expired + cancelled }

    /// Adds a part, of which no other tally was added before. A sum beyond 64 bits stays at their end.
    public mutating func add(_ tally: PartTally) {
        switch tally.state {
        case .sent: sent += 1
        case .partial: partial += 1
        case .expired: expired += 1
        case .cancelled: cancelled += 1
        case .failed, .rejected, .duplicate, .scheduled, .retrying, .unknown:
            if tally.outcome == .ambiguous { ambiguous += 1 } else { failed += 1 }
        }
        acceptedCalls = acceptedCalls.addingSaturated(tally.accepted)
        ambiguousCalls = ambiguousCalls.addingSaturated(tally.ambiguous)
        attempts = max(attempts, tally.attempts)
        hubTime = hubTime.addingSaturated(tally.hubTime)
        throttleWait = throttleWait.addingSaturated(tally.throttleWait)
        if let first = tally.firstAttemptAt { firstAttemptAt = min(firstAttemptAt ?? first, first) }
        guard tally.state != .sent else { return }
        openSafety = openSafety.map { max($0, tally.safety) } ?? tally.safety
        if notSent.count < Self.maximumNamed { notSent.append(tally.chunk) }
        note(Worst(outcome: tally.outcome, code: tally.code, chunk: tally.chunk))
    }

    /// Keeps the gravest outcome, of equal ones that of the first part, so that the order in which they come does not matter.
    private mutating func note(_ new: Worst) {
        guard let worst else {
            self.worst = new
            return
        }
        if (new.outcome.gravity, new.chunk) < (worst.outcome.gravity, worst.chunk) { self.worst = new }
    }

    /// The safety of a replay of what was not sent: the gravest of the parts' own.
    public var safety: ReplaySafety {
        openSafety ?? (sent == 0 ? conclusion.outcome.replaySafety : .duplicateRisk)
    }

    /// The end of the request as a whole: `sent` when every part was, `partial` when anything was, else as the gravest part.
    public var conclusion: Conclusion {
        guard let worst else {
            if sent == 0 { return Conclusion(state: .failed, outcome: .transient, code: .internal) }
            return Conclusion(state: .sent, outcome: .success)
        }
        let state = sent + partial > 0 ? ResultState.partial : DeliveryReport.state(endedAs: worst.outcome)
        return Conclusion(state: state, outcome: worst.outcome, code: worst.code ?? .internal)
    }
}
