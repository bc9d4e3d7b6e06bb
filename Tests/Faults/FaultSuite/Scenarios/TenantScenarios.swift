import FaultOracle
import Foundation

/// One key does the worst of each kind while ten other tenants publish, wait, list and follow at the same gateway and worker.
extension Catalogue {
    static let tenantScenarios = [hostileTenant, gatewayMemory]

    /// The limit of a gateway's memory in all of this, bytes (page Gateway, "Memory").
    private static let memory = 400 << 20
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
        var rows = [["call", "p50 and p99 alone, ms", "p50 and p99 beside the hostile key, ms", "calls", "failed"]]
        for kind in Bystanders.Kind.allCases {
            let (before, after) = (usual.ofKind(kind), beside.ofKind(kind))
            rows.append([
                kind.rawValue, "\(Int(before.time(of: 50))) \(Int(before.time(of: 99)))",
                "\(Int(after.time(of: 50))) \(Int(after.time(of: 99)))", "\(after.count)",
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

    /// All that callers can make a gateway keep at once, from many addresses.
    private static let gatewayMemory = Scenario(
        "memory-gateway", "a gateway whose callers fill every budget at once stays within its memory"
    ) { stage in
        let arena = try Arena(stage)
        defer { arena.end() }
        let port = arena.gateway.port
        let head = ["Authorization: Bearer \(arena.key)", "Content-Type: application/json"]
        // Requests whose results are listed.
        let title = String(repeating: "x", count: 100)
        let request = "{\"audience\":{\"users\":[\"u\"]},\"platforms\":[\"apple\"],\"message\":{\"title\":\"\(title)\"}}"
        let batch = "{\"requests\":[" + Array(repeating: request, count: 500).joined(separator: ",") + "]}"
        for number in 0..<20 {
            let once = head + ["Idempotency-Key: memory-\(number)"]
            let answer = HTTPProbe.ask("POST", port: port, "/v1/requests:batch", headers: once, body: batch, within: .seconds(60))
            guard answer?.status == 202 else { throw SuiteError.failed("a batch was answered \(answer?.status ?? 0)") }
        }
        var open: [Socket] = []
        defer {
            for socket in open { socket.close() }
        }
        let body = HTTPProbe.call("POST", port: port, "/v1/requests", headers: head, body: String(repeating: " ", count: 500_000))
        let calls: [(path: String, count: Int)] = [
            ("/v1/openapi.json", 40), ("/v1/requests?limit=500", 4), ("/v1/status/events", 6), ("/v1/requests/none?wait=30", 10),
        ]
        for host in UInt8(2)..<UInt8(32) {
            for (path, count) in calls {
                for _ in 0..<count {
                    let socket = try Socket.connected(port: port, from: host)
                    open.append(socket)
                    _ = socket.write(HTTPProbe.call("GET", port: port, path, headers: head))
                }
            }
            for _ in 0..<5 {
                let socket = try Socket.connected(port: port, from: host)
                open.append(socket)
                socket.setTimeout(.seconds(1))
                _ = socket.write(Array(body.dropLast(40)))
            }
        }
        Clock.pause(.seconds(5))
        let peak = arena.gateway.peakMemory ?? 0
        stage.note("\(open.count) connections, and the gateway had at most \(peak / 1_000_000) MB of memory")
        stage.noteMeasured([["connections", "most memory, MB"], ["\(open.count)", "\(peak / 1_000_000)"]])
        let answer = HTTPProbe.ask("GET", port: port, "/")
        arena.gateway.stop()
        if let end = arena.gateway.wrongEnds.first { throw SuiteError.failed("the gateway ended: \(end)") }
        guard answer?.status == 200 else { throw SuiteError.failed("the first page was answered \(answer?.status ?? 0)") }
        guard peak > 0, peak <= memory else { throw SuiteError.failed("the gateway had \(peak / 1_000_000) MB of memory") }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 1
        scenario.workload = Workload.plain(100, rate: 20)
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
            let (before, after) = (usual.ofKind(kind).time(of: 99), beside.ofKind(kind).time(of: 99))
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
        /// A key without a tenant.
        let key: String
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
            func makeKey(_ terms: String...) throws -> String {
                try GatewayCrew.makeKey(
                    ["--scope", "publish,read,replay"] + terms, program: program, folder: folder, environment: environment)
            }
            let keys = try (0..<10).map { try makeKey("--tenant", "tenant-\($0)") }
            let hostileKey = try makeKey("--tenant", "hostile")
            key = try makeKey()
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
