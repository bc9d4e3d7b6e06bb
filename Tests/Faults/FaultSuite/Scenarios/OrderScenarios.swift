import FaultOracle

/// Requests with ordering keys.
extension Catalogue {
    static let orderScenarios = [orderKill]

    private static let orderKill = Scenario(
        "order-kill", "requests of one key are called one after the other, whoever dies, also while some of them wait for long"
    ) { stage in
        try stage.setHubFaults(["status=500,retry-after=12,every=20"])
        while !stage.isPublished {
            try replace(stage)
            stage.watch.mark()
        }
        try stage.setHubFaults([])
        // While keys wait there may be no result for a while.
        stage.watch.unmark()
        let end = Clock.now() + 20_000
        while Clock.now() < end { try replace(stage) }
        let positions = try TopicFacts(kafka: stage.kafka).positions(
            stage.topics.held, group: stage.topics.group, partitions: 3 * stage.scenario.partitions)
        let held = positions.reduce(0) { $0 + ($1.committed ?? 0) }
        stage.note("the positions of held requests come to \(held)")
        guard held > 200 else { throw SuiteError.failed("only \(held) requests were held") }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 2
        scenario.workload = Workload(3_000, rate: 150)
        scenario.workload.keys = 40
        // So that what lies behind a request that waits does not stay in memory.
        scenario.settings = ["PUSHFAN_WORKER_WINDOW": "64"]
        scenario.deadline = .seconds(240)
        scenario.check = { [order($0, $1)] }
    }

    /// Whether the calls of each key came in its order.
    static func order(_ stage: Stage, _ evidence: Evidence) -> Finding {
        Oracle(evidence).order { user in stage.workloads.first?.key(of: user) }
    }
}
