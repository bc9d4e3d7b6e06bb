public import PushModel

/// The end of one hub call, as far as its fate depends on it.
public enum CallResult: Sendable, Equatable {
    /// The hub answered.
    case answered(status: Int, hasRetryAfter: Bool, detail: DetailHint)
    /// No usable answer came.
    case failed(curlCode: Int32, isAnswerInvalid: Bool, bodySent: Bool)

    /// The hint at what the error body's `Detail` points at, where the status alone does not suffice.
    public enum DetailHint: Sendable, Equatable, CaseIterable {
        /// Nothing in particular.
        case none
        /// It speaks of tags.
        case tags
        /// It speaks of a quota.
        case quota
        /// The answer is no hub's, but that of something before it: a sign-in, a proxy, another server.
        case notTheHub
    }
}

/// The reaction to a call, and the words under which it is recorded.
public struct CallVerdict: Sendable, Equatable {
    /// The answer to whether another attempt makes sense.
    public enum Retry: String, Sendable, CaseIterable {
        /// No attempt can change the answer.
        case never
        /// With backoff, as far as attempts and expiry allow.
        case backoff
        /// At once, with a newly signed token. After that as the token cache says.
        case reauthenticate
        /// With backoff, but only if the request says `on_ambiguous: retry`.
        case ifAmbiguityAllowed = "if on_ambiguous: retry"
    }

    /// The class that the result carries.
    public var outcome: Outcome
    /// The reason, or nil for a success.
    public var code: ErrorCode?
    /// The answer to whether to try again.
    public var retry: Retry
    /// True if the hub throttles: where it refuses as a whole, Retry-After stops all calls to it.
    public var pausesHub = false

    /// The verdict on `result`, from the one table of `VerdictTable`.
    public init(of result: CallResult) {
        // The row of nearly all calls, without asking the table.
        if case .answered(200...201, _, let hint) = result, hint != .notTheHub {
            self = .success
        } else {
            self = VerdictTable.row(for: result).verdict
        }
    }

    /// The hub has queued the notification.
    static let success = CallVerdict(.success, code: nil, retry: .never)

    init(_ outcome: Outcome, code: ErrorCode?, retry: Retry, pausesHub: Bool = false) {
        self.outcome = outcome
        self.code = code
        self.retry = retry
        self.pausesHub = pausesHub
    }
}
