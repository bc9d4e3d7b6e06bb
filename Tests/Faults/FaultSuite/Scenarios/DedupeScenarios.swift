import FaultOracle

/// Requests that are published more than once.
extension Catalogue {
    static let dedupeScenarios = [dedupeKill, dedupeOff]

    private static let dedupeKill = Scenario(
        "dedupe-kill", "of what is published twice one is sent and the other is told, whoever dies and whoever takes over"
    ) { stage in
        var round = 0
        while !stage.isPublished {
            Clock.pause(.milliseconds(stage.random(2000...5000)))
            let victim = stage.workers[stage.random(0...stage.scenario.workers - 1)]
            stage.note("SIGKILL \(victim.name)")
            victim.kill()
            // Every third time its partitions go to the others, when its session has ended.
            if round % 3 == 2 { Clock.pause(.seconds(12)) }
            try victim.start()
            stage.watch.mark()
            round += 1
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(16_000, rate: 300)
        scenario.workload.repeatEvery = 5
        scenario.deadline = .seconds(180)
    }

    /// The oracle's own test: workers that do not look for repetitions send them.
    private static let dedupeOff = Scenario(
        "dedupe-off", "the oracle sees repetitions that are sent"
    ) { stage in
        try Clock.wait(for: "the requests", within: stage.scenario.deadline) { stage.isSettled }
    }.with { scenario in
        scenario.isScaled = false
        scenario.workers = 1
        scenario.workload = Workload(2_000, rate: 400)
        scenario.workload.repeatEvery = 5
        scenario.settings = ["PUSHFAN_DEDUPE_REACH": "0"]
        scenario.deadline = .seconds(60)
        scenario.mustFail = [.repetitions]
    }
}
