import FaultOracle
import Foundation
import Kafka
import Synchronization

/// Everything that runs for one scenario: brokers, hub, workers, publisher and the watch over results.
final class Stage: Sendable {
    let scenario: Scenario
    let suite: SuiteOptions
    let folder: String
    let broker: Broker
    let hub: Hub
    /// The hub of the requests that name it, in the scenarios that have one.
    let secondHub: Hub?
    let workers: [WorkerProcess]
    /// The gateways, in the scenarios that have some.
    let gatewayCrew: GatewayCrew?
    let watch: ResultWatch
    let topics: TopicNames
    /// The brokers for the suite itself.
    let kafka: KafkaConfiguration

    /// The environment of commands that an operator runs.
    private let operatorEnvironment: [String: String]
    /// The environment of gateways.
    let gatewayEnvironment: [String: String]

    private struct State {
        var random: SeededGenerator
        var publishers: [Publisher] = []
        var workloads: [Workload] = []
        var publishedCount = 0
        var writtenOverHTTP = 0
        var brokerKills = 0
        var commandKills = 0
        var outage: Outage?
        var pauses: [(begin: Int64, wait: Int64)] = []
        var secondHubOutage: ClosedRange<Int64>?
        var peakMemory: Int?
        var measured: [[String]] = []
    }

    private let state: Mutex<State>
    private let begin = ContinuousClock.now

    /// Starts the hub, creates the topics, and begins to watch.
    init(_ scenario: Scenario, _ suite: SuiteOptions, folder: String, broker: Broker) throws {
        self.scenario = scenario
        self.suite = suite
        self.folder = folder
        self.broker = broker
        state = Mutex(State(random: SeededGenerator(seed: suite.seed &+ Digest.of(scenario.name.utf8))))
        topics = TopicNames(scenario.name, run: Int.random(in: 1000...9999))
        kafka = KafkaConfiguration(bootstrapServers: broker.direct, clientID: "faults")
        var environment = suite.environment.merging(topics.variables) { $1 }
        environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = broker.direct
        operatorEnvironment = environment
        try ChildProcess.run(
            "pushfan topics create",
            [suite.program, "topics", "create", "--partitions", "\(scenario.partitions)", "--replication", "\(broker.nodes)"],
            environment: environment, log: "\(folder)/topics.log", within: .seconds(60))
        hub = try Hub(
            program: suite.program, folder: folder, options: ["--fault", Self.pace] + scenario.hubOptions,
            environment: suite.environment)
        secondHub =
            try scenario.hasSecondHub
            ? Hub(
                program: suite.program, folder: folder, name: "hub-second", options: ["--fault", Self.pace],
                environment: suite.environment)
            : nil
        environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = broker.address(isProxied: scenario.isBehindProxy)
        environment["PUSHFAN_HUB_NAME"] = "demo"
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString
        if scenario.withdrawsFirstKey {
            environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString(key: "d2l0aGRyYXdu")
            environment["PUSHFAN_HUB_SECONDARY_KEY"] = Hub.key
        }
        let gatewayAddress = broker.address(isProxied: scenario.overHTTP?.isBehindProxy ?? false)
        let gatewayEnvironment = environment.merging(["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": gatewayAddress]) { $1 }
        self.gatewayEnvironment = gatewayEnvironment
        gatewayCrew = try scenario.overHTTP.map {
            try GatewayCrew($0, program: suite.program, folder: folder, environment: gatewayEnvironment)
        }
        environment["PUSHFAN_WORKER_MAX_IN_FLIGHT"] = "\(scenario.maxInFlight)"
        environment["PUSHFAN_KAFKA_SESSION_TIMEOUT"] = "10s"
        environment["PUSHFAN_KAFKA_START"] = "beginning"
        environment["PUSHFAN_RETRY_BASE"] = "200ms"
        environment["PUSHFAN_RETRY_CAP"] = "5s"
        environment["PUSHFAN_LOG_LEVEL"] = scenario.workload.count > 50_000 ? "warning" : "info"
        if scenario.tracksOutcomes { environment["PUSHFAN_HUB_TRACK_OUTCOME"] = "true" }
        if scenario.hasSecondHub { environment["PUSHFAN_CONFIG"] = "\(folder)/pushfan.yaml" }
        environment.merge(scenario.settings) { $1 }
        let everybody = environment
        workers = try (1...max(scenario.workers, scenario.spareWorkers, 1)).map {
            try WorkerProcess("w\($0)", program: suite.program, folder: folder, environment: everybody)
        }
        watch = ResultWatch(
            kafka: kafka, results: topics.results, deadLetters: topics.deadLetters, partitions: scenario.partitions)
        try writeSettings()
    }

