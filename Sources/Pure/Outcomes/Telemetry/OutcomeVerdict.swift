public import PushModel

/// The fate of one accepted call, judged by the hub's telemetry (page Results).
public struct OutcomeVerdict: Sendable, Equatable {
    /// The way in which it is counted.
    public enum Kind: String, Sendable, CaseIterable {
        /// Every device that was tried was reached.
        case success
        /// Some were reached.
        case partial
        /// None was, or it is unknown.
        case failed
    }

    /// The reason why it is judged so: a closed list, safe as a metric label.
    public enum Cause: String, Sendable, CaseIterable {
        /// Completed, and every device was reached.
        case delivered
        /// Completed, and some devices were refused.
        case someRefused = "some_refused"
        /// Completed, and every device was refused.
        case allRefused = "all_refused"
        /// Completed without any count, as templates for FCM v1 are known to be (page HubProtocol, "Outcomes").
        case nothingCounted = "nothing_counted"
        /// `NoTargetFound`.
        case noTarget = "no_target"
        /// `Abandoned`.
        case abandoned
        /// `Canceled`, or `Cancelled`.
        case canceled
        /// `Unknown`, and still so at the deadline.
        case stateUnknown = "state_unknown"
        /// Not at its end at the deadline.
        case unfinished
        /// Telemetry never became visible.
        case notVisible = "not_visible"
        /// No poll was answered in time, or the hub refuses them.
        case unanswered
    }

    /// The way in which it is counted.
    public var kind: Kind
    /// The reason for the verdict.
    public var cause: Cause
    /// The class that people filter by. Of several causes the one that matters most to a replay.
    public var outcome: Outcome
    /// The safety of a replay of the same call.
    public var replaySafety: ReplaySafety

    init(_ kind: Kind, cause: Cause, outcome: Outcome, replaySafety: ReplaySafety? = nil) {
        self.kind = kind
        self.cause = cause
        self.outcome = outcome
        self.replaySafety = replaySafety ?? outcome.replaySafety
    }

    /// The verdict on telemetry that is final, or nil while it is not.
    init?(final telemetry: NotificationTelemetry) {
        switch telemetry.state {
        case .completed: self = Self.completed(telemetry)
        case .noTargetFound:
            self.init(.failed, cause: .noTarget, outcome: .noTarget, replaySafety: Self.safety(of: telemetry, else: .pointless))
        case .abandoned:
            self.init(.failed, cause: .abandoned, outcome: .ambiguous, replaySafety: Self.safety(of: telemetry, else: .ambiguous))
        case .canceled:
            self.init(.failed, cause: .canceled, outcome: .cancelled, replaySafety: Self.safety(of: telemetry, else: .safe))
        case .enqueued, .detailedStateAvailable, .scheduled, .processing, .unknown, .other, nil: return nil
        }
    }

    /// The verdict when no time is left, from the last that was told. `wasAnswered` if the hub ever answered, if only that it
    /// knows nothing yet.
    init(late telemetry: NotificationTelemetry?, wasAnswered: Bool) {
        let cause: Cause
        switch telemetry?.state {
        case .unknown: cause = .stateUnknown
        case nil where telemetry == nil: cause = wasAnswered ? .notVisible : .unanswered
        default: cause = .unfinished
        }
        let safety = telemetry.map { Self.safety(of: $0, else: .ambiguous) }
        self.init(.failed, cause: cause, outcome: .ambiguous, replaySafety: safety)
    }

    /// Whoever was reached would ring again.
    private static func safety(of telemetry: NotificationTelemetry, else other: ReplaySafety) -> ReplaySafety {
        telemetry.successCount > 0 ? .duplicateRisk : other
    }

    private static func completed(_ telemetry: NotificationTelemetry) -> OutcomeVerdict {
        let failures = telemetry.counts.filter { $0.count > 0 }.map(\.outcome.outcome)
            .filter { $0 != .success && $0 != .duplicate }
        guard let worst = failures.min(by: { $0.gravity < $1.gravity }) else {
            if telemetry.successCount > 0 { return OutcomeVerdict(.success, cause: .delivered, outcome: .success) }
            return OutcomeVerdict(.failed, cause: .nothingCounted, outcome: .ambiguous)
        }
        if telemetry.successCount > 0 {
            return OutcomeVerdict(.partial, cause: .someRefused, outcome: worst, replaySafety: .duplicateRisk)
        }
        return OutcomeVerdict(.failed, cause: .allRefused, outcome: worst)
    }
}

extension Outcome {
    /// The weight of a failure to a person who may press "replay", the least first: what may ring twice, then what a replay may
    /// mend, then what it cannot.
    fileprivate var gravity: Int {
        switch self {
        case .ambiguous: 0
        case .auth: 1
        case .throttled: 2
        case .transient: 3
        case .payload: 4
        case .permanent: 5
        case .noTarget, .expired, .cancelled, .duplicate, .success: 6
        }
    }
}
