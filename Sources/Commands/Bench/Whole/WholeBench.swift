import Basics
import Console
import Delivery
import EventLoop
import Foundation
import HTTPServing
import HubEmulator
import HubServer
import Kafka
import Observability
import Settings
import WorkerRuntime

/// Measures a worker as its users run it: a process of its own, a broker, and an emulated hub that answers at once.
struct WholeBench {
    struct Plan {
        var requests: Int
        var partitions: Int
        /// Requests a second while latency is measured.
        var rate: Double

        /// The numbers of the requests whose latency is measured: those behind the backlog, because a repetition makes no hub call.
        func latencyNumbers(rate: Double) -> Range<Int> { requests..<requests + Int(rate * WholeBench.latencySeconds) }
    }

    /// What came out.
    struct Outcome {
        var setting: BenchReport.Setting
        var backlog: BacklogFigure
        var latency: LatencyFigure
        var allocations: AllocationFigure?
    }

    /// Seconds for which latency is measured.
    private static let latencySeconds = 5.0
    /// Requests of the run in which allocations are counted, at most.
    private static let countedRequests = 10_000

    let plan: Plan
    let broker: BenchBroker
    let hub: BenchHub
    let run: String
    let environment: WorkerEnvironment
    let say: @Sendable (String) -> Void

    /// Makes sure that there can be something to measure: settings without a fault, and a broker that answers.
    func check() throws(CommandFailure) {
        var own = environment
        let topics = BenchBroker.topics("pushfan-bench")
        own.connect(to: broker, topics: topics, hub: hub.connectionString, name: "pushfan-bench")
        _ = try own.settings()
        try broker.ask()
    }

    /// Measures throughput and latency with one worker, and allocations with another.
    func measure() throws -> Outcome {
        let topics = try broker.makeTopics("main", partitions: plan.partitions)
        let feed = try feed(topics)
        defer { feed.close() }
        say("publishing \(plan.requests) requests")
        try feed.publish(plan.requests)
        var own = environment
        own.connect(to: broker, topics: topics, hub: hub.connectionString, name: "pushfan-bench.\(run).main")
        let port = try Self.freePort()
        own.set("listen", to: "127.0.0.1:\(port)")
        let settings = try own.settings()
        let worker = try ChildProcess(["worker"], environment: own.all, name: "pushfan-bench.\(run)")
        defer { worker.stop() }
        say("a worker takes them, \(settings.worker.maxInFlightOfAll) in flight")
        let metrics = try MetricsReader(port: port)
        defer { metrics.close() }
        let backlog = try BacklogRun(count: plan.requests, limit: settings.worker.maxInFlightOfAll).watch(
            worker, metrics: metrics)
        let latency = try measureLatency(feed, topics: topics, capacity: backlog.requestsPerSecond)
        return Outcome(
            setting: setting(settings), backlog: backlog, latency: latency,
            allocations: try countAllocations(min(plan.requests, Self.countedRequests)))
    }

    private func measureLatency(
        _ feed: RequestFeed, topics: Topics, capacity: Double
    ) throws -> LatencyFigure {
        // Half of what the worker can take, or else the queue in front of it is measured.
        let rate = min(plan.rate, max(10, capacity / 2)).rounded()
        say("publishing \(Int(rate)) requests a second for \(Int(Self.latencySeconds)) s")
        let results = try TopicReader(broker.kafka, topic: topics.results, start: .end, timeout: .seconds(10))
        defer { results.close() }
        return try LatencyRun(rate: rate, numbers: plan.latencyNumbers(rate: rate)).run(feed, results: results, hub: hub)
    }