    /// Writes the settings file that tells of the second hub, if there is one.
    private func writeSettings(secondHub settings: String = "") throws {
        guard let secondHub else { return }
        let text = """
            hubs:
              \(Workload.secondHub):
                name: demo
                connection_string: "\(secondHub.connectionString)"
            \(settings.isEmpty ? "" : "    \(settings)")
            """
        try text.write(toFile: "\(folder)/pushfan.yaml", atomically: true, encoding: .utf8)
    }

    /// Changes a setting of the second hub, such as `max_in_flight: 8`, and has all workers read it.
    func changeSecondHub(_ setting: String) throws {
        note("second hub: \(setting)")
        try writeSettings(secondHub: setting)
        for worker in workers where worker.isRunning { worker.reload() }
    }

    /// The least time for an answer of the hub, milliseconds.
    static let hubDelay: Int64 = 20
    /// The fault that gives every answer its time.
    static let pace = "delay=\(hubDelay)ms"

    /// The workers that the scenario begins with.
    var crew: ArraySlice<WorkerProcess> { workers.prefix(scenario.workers) }

    /// Starts the crew and waits until every one of them was ready. It may not stay so: where brokers are slow, a commit of the first may
    /// have failed before the last is ready.
    func startCrew() throws {
        for worker in crew { try worker.start(scenario.firstSettings) }
        var awaited = Array(crew)
        try Clock.wait(for: "the workers to be ready", within: .seconds(60), every: .milliseconds(50)) {
            awaited.removeAll(where: \.isReady)
            return awaited.isEmpty
        }
    }

