import FaultOracle

/// Workers that run, die and are replaced.
extension Catalogue {
    static let workerScenarios = [steady, killNine, killStorm, rollingRestart, sigstop, atLeastOnce, million]

    private static let steady = Scenario(
        "steady", "without a fault every request has one result and no call is repeated"
    ) { stage in
        try Clock.wait(for: "the requests", within: stage.scenario.deadline) { stage.isSettled }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(10_000, rate: nil)
    }

    private static let killNine = Scenario("kill-9", "a worker that is killed loses nothing and repeats no result") { stage in
        try killAndReplace(stage, every: 2000...5000)
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(24_000, rate: 400)
        scenario.deadline = .seconds(180)
    }

    private static let killStorm = Scenario("kill-storm", "nor do workers that are killed before they have settled") { stage in
        try killAndReplace(stage, every: 300...900)
    }.with { scenario in
        scenario.workers = 4
        scenario.workload = Workload(30_000, rate: 300)
        scenario.deadline = .seconds(300)
    }

    private static let atLeastOnce = Scenario(
        "at-least-once", "without transactions nothing is lost; results that are repeated are counted"
    ) { stage in
        try killAndReplace(stage, every: 2000...5000)
    }.with { scenario in
        scenario.workload = Workload(12_000, rate: 400)
        scenario.settings = ["PUSHFAN_KAFKA_DELIVERY_GUARANTEE": "at_least_once"]
        scenario.limits = [.repeated: .infinity, .unreadableRepeated: .infinity]
    }

    /// Kills a random worker again and again while there is load, and starts it again at once.
    private static func killAndReplace(_ stage: Stage, every pause: ClosedRange<Int>) throws {
        while !stage.isPublished {
            Clock.pause(.milliseconds(stage.random(pause)))
            let victim = stage.workers[stage.random(0...stage.scenario.workers - 1)]
            stage.note("SIGKILL \(victim.name)")
            victim.kill()
            try victim.start()
            stage.watch.mark()
        }
    }

    private static let rollingRestart = Scenario("rolling-restart", "workers that are stopped in order repeat no call") { stage in
        while !stage.isPublished {
            for worker in stage.crew {
                stage.note("SIGTERM \(worker.name)")
                worker.stop()
                try worker.start()
                try Clock.wait(for: "\(worker.name) to be back", within: .seconds(40)) { worker.isReady }
            }
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(12_000, rate: 400)
    }

    private static let sigstop = Scenario(
        "sigstop", "a worker that was frozen past its session finds its work done by others and writes none of it"
    ) { stage in
        for round in 0..<max(1, Int((3 * stage.suite.scale).rounded())) {
            Clock.pause(.seconds(3))
            let victim = stage.workers[round % stage.scenario.workers]
            stage.note("SIGSTOP \(victim.name)")
            victim.freeze()
            Clock.pause(.seconds(14))
            stage.note("SIGCONT \(victim.name)")
            victim.thaw()
            stage.watch.mark()
        }
        Clock.pause(.seconds(3))
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(18_000, rate: 300)
        scenario.deadline = .seconds(180)
    }

    private static let million = Scenario("million", "a million requests, one result each") { stage in
        try Clock.wait(for: "the requests", within: stage.scenario.deadline) { stage.isSettled }
    }.with { scenario in
        scenario.workers = 4
        scenario.maxInFlight = 64
        scenario.workload = Workload(1_000_000, rate: nil)
        scenario.deadline = .seconds(3600)
    }
}
