import FaultOracle
import Foundation

/// One key does the worst of each kind while ten other tenants publish, wait, list and follow at the same gateway and worker.
extension Catalogue {
    static let tenantScenarios = [hostileTenant]

    /// The limit of a gateway's memory in all of this, bytes (page Gateway, "Memory").
    private static let memory = 512 << 20
    /// What page Gateway promises for a call beside a greedy key, milliseconds over three times the usual.
    private static let promised = 2_000.0

    private static let hostileTenant = Scenario(
        "hostile-tenant", "a key that does the worst of each kind fails and delays no call of ten others"
    ) { stage in
        let arena = try Arena(stage)
        defer { arena.end() }
        _ = try arena.others.measure(rounds: 2, name: "first")
        let usual = try arena.others.measure(rounds: 12, name: "usual")
        stage.note("the hostile key begins")
        try arena.hostile.begin()
        let beside = try arena.others.measure(rounds: 12, name: "beside")
        arena.hostile.end()
        for line in arena.hostile.summary { stage.note(line) }
        let peak = arena.gateway.peakMemory ?? 0
        var rows = [["call", "p99 alone, ms", "p99 beside the hostile key, ms", "calls", "failed"]]
        for kind in Bystanders.Kind.allCases {
            let (before, after) = (usual.ofKind(kind), beside.ofKind(kind))
            rows.append([
                kind.rawValue, "\(Int(before.ninetyNinth))", "\(Int(after.ninetyNinth))", "\(after.count)",
                "\(after.count { $0.fault != nil })",
            ])
        }
        for row in rows { stage.note(row.joined(separator: ", ")) }
        stage.note("the gateway had at most \(peak / 1_000_000) MB of memory")
        stage.noteMeasured(rows)
        arena.gateway.stop()
        try judge(usual: usual, beside: beside, peak: peak, wrongEnds: arena.gateway.wrongEnds)
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 1
        // The requests of the suite's own stand beside, on topics of their own.
        scenario.workload = Workload.plain(200, rate: 20)
        scenario.deadline = .seconds(300)
        scenario.table = { stage, _ in stage.measured }
    }

    /// Fails with the first thing that is not as it must be.
    private static func judge(
        usual: [Bystanders.Call], beside: [Bystanders.Call], peak: Int, wrongEnds: [String]
    ) throws {
        if let end = wrongEnds.first { throw SuiteError.failed("the gateway ended: \(end)") }
        for (calls, when) in [(usual, "alone"), (beside, "beside the hostile key")] {
            let faults = calls.compactMap(\.fault)
            guard faults.isEmpty else {
                throw SuiteError.failed("\(when) \(faults.count) of \(calls.count) calls failed, such as \(faults[0])")
            }
        }
        for kind in Bystanders.Kind.allCases {
            let (before, after) = (usual.ofKind(kind).ninetyNinth, beside.ofKind(kind).ninetyNinth)
            guard after <= 3 * before + promised else {
                throw SuiteError.failed("p99 of \(kind.rawValue) is \(Int(after)) ms, and \(Int(before)) ms alone")
            }
        }
        guard peak > 0, peak <= memory else { throw SuiteError.failed("the gateway had \(peak / 1_000_000) MB of memory") }
    }

    /// A gateway, a worker, topics and keys of their own.
    private struct Arena {
        let gateway: GatewayProcess
        let others: Bystanders
        let hostile: HostileKey
        private let worker: WorkerProcess

        init(_ stage: Stage) throws {
            let folder = "\(stage.folder)/arena"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let program = stage.suite.program
            let topics = TopicNames("\(stage.scenario.name)-http", run: Int.random(in: 1000...9999))
            var environment = stage.gatewayEnvironment.merging(topics.variables) { $1 }
            try ChildProcess.run(
                "pushfan topics create",
                [program, "topics", "create", "--partitions", "6", "--replication", "\(stage.broker.nodes)"],
                environment: environment, log: "\(folder)/topics.log", within: .seconds(60))
            func key(_ tenant: String) throws -> String {
                try GatewayCrew.makeKey(
                    ["--scope", "publish,read,replay", "--tenant", tenant], program: program, folder: folder,
                    environment: environment)
            }
            let keys = try (0..<10).map { try key("tenant-\($0)") }
            let hostileKey = try key("hostile")
            environment["PUSHFAN_KAFKA_START"] = "beginning"
            worker = try WorkerProcess("w-http", program: program, folder: folder, environment: environment)
            environment["PUSHFAN_GATEWAY_KEYS_FILE"] = "\(folder)/keys"
            environment["PUSHFAN_GATEWAY_STATE_DIR"] = "\(folder)/state"
            try FileManager.default.createDirectory(atPath: "\(folder)/state", withIntermediateDirectories: true)
            gateway = try GatewayProcess("g1", program: program, folder: folder, environment: environment)
            others = Bystanders(gateway, keys: keys)
            hostile = HostileKey(gateway, key: hostileKey)
            try worker.start()
            try gateway.start()
            let (worker, gateway) = (worker, gateway)
            try Clock.wait(for: "gateway and worker", within: .seconds(60), every: .milliseconds(50)) {
                worker.isReady && gateway.isReady
            }
        }

        func end() {
            hostile.end()
            gateway.end()
            worker.end()
        }
    }
}
