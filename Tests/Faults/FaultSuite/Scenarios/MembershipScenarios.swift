import FaultOracle

/// Workers that join and leave, in order.
extension Catalogue {
    static let membershipScenarios = [churn, churnOfStrangers, spares, scaling]

    private static let churn = Scenario(
        "churn", "a group whose six workers come and go every 500 ms loses nothing and repeats no call"
    ) { stage in
        while !stage.isPublished {
            Clock.pause(.milliseconds(500))
            let worker = stage.workers[stage.random(0...stage.workers.count - 1)]
            let running = stage.workers.filter(\.isRunning)
            if !worker.isRunning {
                stage.note("\(worker.name) joins")
                try worker.start()
            } else if running.count > 2 {
                stage.note("\(worker.name) leaves")
                worker.terminate()
            }
        }
        for worker in stage.workers where !worker.isRunning { try worker.start() }
    }.with { scenario in
        scenario.workers = 3
        scenario.spareWorkers = 6
        scenario.workload = Workload(12_000, rate: 300)
        scenario.deadline = .seconds(240)
    }

    /// A static member never says that it leaves: its partitions rest until its session ends, and when it was to lead a rebalance,
    /// so do all others' until then. Two sessions of 10 s can follow each other.
    private static let churnOfStrangers = Scenario(
        "churn-strangers", "nor does a group that ever new workers join and leave for good"
    ) { stage in
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

    private static let spares = Scenario(
        "spare-workers", "workers without partitions take over from those that die for good"
    ) { stage in
        for pair in [0...1, 2...3] {
            Clock.pause(.seconds(4))
            for worker in stage.workers[pair] {
                stage.note("SIGKILL \(worker.name)")
                worker.kill()
            }
            stage.watch.mark()
            Clock.pause(.seconds(16))
            for worker in stage.workers[pair] { try worker.start() }
            Clock.pause(.seconds(4))
        }
    }.with { scenario in
        scenario.workers = 4
        scenario.partitions = 2
        scenario.isScaled = false
        scenario.workload = Workload(9_000, rate: 200)
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
