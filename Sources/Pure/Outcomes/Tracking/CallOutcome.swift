public import PushModel

/// The fate of one accepted call, as its outcome result says it (page Results).
public struct CallOutcome: Sendable, Equatable {
    /// The state of the call: `sent`, `partial`, `failed`, or `unknown`.
    public let state: ResultState
    /// The class that people filter by.
    public let outcome: Outcome
    /// The safety of a replay of the call.
    public let replaySafety: ReplaySafety
    /// The reason why it is no success.
    public let code: ErrorCode?
    /// The reason why it is judged so: a closed list, safe as a metric label.
    public let reason: String
    /// The last that the hub told.
    public let telemetry: NotificationTelemetry?

    /// The outcome that telemetry came to.
    public init(_ verdict: OutcomeVerdict, telemetry: NotificationTelemetry?) {
        switch verdict.kind {
        case .success: state = .sent
        case .partial: state = .partial
        case .failed: state = .failed
        }
        outcome = verdict.outcome
        replaySafety = verdict.replaySafety
        code = verdict.cause.code
        reason = verdict.cause.rawValue
        self.telemetry = telemetry
    }

    private init(unavailable code: ErrorCode) {
        state = .unknown
        outcome = .success
        replaySafety = .duplicateRisk
        self.code = code
        reason = code.rawValue
        telemetry = nil
    }

    /// The hub tells nothing of any notification: it stays at what the call's answer said, that the hub has accepted it. That is no
    /// failure of the call, so nothing invites a person to send again what most likely arrived.
    public static let unavailable = CallOutcome(unavailable: .telemetryUnavailable)
}

extension OutcomeVerdict.Cause {
    /// The error code of a result with this cause, or nil for a success.
    public var code: ErrorCode? {
        switch self {
        case .delivered: nil
        case .someRefused, .allRefused: .devicesRefused
        case .nothingCounted: .nothingCounted
        case .noTarget: .noTarget
        case .abandoned: .hubAbandoned
        case .canceled: .hubCanceled
        case .stateUnknown: .hubStateUnknown
        case .unfinished: .telemetryUnfinished
        case .notVisible: .telemetryMissing
        case .unanswered: .telemetryUnanswered
        }
    }
}
