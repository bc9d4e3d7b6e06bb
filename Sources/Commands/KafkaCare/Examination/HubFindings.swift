import Delivery
import JobSupport

/// The result of a call to the hub that sends nothing.
package struct HubFacts: Sendable, Equatable {
    /// The end of the call.
    package enum Outcome: Sendable, Equatable {
        /// No hub is set here.
        case unset
        /// The hub's settings cannot be used.
        case misconfigured(String)
        /// The hub answered, or something before it that is not the hub's. The detail is that of an error.
        case answered(status: Int, detail: String, isThrottled: Bool, isHubs: Bool = true)
        /// There was no answer. The reason is the transport's word, the detail its sentence.
        case failed(reason: String, detail: String)
    }

    /// The places at which a person changes the hub's settings.
    package struct Places: Sendable, Equatable {
        /// That of the connection string.
        package var connectionString = "PUSHFAN_HUB_CONNECTION_STRING_FILE"
        /// That of the policy's other key.
        package var secondaryKey = "PUSHFAN_HUB_SECONDARY_KEY_FILE"
        /// That of the hub's name.
        package var name = "PUSHFAN_HUB_NAME"
        /// That of the authorities that are trusted.
        package var authorityFile = "PUSHFAN_HUB_CA_FILE"

        /// The variables that may set them.
        package init() {}
    }

    /// Namespace and name.
    package var hub: String
    package var places = Places()
    /// Its namespace's address, such as `https://NAME.servicebus.windows.net/`.
    package var url: String
    /// The proxy that the settings name for it, without its login, or nil when they name none.
    package var ownProxy: String?
    package var outcome: Outcome
    /// The end of the call with the policy's other key, or nil where none is set or the first call had no answer.
    package var secondOutcome: Outcome?
    /// The proxy that it is called through, and in brackets the source of its name, or nil when there is none.
    package var proxy: String?
    /// The hub's clock less ours, in milliseconds, or nil when its answer had no date.
    package var skew: Int64?
    /// The lifetime of our tokens, in milliseconds.
    package var tokenLifetime: Int64

    /// Facts of a hub of which nothing is known but this.
    package init(hub: String = "", url: String = "", outcome: Outcome, tokenLifetime: Int64 = 3_600_000) {
        self.hub = hub
        self.url = url
        self.outcome = outcome
        self.tokenLifetime = tokenLifetime
    }
}

