import FaultOracle

/// Large requests, which are sent in parts.
extension Catalogue {
    static let expansionScenarios = [expandKill, expandSteps, expandSlow]

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

    /// Each start of the worker commits no more than one transaction with records, so steps and results are cut apart everywhere.
    private static let expandSteps = Scenario(
        "expand-steps", "a large request that is written step by step has each part once, though the worker dies after every step"
    ) { stage in
        let worker = stage.workers[0]
        for round in 0..<12 {
            let name = ["committed", "offsets_sent", "committed", "committing"][round % 4]
            try worker.startAndDie(at: name)
            stage.note("it died at \(name)")
        }
        try worker.start()
        stage.watch.mark()
    }.with { scenario in
        scenario.isFast = true
        scenario.startsCrew = false
        scenario.workers = 1
        scenario.partitions = 1
        scenario.isScaled = false
        scenario.workload = .plain(12, rate: nil)
        scenario.workload.largeEvery = 4
        scenario.workload.usersOfLarge = 1000
        scenario.workload.ballastOfLarge = 200_000
        scenario.deadline = .seconds(240)
        scenario.check = { _, evidence in
            let missing = evidence.wholes.count == 3 && evidence.parts.count == 30 ? 0 : 1
            return [Finding(.parts, measured: Double(missing), examples: ["\(evidence.parts.count) parts"])]
        }
    }

    /// The parts of one have 15 MB, which are more than fit one transaction.
    private static let expandSlow = Scenario(
        "expand-slow", "where brokers take 1 MB/s, results go out while the parts of a large request are written step by step"
    ) { stage in
        try stage.broker.tool(
            "configs",
            ["--alter", "--entity-type", "clients", "--entity-default", "--add-config", "producer_byte_rate=1000000"])
        stage.note("the broker is slow")
        try stage.startCrew()
        stage.publish()
        try Clock.wait(for: "the records to be published", within: .seconds(120)) { stage.isPublished }
        stage.watch.mark()
    }.with { scenario in
        scenario.broker = .own()
        scenario.isScaled = false
        scenario.startsCrew = false
        scenario.publishes = false
        scenario.workers = 1
        scenario.workload = .plain(300, rate: 5)
        scenario.workload.largeEvery = 150
        scenario.workload.usersOfLarge = 5000
        scenario.workload.ballastOfLarge = 300_000
        scenario.settings = ["PUSHFAN_KAFKA_TRANSACTION_TIMEOUT": "10s"]
        scenario.deadline = .seconds(400)
        scenario.check = { _, evidence in
            let moments = evidence.results.map(\.at).sorted()
            let longest = zip(moments, moments.dropFirst()).map { $1 - $0 }.max() ?? .max
            let isWritten = evidence.wholes.count == 2 && evidence.parts.count == 100
            let examples = ["\(evidence.parts.count) parts, at most \(longest) ms without a result of another request"]
            return [Finding(.parts, measured: isWritten && longest < 20_000 ? 0 : 1, examples: examples)]
        }
    }
}
