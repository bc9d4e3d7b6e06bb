import FaultOracle

/// Large requests, which are sent in parts.
extension Catalogue {
    static let expansionScenarios = [expandKill]

    private static let expandKill = Scenario(
        "expand-kill", "a large request has each of its parts once, and one result that counts them, whoever dies"
    ) { stage in
        while !stage.isSettled {
            Clock.pause(.milliseconds(stage.random(800...2500)))
            let victim = stage.workers[stage.random(0...stage.scenario.workers - 1)]
            stage.note("SIGKILL \(victim.name)")
            victim.kill()
            try victim.start()
            stage.watch.mark()
            if stage.isPublished { stage.watch.unmark() }
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = .plain(2_000, rate: 100)
        scenario.workload.retryEvery = 1
        scenario.workload.largeEvery = 8
        scenario.deadline = .seconds(240)
        scenario.check = { _, evidence in
            // Otherwise there was nothing to count.
            let missing = evidence.wholes.count > 20 && evidence.parts.count >= evidence.wholes.count * 3 ? 0 : 1
            return [Finding(.parts, measured: Double(missing), examples: ["\(evidence.parts.count) parts"])]
        }
    }
}
