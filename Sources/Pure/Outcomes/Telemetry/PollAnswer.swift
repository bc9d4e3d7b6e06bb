public import Delivery

/// The result of one poll for a notification's telemetry.
public enum PollAnswer: Sendable, Equatable {
    /// The hub told where the notification stands.
    case telemetry(NotificationTelemetry)
    /// 404: not visible yet, or never. The two look the same.
    case notVisible
    /// The hub asks to wait so many milliseconds. Nil when it does not say how long.
    case throttled(retryAfter: Int64?)
    /// 403 without a wait: the hub's tier has no telemetry, or the policy lacks the right.
    case forbidden
    /// No poll can be answered otherwise: the hub refuses this one for good.
    case refused
    /// No usable answer came. The next one may be.
    case failed

    /// Classes the end of a call. A poll changes nothing, so it may be made again whatever happened to it.
    ///
    /// - Parameters:
    ///   - result: How the call ended.
    ///   - retryAfter: The wait that the hub asks for, in milliseconds.
    ///   - telemetry: What the body of a 200 says, if it could be read.
    public init(_ result: CallResult, retryAfter: Int64? = nil, telemetry: NotificationTelemetry? = nil) {
        guard case .answered(let status, let hasRetryAfter, let hint) = result, hint != .notTheHub else {
            self = .failed
            return
        }
        switch status {
        case 200: self = telemetry.map { .telemetry($0) } ?? .failed
        case 404: self = .notVisible
        case 429: self = .throttled(retryAfter: retryAfter)
        case 403, 503: self = hasRetryAfter ? .throttled(retryAfter: retryAfter) : status == 403 ? .forbidden : .failed
        // Those left out pass: wrong server, lock, too early, client gone.
        case 400, 402, 405...407, 409...420, 422, 424, 426...428, 430...498: self = .refused
        default: self = .failed
        }
    }
}