    /// A number from the scenario's seed.
    func random(_ range: ClosedRange<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.random) }
    }

    /// Publishes the scenario's workload, scaled, in the background.
    func publish(_ workload: Workload? = nil) {
        var workload = workload ?? scenario.workload
        workload.count = max(1, Int(Double(workload.count) * scale))
        workload.beginning = Clock.now()
        let amount = workload
        state.withLock { state in
            let seed = state.random.next()
            state.publishers.append(
                Publisher(amount, firstNumber: state.publishedCount, kafka: kafka, topic: topics.requests, seed: seed))
            state.publishedCount += amount.count
            state.workloads.append(amount)
        }
    }

    /// Runs a command of an operator to its end.
    ///
    /// - Throws: `SuiteError.failed` unless it ends with exit code 0 in time.
    func run(_ arguments: [String], within limit: Duration = .seconds(120)) throws {
        note("pushfan \(arguments.joined(separator: " "))")
        try ChildProcess.run(
            "pushfan \(arguments.prefix(2).joined(separator: " "))", [suite.program] + arguments,
            environment: operatorEnvironment,
            log: "\(folder)/commands.log", within: limit)
    }

    /// Begins a command of an operator, and kills it with SIGKILL after some time.
    func runAndKill(_ arguments: [String], after time: Duration) throws {
        let child = try ChildProcess(
            "pushfan", [suite.program] + arguments, environment: operatorEnvironment, log: "\(folder)/commands.log")
        Clock.pause(time)
        child.signal(SIGKILL)
        let ending = child.wait(within: .seconds(10))
        note("pushfan \(arguments.joined(separator: " ")): \(ending.map { "\($0)" } ?? "still there")")
        if ending == .killed(signal: SIGKILL) { state.withLock { $0.commandKills += 1 } }
    }

    /// Commands of operators that were killed.
    var commandKills: Int { state.withLock { $0.commandKills } }

    /// Replaces the hub's faults; its ordinary pace stays behind them.
    func setHubFaults(_ faults: [String]) throws {
        note("hub faults: \(faults)")
        try hub.setFaults(faults.map { $0.contains("delay=") ? $0 : "\($0),\(Self.pace)" } + [Self.pace])
    }

    /// How many lines of the workers' logs hold a text.
    func loggedCount(of text: String) -> Int {
        workers.reduce(0) { count, worker in
            let log = try? String(contentsOfFile: "\(folder)/\(worker.name).log", encoding: .utf8)
            return count + (log?.split(separator: "\n").count { $0.contains(text) } ?? 0)
        }
    }

    /// Replaces the second hub's faults.
    func setSecondHubFaults(_ faults: [String]) throws {
        note("second hub's faults: \(faults)")
        try secondHub?.setFaults(faults.map { "\($0),\(Self.pace)" } + [Self.pace])
    }

    /// Pauses for a time that is scaled with the suite.
    func pause(_ duration: Duration) { Clock.pause(duration * scale) }

    /// What counts and times are multiplied with.
    private var scale: Double { scenario.isScaled ? suite.scale : 1 }

    /// Whether everything that is being published has been.
    var isPublished: Bool { state.withLock { $0.publishers.allSatisfy(\.isDone) } }

    /// Records that the publishers were told are written, and those that gateways have written.
    var writtenCount: Int { state.withLock { $0.publishers.reduce($0.writtenOverHTTP) { $0 + $1.written } } }

    /// Takes down how many records gateways have written, when they write no more.
    func noteWritten(_ count: Int) { state.withLock { $0.writtenOverHTTP = count } }

    /// Every record that was published has its result or dead letter, and each call that is followed its outcome.
    var isSettled: Bool {
        isPublished && watch.settledCount >= writtenCount && (!scenario.tracksOutcomes || watch.openCallCount == 0)
    }

    /// Broker nodes that were killed.
    var brokerKills: Int { state.withLock { $0.brokerKills } }

    /// Kills a broker node, or all of them. A single one may lead what a worker commits to, and a session may run out before another does.
    func killBroker(node: Int? = nil) throws {
        note("broker killed\(node.map { ": node \($0)" } ?? "")")
        beginOutage()
        try broker.kill(node: node)
        for worker in workers where worker.isRunning { worker.noteOutageDone() }
        state.withLock { $0.brokerKills += node == nil ? broker.nodes : 1 }
    }

    /// Starts a killed broker again.
    func resumeBroker(node: Int? = nil) throws {
        try broker.resume(node: node)
        endOutage()
        note("broker back\(node.map { ": node \($0)" } ?? "")")
        watch.mark()
    }

    /// Takes down that no worker reaches the broker from now on.
    func beginOutage() {
        for worker in workers where worker.isRunning { worker.noteOutage() }
    }

    /// Takes down that workers reach the broker again.
    func endOutage() {
        for worker in workers { worker.noteOutageEnd() }
    }

    /// Takes down that from now on the hub asks for so many milliseconds of rest.
    func notePause(_ wait: Int64) { state.withLock { $0.pauses.append((Clock.now(), wait)) } }

    /// When the hub asked for rest, and for how long, milliseconds.
    var pauses: [(begin: Int64, wait: Int64)] { state.withLock { $0.pauses } }

    /// Takes down a time in which the second hub was out, milliseconds since 1970.
    func noteSecondHubOutage(_ span: ClosedRange<Int64>) { state.withLock { $0.secondHubOutage = span } }

    /// A time in which the second hub was out, milliseconds since 1970.
    var secondHubOutage: ClosedRange<Int64>? { state.withLock { $0.secondHubOutage } }

    /// Takes down that the hub answered nobody.
    func noteOutage(_ outage: Outage) { state.withLock { $0.outage = outage } }

    /// Writes down what happens, for whoever looks for the reason of a failure.
    func note(_ text: String) {
        let elapsed = begin.duration(to: .now)
        let line =
            "\(Clock.now()) +\(elapsed.components.seconds).\(elapsed.components.attoseconds / 100_000_000_000_000_000) s  \(text)\n"
        guard let file = fopen("\(folder)/events.log", "a") else { return }
        fputs(line, file)
        fclose(file)
    }

    /// Waits until everything has its result, starting again whatever worker has ended by itself.
    ///
    /// - Returns: Whether it has, before the deadline.
    func settle() -> Bool {
        note("the faults are over")
        if isSettled { watch.unmark() } else { watch.mark() }
        let deadline = begin + scenario.deadline * max(scale, 0.5)
        while !isSettled {
            for worker in workers where worker.noteCrash() {
                note("\(worker.name) ended by itself")
                try? worker.start()
            }
            guard ContinuousClock.now < deadline else {
                note("deadline: \(watch.settledCount) of \(writtenCount) are settled")
                return false
            }
            Clock.pause(.milliseconds(20))
        }
        note("settled")
        return true
    }

    /// What was published, in the order of the publishers.
    var workloads: [Workload] { state.withLock { $0.workloads } }

    /// Ends publishing early; what was published so far stays.
    func endPublishing() {
        for publisher in state.withLock({ $0.publishers }) { publisher.end() }
    }

    /// Publishing failed, and why.
    var publisherFailure: String? {
        state.withLock { $0.publishers.lazy.compactMap(\.failure).first } ?? gatewayCrew?.publisher.failure
    }

    /// Stops all workers that run, in order.
    func stopWorkers() {
        for worker in workers { _ = worker.noteCrash() }
        let running = workers.filter(\.isRunning)
        noteMemory(of: running)
        // One that was started a moment ago may not take signals yet.
        try? Clock.wait(for: "the workers to be ready", within: .seconds(30)) {
            running.allSatisfy { $0.hasBegun || !$0.isRunning }
        }
        for worker in running { worker.terminate() }
        for worker in running { worker.waitForStop() }
    }

    /// Takes down the most memory that any of these workers has had.
    func noteMemory(of workers: [WorkerProcess]) {
        let peaks = workers.compactMap(\.peakMemory)
        guard let peak = peaks.max() else { return }
        note("the workers had at most \(peak / 1_000_000) MB of memory")
        state.withLock { $0.peakMemory = peak }
    }

    /// The most memory that any worker had that ran to the end, bytes; nil where none did.
    var peakMemory: Int? { state.withLock { $0.peakMemory } }

    /// Takes down a table of what was measured: the columns' names, and the rows.
    func noteMeasured(_ table: [[String]]) { state.withLock { $0.measured = table } }

    /// The table that was taken down.
    var measured: [[String]] { state.withLock { $0.measured } }

    /// Ends everything, in whatever state it is.
    func end() {
        endPublishing()
        gatewayCrew?.end()
        for worker in workers { worker.end() }
        watch.end()
        endHubs()
    }

    /// Stops the hubs, which write the rest of their journals.
    func endHubs() {
        hub.end()
        secondHub?.end()
    }

    /// Reads everything back.
    func evidence() throws -> Evidence {
        let reader = TopicFacts(kafka: kafka)
        var evidence = Evidence()
        evidence.published = writtenCount
        evidence.inputs = try reader.inputs(topics.requests)
        let results = try reader.results(topics.results)
        (evidence.results, evidence.wholes, evidence.parts) = (results.final, results.wholes, results.parts)
        evidence.usersOfLarge = scenario.workload.usersOfLarge
        if scenario.tracksOutcomes { evidence.outcomes = results.outcomes }
        evidence.deadLetters = try reader.deadLetters(topics.deadLetters)
        evidence.positions = try reader.positions(topics.requests, group: topics.group, partitions: scenario.partitions)
        evidence.calls = try Journal.calls(at: hub.journal)
        if let secondHub {
            for var call in try Journal.calls(at: secondHub.journal) {
                call.isOfSecondHub = true
                evidence.calls.append(call)
            }
            // In the order of the answers.
            evidence.calls.sort { $0.at < $1.at }
        }
        evidence.hasMarkers = scenario.workload.transactionSize > 0
        evidence.maxInFlight = scenario.maxInFlight
        evidence.hubDelay = Self.hubDelay
        for worker in workers {
            let record = worker.record
            evidence.disturbances += record.disturbances
            evidence.crashes += record.crashes
            evidence.uncleanExits += record.uncleanExits
        }
        if scenario.broker != .shared { evidence.tornTransactions = broker.tornTransactions(group: topics.group) }
        (evidence.resumption, evidence.wholeResumption) = (watch.resumption, watch.wholeResumption)
        evidence.outage = state.withLock { $0.outage }
        evidence.setApart(try reader.replays(topics.requestsOwn))
        if scenario.workload.repeatEvery > 0 { evidence.setRepetitionsApart() }
        try addHTTP(to: &evidence)
        return evidence
    }
}