    /// Counts the allocations of a worker in this process that takes `count` requests; nil where they cannot be counted.
    private func countAllocations(_ count: Int) throws -> AllocationFigure? {
        guard AllocationCounter.made != nil else { return nil }
        say("counting the allocations of \(count) requests, with a worker in this process")
        let topics = try broker.makeTopics("counted", partitions: plan.partitions)
        let feed = try feed(topics)
        try feed.publish(count)
        feed.close()
        // The bench's own hub would be counted, too.
        let port = try Self.freePort()
        var own = environment
        let key = HubEmulatorConfiguration.defaultPolicy
        let connection = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=\(key.name);SharedAccessKey=\(key.key)"
        let child = try ChildProcess(
            ["emulator", "--listen", "127.0.0.1:\(port)", "--hub-name", BenchHub.name, "--record", "off"],
            environment: environment.plain,
            name: "pushfan-bench.\(run).hub")
        defer { child.stop() }
        let deadline = MonotonicTime.now().advanced(by: .seconds(10))
        // It prints its connection string when it serves.
        while !child.said.contains("Endpoint=") && child.isRunning && MonotonicTime.now() < deadline { usleep(10_000) }
        own.connect(to: broker, topics: topics, hub: connection, name: "pushfan-bench.\(run).counted")
        return try CountedRun(count: count).run(own)
    }

    /// Takes a worker in this process through fixed courses of work.
    func runLoop() throws -> LoopRun.Report {
        let topics = try broker.makeTopics("loop", partitions: plan.partitions)
        let feed = try feed(topics)
        defer { feed.close() }
        var own = environment
        own.connect(to: broker, topics: topics, hub: hub.connectionString, name: "pushfan-bench.\(run).loop")
        own.set("worker.loops", to: "1")
        own.set("worker.commit_interval", to: "\(LoopRun.commitInterval.components.seconds)s")
        // A counter makes everything fifty times slower, and must not be busy with empty fetches.
        own.set("kafka.session_timeout", to: "60s")
        if broker.isEmbedded { own.set("kafka.properties", to: "fetch.wait.max.ms=200,queued.min.messages=20000") }
        return try LoopRun(own, feed: feed, partitions: plan.partitions).run(plan.requests)
    }

    /// What a transaction costs; nil on the embedded broker, which has none.
    func measureTransaction() throws -> StageFigure? {
        guard !broker.isEmbedded else { return nil }
        say("making transactions")
        let topics = try broker.makeTopics("commit", partitions: plan.partitions)
        return try freshly {
            try TransactionRun(kafka: broker.kafka, topic: topics.results, name: "pushfan-bench.\(run).commit").run()
        }
    }

    private func setting(_ settings: Settings) -> BenchReport.Setting {
        BenchReport.Setting(
            broker: broker.name, guarantee: settings.kafka.guarantee.rawValue, requests: plan.requests,
            partitions: plan.partitions, maxInFlight: settings.worker.maxInFlightOfAll,
            maxConnections: settings.hub.maxConnections * settings.worker.loops,
            commitIntervalMilliseconds: settings.worker.commitInterval / .milliseconds(1), logLevel: settings.log.level.word,
            processorCount: ProcessInfo.processInfo.activeProcessorCount)
    }

    private func feed(_ topics: Topics) throws -> RequestFeed {
        try freshly { try RequestFeed(broker.kafka, topic: topics.requests, partitions: plan.partitions) }
    }

    /// Does something again while topics that were made a moment ago are not known everywhere.
    private func freshly<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = MonotonicTime.now().advanced(by: .seconds(5))
        while true {
            do {
                return try body()
            } catch let error as KafkaError {
                let isFresh = error.isUnknownTopicOrPartition || error.name == "LEADER_NOT_AVAILABLE"
                guard isFresh, MonotonicTime.now() < deadline else { throw error }
            }
            usleep(50_000)
        }
    }

    /// A port that was free a moment ago; the worker needs one, because it logs which one it took at level `info` only.
    private static func freePort() throws(HTTPServingError) -> Int {
        let server = HTTPServer { _ in HTTPServerResponse(status: 503) }
        let port = try server.start().port
        server.stop(within: .zero)
        return port
    }
}
