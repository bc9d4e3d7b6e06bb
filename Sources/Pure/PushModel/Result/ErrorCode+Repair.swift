extension ErrorCode {
    /// The change that a replay needs first, as an instruction to a person: the cause lies in settings, routes or rights. Nil where a
    /// replay needs none, and where none helps.
    public var repair: String? {
        switch self {
        case .unknownHub: "name the hub with --set hub=NAME, or add it to the workers' settings"
        case .notConfigured: "allow it in the workers' settings: the error names the key"
        case .hubNotFound: "name the hub with --set hub=NAME, or mend hub.name and hub.connection_string"
        case .hubUnauthorized: "give the workers the hub's key (hub.connection_string)"
        case .hubForbidden: "give the policy the right Send, or the workers another policy"
        case .hubQuota: "raise the hub's tier, or wait for its next period"
        case .tlsFailed: "mend the certificate, hub.ca_file or the clock"
        case .dnsFailed: "mend the endpoint's name or the resolver"
        case .responseInvalid: "mend the endpoint, or the proxy in front of it"
        case .expiredOnHold: "release the hold, and give a new life with --ttl or --expires-at"
        case .schemaInvalid, .recordTooLarge, .expiredInQueue, .duplicate, .orderingKeyFull, .tagExpressionInvalid,
            .tagLimitExceeded,
            .payloadTooLarge, .payloadRejected, .hubThrottled, .hubUnavailable, .hubTimeout, .connectFailed, .circuitOpen,
            .cancelled, .workerShutdown, .internal, .devicesRefused, .nothingCounted, .noTarget, .hubAbandoned, .hubCanceled,
            .hubStateUnknown, .telemetryUnfinished, .telemetryMissing, .telemetryUnanswered, .telemetryUnavailable:
            nil
        }
    }

    /// The condition under which a plan takes what ended so, or nil where it needs none.
    public var replayCondition: String? {
        switch self {
        case .expiredInQueue, .expiredOnHold: "--ttl or --expires-at is given"
        case .cancelled, .hubCanceled: "the filter names it: state:cancelled"
        case .noTarget: "the filter names it: error:no_target"
        default: nil
        }
    }
}

extension ReplaySafety {
    /// The safety of a replay of a request or call that ended this way.
    ///
    /// - Parameters:
    ///   - outcome: Its class.
    ///   - code: The reason. One that can be repaired makes `safe` of what would be `pointless`.
    public init(of outcome: Outcome, code: ErrorCode?) {
        let safety = outcome.replaySafety
        self = safety == .pointless && code?.repair != nil ? .safe : safety
    }

    /// The safety of a replay of what did not succeed of a request: the gravest of its calls' own.
    public init(of conclusion: Conclusion, report: borrowing DeliveryReport) {
        if conclusion.outcome == .success {
            self = .duplicateRisk
        } else if !report.faults.isEmpty {
            self.init(ofFaults: report.faults.lazy.map(\.code))
        } else if report.calls.isEmpty {
            self = conclusion.outcome.replaySafety
        } else {
            self = .pointless
            for call in report.calls where call.outcome != .success {
                self = max(self, ReplaySafety(of: call.outcome ?? .cancelled, code: call.code))
            }
        }
    }

    /// The safety of a replay of a request that was rejected for one fault or more: every fault must be one that can be repaired.
    public init(ofFaults faults: some Collection<ErrorCode>) {
        self = faults.allSatisfy { ReplaySafety(of: $0.outcome, code: $0) == .safe } ? .safe : .pointless
    }
}

extension ReplaySafety: Comparable {
    /// True if the right one is graver: of several things that failed, it is what a replay of all of them has.
    ///
    /// What is pointless is left out of a replay, what is safe is in it, and what is ambiguous must be asked for.
    public static func < (left: Self, right: Self) -> Bool { left.gravity < right.gravity }

    private var gravity: Int {
        switch self {
        case .pointless: 0
        case .safe: 1
        case .ambiguous: 2
        case .duplicateRisk: 3
        }
    }
}
