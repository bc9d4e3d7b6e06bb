import FaultOracle

/// What happens to workers.
extension Catalogue {
    static let workerScenarios: [Scenario] = [steady, killNine, rollingRestart]

    private static let steady = Scenario("steady", "without any fault, every request has one result, and no call is repeated") {
        stage in
        try Clock.wait(for: "the requests", within: .seconds(120)) { stage.isSettled }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(10_000, rate: nil)
    }

    private static let killNine = Scenario("kill-9", "a worker that is killed loses nothing and repeats no result") { stage in
        while !stage.isPublished {
            Clock.pause(.milliseconds(stage.random(2000...5000)))
            let victim = stage.workers[stage.random(0...stage.scenario.workers - 1)]
            stage.note("SIGKILL \(victim.name)")
            victim.kill()
            try victim.start()
            stage.watch.mark()
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload = Workload(24_000, rate: 400)
        scenario.deadline = .seconds(180)
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
}
