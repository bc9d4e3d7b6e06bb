import FaultOracle

/// A hub whose connections break, hang, drip or are refused.
extension Catalogue {
    static let hubConnectionScenarios = [hangs, resets, halfAnswers, drips, closes, refused, cutConnections]

    private static let hangs = faulty(
        "hub-hangs", "calls without an answer end, are told as ambiguous, and are tried again on request",
        ["hang=before,every=23", "hang=after,every=31"],
        settings: ["PUSHFAN_HUB_REQUEST_TIMEOUT": "2s", "PUSHFAN_HUB_CONNECT_TIMEOUT": "1s"])

    private static let resets = faulty(
        "hub-resets", "a connection that breaks before or after the call costs no result",
        ["reset=before,every=7", "reset=after,every=11"])

    private static let halfAnswers = faulty(
        "hub-half-answers", "an answer that is cut off is no answer", ["truncate,every=5"])

    private static let drips = faulty("hub-drips", "an answer that drips is read to its end", ["drip=7/5ms,every=4"])

    private static let closes = faulty(
        "hub-closes", "a hub that ends connections as it likes costs connections only", ["close-after=3"])

    /// Load under faults that are armed for the whole time.
    private static func faulty(
        _ name: String, _ claim: String, _ faults: [String], settings: [String: String] = [:]
    ) -> Scenario {
        Scenario(name, claim) { stage in
            try stage.setHubFaults(faults)
            try Clock.wait(for: "the requests to be published", within: .seconds(120)) { stage.isPublished }
            try stage.setHubFaults([])
        }.with { scenario in
            scenario.workers = 2
            scenario.workload = Workload(4_000, rate: 250)
            scenario.settings = settings
        }
    }

    private static let refused = Scenario("hub-refused", "a hub that refuses connections is asked rarely, and nothing is lost") {
        stage in
        Clock.pause(.seconds(3))
        stage.hub.proxy.refuse()
        Clock.pause(.seconds(5))
        let begin = Clock.now()
        let before = calls(stage)
        stage.pause(.seconds(55))
        let made = calls(stage) - before
        stage.noteOutage(Outage(begin: begin, end: Clock.now(), workers: stage.scenario.workers, unseenCalls: Int(made)))
        try stage.hub.proxy.reopen()
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(6_000, rate: 150)
        scenario.deadline = .seconds(240)
    }

    /// The calls that the workers say they made.
    private static func calls(_ stage: Stage) -> Double {
        stage.crew.reduce(0) { $0 + ($1.metric("pushfan_sends_total") ?? 0) }
    }

    private static let cutConnections = Scenario("hub-cut", "connections that are cut every second cost no result") { stage in
        while !stage.isPublished {
            Clock.pause(.seconds(1))
            stage.hub.proxy.cutAll()
        }
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(4_000, rate: 250)
    }
}
