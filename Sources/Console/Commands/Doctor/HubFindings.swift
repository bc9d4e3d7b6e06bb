/// What came of a call to the hub that sends nothing.
struct HubFacts: Equatable {
    enum Outcome: Equatable {
        /// No hub is set here.
        case unset
        /// The hub's settings cannot be used.
        case misconfigured(String)
        /// The hub answered; the detail is that of an error.
        case answered(status: Int, detail: String, isThrottled: Bool)
        /// There was no answer; the transport's word for why, and its sentence.
        case failed(reason: String, detail: String)
    }

    /// Namespace and name.
    var hub = ""
    var outcome: Outcome
    /// The proxy that it is called through, and in brackets what names it; nil when there is none.
    var proxy: String?
    /// The hub's clock less ours, in milliseconds; nil when its answer had no date.
    var skew: Int64?
    /// How long our tokens are valid, in milliseconds.
    var tokenLifetime: Int64 = 3_600_000
}

/// Findings about the hub.
enum HubFindings {
    /// A clock that is further away than this is worth a word: 30 s in milliseconds. `Date` counts whole seconds.
    private static let tolerance: Int64 = 30_000

    /// - Parameter facts: What came of the call.
    /// - Returns: A finding for the credentials, and one for proxy and clock each where they are known.
    static func of(_ facts: HubFacts) -> [Finding] {
        var findings = [credentials(facts)]
        if let proxy = facts.proxy { findings.append(.ok("proxy", facts.hub, "calls go through \(proxy)")) }
        if let skew = facts.skew { findings.append(clock(skew, facts)) }
        return findings
    }

    private static func credentials(_ facts: HubFacts) -> Finding {
        switch facts.outcome {
        case .unset:
            .unasked(
                "hub", "", "no hub is set here",
                mend: "set PUSHFAN_HUB_NAME and PUSHFAN_HUB_CONNECTION_STRING_FILE where the worker has them")
        case .misconfigured(let problem):
            .failed("hub", facts.hub, problem, mend: "pushfan config check", code: .configuration)
        case .answered(let status, let detail, let isThrottled): answered(status, detail, isThrottled, facts)
        case .failed(let reason, let detail): unanswered(reason, detail, facts)
        }
    }

    private static func answered(_ status: Int, _ detail: String, _ isThrottled: Bool, _ facts: HubFacts) -> Finding {
        let said = detail.isEmpty ? "\(status)" : "\(status), \(detail)"
        switch status {
        case 429,
            403 where isThrottled:
            return .warning(
                "hub", facts.hub, "accepts the key, and throttles: \(said)", mend: "pushfan worker --worker.max_in_flight N")
        case 404 where detail.lowercased().contains("no service is hosted"):
            return .failed(
                "hub", facts.hub, "there is no such hub in this namespace: \(said)", mend: "set hub.name as the portal shows it",
                code: .configuration)
        // No notification has the id that was asked for, so that 404 is what a hub says that lets us in.
        case 200..<300, 400, 404: return .ok("hub", facts.hub, "accepts the key")
        case 401:
            return .failed(
                "hub", facts.hub, "refuses the key: \(said)",
                mend: "put the connection string of a policy with the Send right into PUSHFAN_HUB_CONNECTION_STRING_FILE",
                code: .notAllowed)
        case 403 where detail.lowercased().contains("tier"):
            return .ok("hub", facts.hub, "accepts the key; its tier has no telemetry")
        case 403:
            return .failed(
                "hub", facts.hub, "the key's policy lacks a right, or the quota is used up: \(said)",
                mend: "give the policy the Send right, or use one that has it", code: .notAllowed)
        default:
            return .failed("hub", facts.hub, "answers \(said)", mend: "pushfan explain hub_unavailable", code: .unreachable)
        }
    }

    private static func unanswered(_ reason: String, _ detail: String, _ facts: HubFacts) -> Finding {
        let isTrust = reason == "certificate" || reason == "tls"
        return .failed(
            "hub", facts.hub, isTrust ? "its certificate is not trusted: \(detail)" : "does not answer: \(detail)",
            mend: isTrust ? "name its authority: --hub.ca_file FILE" : "curl -v https://NAMESPACE.servicebus.windows.net/",
            code: isTrust ? .notAllowed : .unreachable)
    }

    private static func clock(_ skew: Int64, _ facts: HubFacts) -> Finding {
        let length = TimeText.length(milliseconds: abs(skew))
        let text = "this machine's clock is \(length) \(skew > 0 ? "behind" : "ahead of") the hub's"
        if skew >= facts.tokenLifetime {
            return .failed(
                "clock", facts.hub, "\(text): every token has expired before it is used", mend: "chronyc makestep",
                code: .configuration)
        }
        guard abs(skew) > tolerance else { return .ok("clock", facts.hub, "agrees with the hub's to \(tolerance / 1000) s") }
        return .warning(
            "clock", facts.hub, "\(text): tokens live shorter, and expiry is judged wrongly", mend: "chronyc makestep")
    }
}
