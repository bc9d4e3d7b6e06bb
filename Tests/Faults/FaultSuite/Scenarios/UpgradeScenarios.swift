import FaultOracle

/// Workers of two versions that share a group.
extension Catalogue {
    static let upgradeScenarios = [upgrade]

    /// Makes a worker one of the next version: what it writes for workers has a form that others leave.
    private static let next = ["PUSHFAN_TEST_FORMAT": "2"]

    private static let upgrade = Scenario(
        "upgrade", "workers that are replaced by a newer version, back, and again, lose nothing and repeat no call"
    ) { stage in
        try stage.setHubFaults(["status=500,retry-after=12,every=3"])
        Clock.pause(.seconds(2))
        try roll(stage, to: next) { $0.isReady }
        Clock.pause(.seconds(3))
        // Those that come back leave what waits in the newer form, and go on with all else.
        try roll(stage, to: [:]) { $0.metric("pushfan_assigned_partitions") ?? 0 > 0 }
        try Clock.wait(for: "a worker to leave partitions", within: .seconds(60)) {
            stage.crew.contains(where: \.leavesPartitions)
        }
        let settledCount = stage.watch.settledCount
        try Clock.wait(for: "other requests to go on", within: .seconds(60)) {
            stage.isPublished || stage.watch.settledCount > settledCount + 100
        }
        try roll(stage, to: next) { $0.isReady }
        try stage.setHubFaults([])
        guard stage.crew.allSatisfy({ !$0.leavesPartitions }) else {
            throw SuiteError.failed("a worker of the newer version leaves partitions")
        }
    }.with { scenario in
        scenario.isScaled = false
        scenario.workload = Workload(12_000, rate: 150)
        scenario.workload.waitEvery = 4
        scenario.deadline = .seconds(300)
    }

    /// Replaces one worker after the other.
    private static func roll(
        _ stage: Stage, to environment: [String: String], until isBack: @escaping (WorkerProcess) -> Bool
    ) throws {
        for worker in stage.crew {
            stage.note("\(worker.name) is replaced by \(environment.isEmpty ? "the older version" : "the newer version")")
            worker.stop()
            try worker.start(environment)
            try Clock.wait(for: "\(worker.name) to be back", within: .seconds(60)) { isBack(worker) }
        }
    }
}