/// Findings about the hub.
package enum HubFindings {
    /// A clock that is further away than this is worth a word: 30 s in milliseconds. `Date` counts whole seconds.
    private static let tolerance: Int64 = 30_000

    /// A finding for the credentials, and one for proxy and clock each where they are known. The query of `facts` asks for the right Send,
    /// which the key of a process may lack that does not need it.
    package static func of(_ facts: HubFacts, needsSend: Bool = true) -> [Finding] {
        var findings = [credentials(facts, needsSend: needsSend)]
        if let proxy = facts.proxy { findings.append(.ok("proxy", of: facts.hub, text: "calls go through \(proxy)")) }
        if let skew = facts.skew { findings.append(clock(skew, of: facts)) }
        return findings
    }

    private static func credentials(_ facts: HubFacts, needsSend: Bool) -> Finding {
        switch facts.outcome {
        case .unset:
            return .unasked(
                "hub", of: "", text: "no hub is set here",
                mend: "set PUSHFAN_HUB_NAME and PUSHFAN_HUB_CONNECTION_STRING_FILE where the worker has them")
        case .misconfigured(let problem):
            return .failure("hub", of: facts.hub, text: problem, mend: "pushfan config check", cause: .configuration)
        case .answered, .failed: break
        }
        guard let first = facts.outcome.finding, let second = facts.secondOutcome?.finding else {
            return facts.outcome.finding.map { finding($0, facts, needsSend: needsSend) }
                ?? .unasked("hub", of: facts.hub, text: "the hub was not asked")
        }
        return switch (first.kind == .keyRefused, second.kind == .keyRefused) {
        case (true, true): refusal(first.words.replacing("refuses the key", with: "refuses both keys"), facts)
        case (true, false) where second.takesKey:
            .warning(
                "hub", of: facts.hub, text: "first key refused, second works: \(first.words)",
                mend: "put the policy's new first key into \(facts.places.connectionString), and reload the workers")
        case (true, false): refusal(first.words, facts)
        case (false, true) where first.takesKey:
            .warning(
                "hub", of: facts.hub, text: "first key works, second refused: \(second.words)",
                mend: "put the policy's other key into \(facts.places.secondaryKey) before the first is regenerated")
        case (false, _): finding(first, facts, needsSend: needsSend)
        }
    }

    private static func refusal(_ words: String, _ facts: HubFacts) -> Finding {
        .failure(
            "hub", of: facts.hub, text: words,
            mend: "put the connection string of a policy with the Send right into \(facts.places.connectionString)",
            cause: .notAllowed)
    }

    private static func finding(_ finding: HubFinding, _ facts: HubFacts, needsSend: Bool) -> Finding {
        let hub = facts.hub
        return switch finding.kind {
        case .good: .ok("hub", of: hub, text: finding.words)
        case .throttled: .warning("hub", of: hub, text: finding.words, mend: "pushfan worker --worker.max_in_flight N")
        case .missing:
            .failure(
                "hub", of: hub, text: finding.words,
                mend: "set \(facts.places.name) as the portal shows it, and \(facts.places.connectionString) as that of the"
                    + " namespace it is in", cause: .configuration)
        case .keyRefused: refusal(finding.words, facts)
        case .rightUnknown where !needsSend: .ok("hub", of: hub, text: "knows the key; its policy needs the right Listen here")
        case .rightUnknown:
            .warning("hub", of: hub, text: finding.words, mend: "see that the policy has the Send right, or use one that has it")
        case .failing: .failure("hub", of: hub, text: finding.words, mend: "pushfan explain hub_unavailable", cause: .unreachable)
        case .unclear:
            .warning(
                "hub", of: hub, text: finding.words, mend: "see that \(facts.places.connectionString) names the hub itself")
        case .foreign:
            .failure(
                "hub", of: hub, text: finding.words, mend: "see what answers, a proxy or another server: \(call(facts))",
                cause: .configuration)
        case .unreachable: .failure("hub", of: hub, text: finding.words, mend: call(facts), cause: .unreachable)
        case .untrusted:
            .failure(
                "hub", of: hub, text: finding.words,
                mend: "name its authority's file: \(facts.places.authorityFile); else its certificate is out of date or names"
                    + " another host, or a proxy answers in its place", cause: .notAllowed)
        }
    }

    /// The command that calls the namespace by pushfan's own route. It names a proxy that curl does not find by itself.
    private static func call(_ facts: HubFacts) -> String {
        "curl -v " + (facts.ownProxy.map { "--proxy \($0) " } ?? "") + facts.url
    }

    private static func clock(_ skew: Int64, of facts: HubFacts) -> Finding {
        let length = TimeText.length(milliseconds: abs(skew))
        let text = "this machine's clock is \(length) \(skew > 0 ? "behind" : "ahead of") the hub's"
        if skew >= facts.tokenLifetime {
            return .failure(
                "clock", of: facts.hub, text: "\(text): every token has expired before it is used",
                mend: "compare it with a third clock (chronyc tracking); if this one is wrong: chronyc makestep",
                cause: .configuration)
        }
        guard abs(skew) > tolerance else {
            return .ok("clock", of: facts.hub, text: "agrees with the hub's to \(tolerance / 1000) s")
        }
        return .warning(
            "clock", of: facts.hub, text: "\(text): tokens live shorter, and expiry is judged wrongly",
            mend: "compare it with a third clock (chronyc tracking); if this one is wrong: chronyc makestep")
    }
}

extension HubFacts.Outcome {
    /// The finding from an answer, or the lack of one. Nil where nothing was asked.
    fileprivate var finding: HubFinding? {
        switch self {
        case .unset, .misconfigured: nil
        case .answered(let status, let detail, let isThrottled, let isHubs):
            HubFinding(status: status, detail: detail, asksToWait: isThrottled, isHubs: isHubs)
        case .failed(let reason, let detail):
            HubFinding(unanswered: detail, isTrust: reason == "certificate" || reason == "tls")
        }
    }
}

extension HubFinding {
    /// True if the hub has taken the key.
    fileprivate var takesKey: Bool { [.good, .throttled, .rightUnknown].contains(kind) }
}
