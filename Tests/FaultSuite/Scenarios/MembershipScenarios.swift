import FaultOracle

/// Workers that join and leave, in order.
extension Catalogue {
    static let membershipScenarios = [churn, scaling]

    private static let churn = Scenario("churn", "a group whose members change every 500 ms loses nothing and repeats no call") {
        stage in
        var unused = stage.workers.dropFirst(stage.scenario.workers)
        while !stage.isPublished {
            Clock.pause(.milliseconds(500))
            let running = stage.workers.filter(\.isRunning)
            if running.count > 4 || (running.count > 1 && stage.random(0...1) == 0) {
                let leaving = running[stage.random(0...running.count - 1)]
                stage.note("\(leaving.name) leaves")
                leaving.terminate()
            } else if let joining = unused.popFirst() ?? stage.workers.first(where: { !$0.isRunning }) {
                stage.note("\(joining.name) joins")
                try joining.start()
            }
        }
    }.with { scenario in
        scenario.workers = 2
        scenario.spareWorkers = 40
        scenario.workload = Workload(12_000, rate: 300)
        scenario.deadline = .seconds(240)
    }

    private static let scaling = Scenario("scaling", "scaling out and in under load repeats no call") { stage in
        for round in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            for worker in stage.workers.dropFirst() {
                stage.note("round \(round): \(worker.name) joins")
                try worker.start()
                Clock.pause(.seconds(4))
            }
            for worker in stage.workers.dropFirst().reversed() {
                stage.note("round \(round): \(worker.name) leaves")
                worker.stop()
                Clock.pause(.seconds(2))
            }
            stage.watch.mark()
        }
    }.with { scenario in
        scenario.workers = 1
        scenario.spareWorkers = 4
        scenario.workload = Workload(14_000, rate: 300)
        scenario.deadline = .seconds(180)
    }
}
