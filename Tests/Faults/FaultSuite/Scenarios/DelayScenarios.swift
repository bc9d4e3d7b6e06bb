import FaultOracle

/// Requests, and questions for outcomes, that wait in delay lanes.
extension Catalogue {
    static let delayScenarios = [delayKill, trackKill]

    private static let trackKill = Scenario(
        "track-kill", "of each call that is followed it is told once what became of it, however often workers are killed"
    ) { stage in
        while !stage.isPublished {
            try replace(stage)
            stage.watch.mark()
        }
        stage.watch.unmark()
        // Until the last of them was asked for twice, while some wait and some are being asked for.
        let end = Clock.now() + 20_000
        while Clock.now() < end || stage.watch.settledCount < stage.writtenCount { try replace(stage) }
        try Clock.wait(for: "the outcomes", within: .seconds(90)) { stage.watch.openCallCount == 0 }
        stage.note("\(stage.watch.toldCallCount) outcomes are told")
        guard stage.watch.toldCallCount > 1500 else { throw SuiteError.failed("too few calls were followed") }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 2
        scenario.tracksOutcomes = true
        // What a question finds at first is nothing, so that each call is asked for twice at least.
        scenario.hubOptions = ["--telemetry", "hidden=12s"]
        scenario.workload = Workload(2_400, rate: 150)
        scenario.deadline = .seconds(240)
    }

    private static let delayKill = Scenario(
        "delay-kill", "what waits in a delay lane outlives its workers, has one result, and is never early"
    ) { stage in
        try stage.setHubFaults(["status=500,retry-after=12,every=3"])
        while !stage.isPublished {
            try replace(stage)
            stage.watch.mark()
        }
        try stage.setHubFaults([])
        // For as long as anything waits for its moment; meanwhile there may be no result for a while.
        stage.watch.unmark()
        let end = Clock.now() + 20_000
        while Clock.now() < end { try replace(stage) }
        // On a busy machine workers that live for a second commit little.
        let facts = TopicFacts(kafka: stage.kafka)
        try Clock.wait(for: "500 records to have waited in a lane", within: .seconds(90)) {
            let positions = try facts.positions(
                stage.topics.delay, group: stage.topics.group, partitions: stage.scenario.partitions)
            return positions.reduce(0) { $0 + ($1.committed ?? 0) } > 500
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 2
        scenario.workload = Workload(2_400, rate: 150)
        scenario.workload.waitEvery = 4
        scenario.deadline = .seconds(180)
        scenario.check = { [Finding(.earlyCalls, measured: Double(earlyCalls($0, $1)))] }
    }

    /// Kills a random worker and starts it again at once.
    static func replace(_ stage: Stage) throws {
        Clock.pause(.milliseconds(stage.random(2000...5000)))
        let victim = stage.workers[stage.random(0...stage.scenario.workers - 1)]
        stage.note("SIGKILL \(victim.name)")
        victim.kill()
        try victim.start()
    }

    /// Calls before the moment that their request was to wait for.
    private static func earlyCalls(_ stage: Stage, _ evidence: Evidence) -> Int {
        guard let workload = stage.workloads.first else { return 0 }
        return evidence.calls.count { call in
            guard let moment = call.user.flatMap({ workload.moment(of: $0) }) else { return false }
            return call.at < moment
        }
    }
}
