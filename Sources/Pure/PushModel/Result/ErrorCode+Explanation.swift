extension ErrorCode {
    /// The knowledge about a code that a person needs (`pushfan explain CODE`).
    public struct Explanation: Sendable, Equatable {
        /// A description of what has happened.
        public var cause: String
        /// The consequence for the request.
        public var effect: String
        /// The thing to do.
        public var remedy: String
    }

    /// Cause, effect and remedy in plain words.
    public var explanation: Explanation {
        switch self {
        case .schemaInvalid:
            Explanation(
                cause: "The request does not follow the contract.",
                effect: "Nothing was sent; the result names every fault.",
                remedy: "Correct the fields that error.faults names. `pushfan explain FILE` checks a request before it is sent.")
        case .recordTooLarge:
            Explanation(
                cause: "The record is larger than 512 KiB.", effect: "It was not read, and nothing was sent.",
                remedy: "Split the audience over several requests, and keep pictures behind an address.")
        case .unknownHub:
            Explanation(
                cause: "The request names a hub that this worker does not know.",
                effect: "It waited for up to a minute if the settings were new. Nothing was sent.",
                remedy: "Configure a hub of this name and replay, or replay with --set hub=NAME.")
        case .notConfigured:
            Explanation(
                cause: "The worker's settings do not allow what the request needs.", effect: "Nothing was sent.",
                remedy: "Change the setting that the error names, and replay.")
        case .expiredInQueue:
            Explanation(
                cause: "The request's expiry passed before the hub had taken it.",
                effect: "It was given up.",
                remedy: "Give requests a longer ttl_seconds, or look at the lag if they waited in the queue.")
        case .expiredOnHold:
            Explanation(
                cause: "The request's expiry passed while a hold stood that concerned it.",
                effect: "It was given up. Nothing was sent from the beginning of the hold on.",
                remedy: "Replay it once the hold is released, with --ttl or --expires-at. `pushfan holds --history` has the hold."
            )
        case .duplicate:
            Explanation(
                cause: "The same source and id, or dedupe.key, came shortly before for the same tenant and hub.",
                effect: "Nothing was sent a second time.",
                remedy: "None is needed. Give another id, and another dedupe.key, to a request that is meant to be another one.")
        case .orderingKeyFull:
            Explanation(
                cause: "Its tenant has as many requests waiting with ordering keys in its partition as it may.",
                effect: "Nothing was sent. Others are read past it.",
                remedy: "Wait until what is held was sent, then replay, or replay with --set not_before=null, which sends it now."
            )
        case .tagExpressionInvalid:
            Explanation(
                cause: "The tags or the tag expression cannot be understood.", effect: "Nothing was sent.",
                remedy: "Use letters, digits and _ @ # . : - in tags; join them with ||, && and !, with parentheses.")
        case .tagLimitExceeded:
            Explanation(
                cause: "The audience needs more tags in one hub call than it can carry.", effect: "Nothing was sent.",
                remedy: "Use at most 20 tags joined by || alone, else at most 6; split the expression over several requests.")
        case .payloadTooLarge:
            Explanation(
                cause: "A formatted payload is larger than its platform allows.", effect: "Nothing was sent on any platform.",
                remedy: "Shorten the text or the data; the error names the measured and the allowed number of bytes.")
        case .payloadRejected:
            Explanation(
                cause: "The hub refused the request, or a native payload is not what its platform takes.",
                effect: "This call will never succeed as it is.", remedy: "Correct the payload and publish a new request.")
        case .hubUnauthorized:
            Explanation(
                cause: "The hub refused the token, also after it was signed again.",
                effect: "The call was given up; no device was reached.",
                remedy: "Check the connection string and the clock, give the new key, and replay.")
        case .hubForbidden:
            Explanation(
                cause: "The policy lacks the right Send, or the hub's tier lacks the feature.",
                effect: "The call was given up; no device was reached.", remedy: "Use a policy with the right Send, and replay.")
        case .hubNotFound:
            Explanation(
                cause: "There is no hub of this name in the namespace.",
                effect: "Its attempts were used up; all else waits as in an outage. No device was reached.",
                remedy: "Correct hub.name or hub.connection_string and replay, or replay with --set hub=NAME.")
        case .hubQuota:
            Explanation(
                cause: "The namespace's quota is used up, or its tier is too low.", effect: "The call was given up.",
                remedy: "Raise the tier or wait for the next period, and replay.")
        case .hubThrottled:
            Explanation(
                cause: "The hub throttled every attempt.",
                effect: "The call was given up; no device was reached.",
                remedy: "Replay later, or allow more attempts; if it comes often, raise the hub's tier or send more slowly.")
        case .hubUnavailable:
            Explanation(
                cause: "The hub failed, or the connection broke.",
                effect: "The outcome says whether devices may have been reached.",
                remedy: "Replay what is `safe`; for what is `ambiguous`, decide whether ringing twice is better than not at all.")
        case .hubTimeout:
            Explanation(
                cause: "The hub did not answer in time.", effect: "It may or may not have queued the notification.",
                remedy: "Decide whether ringing twice is better than not at all; raise hub.request_timeout if it comes often.")
        case .connectFailed:
            Explanation(
                cause: "No connection to the hub could be made, or it broke before the request had left.",
                effect: "No device was reached.", remedy: "Check network, proxy and endpoint, and replay.")
        case .tlsFailed:
            Explanation(
                cause: "The connection to the hub could not be secured.", effect: "No device was reached.",
                remedy: "Check the clock, the proxy and hub.ca_file, and replay.")
        case .dnsFailed:
            Explanation(
                cause: "The hub's name has no address.", effect: "No device was reached.",
                remedy: "Check the endpoint's name and the resolver, and replay.")
        case .responseInvalid:
            Explanation(
                cause: "What answered does not behave like a notification hub.",
                effect: "If the request had left, it is unknown what became of it.",
                remedy: "Check the endpoint, and proxies between here and the hub.")
        case .circuitOpen:
            Explanation(
                cause: "Calls to the hub are suspended because too many failed.", effect: "The call was not made.",
                remedy: "Calls resume when the hub answers again; replay what was given up.")
        case .cancelled:
            Explanation(
                cause: "The request was stopped on purpose, or asked for a dry run.", effect: "Nothing more was sent.",
                remedy: "None is needed.")
        case .workerShutdown:
            Explanation(
                cause:
                    "The worker stopped before the call was made or answered; another call of the request may have reached devices.",
                effect: "The call is `cancelled`; if it was in flight, it is `ambiguous`.",
                remedy: "Replay it; if it is `ambiguous`, decide whether ringing twice is better than not at all.")
        case .internal:
            Explanation(
                cause: "pushfan itself failed.", effect: "The outcome says whether devices may have been reached.",
                remedy: "Look into the worker's log, and report it with the result.")
        case .devicesRefused: .devicesRefused
        case .nothingCounted: .nothingCounted
        case .noTarget: .noTarget
        case .hubAbandoned: .hubAbandoned
        case .hubCanceled: .hubCanceled
        case .hubStateUnknown: .hubStateUnknown
        case .telemetryUnfinished: .telemetryUnfinished
        case .telemetryMissing: .telemetryMissing
        case .telemetryUnanswered: .telemetryUnanswered
        case .telemetryUnavailable: .telemetryUnavailable
        }
    }
}
