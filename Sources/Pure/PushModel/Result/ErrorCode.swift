/// Every reason that a result can give for not being a success: a closed list, safe as a metric label.
public enum ErrorCode: String, Sendable, CaseIterable {
    case schemaInvalid = "schema_invalid"
    case recordTooLarge = "record_too_large"
    case unknownHub = "unknown_hub"
    case notConfigured = "not_configured"
    case expiredInQueue = "expired_in_queue"
    case expiredOnHold = "expired_on_hold"
    case duplicate
    case orderingKeyFull = "ordering_key_full"
    case tagExpressionInvalid = "tag_expression_invalid"
    case tagLimitExceeded = "tag_limit_exceeded"
    case payloadTooLarge = "payload_too_large"
    case payloadRejected = "payload_rejected"
    case hubUnauthorized = "hub_unauthorized"
    case hubForbidden = "hub_forbidden"
    case hubNotFound = "hub_not_found"
    case hubQuota = "hub_quota"
    case hubThrottled = "hub_throttled"
    case hubUnavailable = "hub_unavailable"
    case hubTimeout = "hub_timeout"
    case connectFailed = "connect_failed"
    case tlsFailed = "tls_failed"
    case dnsFailed = "dns_failed"
    case responseInvalid = "response_invalid"
    case circuitOpen = "circuit_open"
    case cancelled
    case workerShutdown = "worker_shutdown"
    case `internal`
    // What the hub's telemetry tells of a call that it had accepted; results of the kind `outcome` alone have these.
    case devicesRefused = "devices_refused"
    case nothingCounted = "nothing_counted"
    case noTarget = "no_target"
    case hubAbandoned = "hub_abandoned"
    case hubCanceled = "hub_canceled"
    case hubStateUnknown = "hub_state_unknown"
    case telemetryUnfinished = "telemetry_unfinished"
    case telemetryMissing = "telemetry_missing"
    case telemetryUnanswered = "telemetry_unanswered"
    case telemetryUnavailable = "telemetry_unavailable"
}

/// The class of what became of a request or call (page Results).
public enum Outcome: String, Sendable, CaseIterable {
    case success, transient, throttled, permanent, auth, payload
    case noTarget = "no_target"
    case expired, cancelled, duplicate, ambiguous
}

/// The answer to whether a request may be replayed.
public enum ReplaySafety: String, Sendable, CaseIterable {
    /// No device can have been reached.
    case safe
    /// It is unknown whether devices were reached.
    case ambiguous
    /// Devices were reached. A replay would ring again.
    case duplicateRisk = "duplicate_risk"
    /// No change of settings, routes or rights could make a replay succeed.
    case pointless
}

/// The states of a request, in a result.
public enum ResultState: String, Sendable, CaseIterable {
    case scheduled, retrying, sent, partial, failed, expired, cancelled, duplicate, rejected, unknown

    /// True if the end is one that neither publisher nor operator asked for, and not all whom the request names were reached.
    public var isFailure: Bool {
        switch self {
        case .partial, .failed, .expired, .rejected, .unknown: true
        case .scheduled, .retrying, .sent, .cancelled, .duplicate: false
        }
    }
}

extension Outcome {
    /// The safety of a replay, as it is, of a request that ended this way, whatever the reason. See `ReplaySafety.init(of:_:)`.
    public var replaySafety: ReplaySafety {
        switch self {
        case .success: .duplicateRisk
        case .transient, .throttled, .auth, .cancelled: .safe
        case .ambiguous: .ambiguous
        case .permanent, .payload, .noTarget, .expired, .duplicate: .pointless
        }
    }
}
