import Basics
import Foundation
import HubEmulator
import Kafka
import Observability
import Settings
import TestSupport
import Testing
import WorkerRuntime

@testable import Console

/// What `pushfan group start` writes is what a whole fleet goes on with.
@Suite(.needsKafka, .serialized)
struct GroupStartFleetTests {
    /// A worker on a thread of its own.
    private final class Member {
        private let health = Health()
        private let clock = WorkerClock()
        private let worker: Worker
        private let ended = DispatchSemaphore(value: 0)

        init(_ id: String, _ environment: [String: String]) throws {
            var environment = environment
            environment["PUSHFAN_WORKER_ID"] = id
            let settings = try Settings.load(environment: environment, hostName: "host", readFile: { _ in [] })
            let metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
            let log = Log(format: .json, level: .error, now: { 0 }, sink: { _ in })
            var services = WorkerServices(metrics: metrics, log: log, health: health)
            services.clock = clock
            let worker = try Worker(try settings.workerConfiguration(version: "test"), services: services)
            self.worker = worker
            let thread = Thread { [ended] in
                try? worker.run()
                ended.signal()
            }
            thread.start()
        }

        deinit { stop() }

        var isReady: Bool { health.report(.ready, now: clock.monotonic.nanoseconds).passes }

        /// Whether it has partitions that it does not read.
        var refuses: Bool {
            health.report(.ready, now: clock.monotonic.nanoseconds).checks.contains {
                $0.name == "group" && $0.reason?.contains("has no position, some for more than ten minutes") == true
            }
        }

        func stop() {
            worker.stop()
            if ended.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds))) == .success { ended.signal() }
        }
    }

    private static let ids = ["w1", "w2", "w3"]

    /// Two requests in each of three partitions, published two hours ago.
    private static func publish(_ stage: ReplayStage, _ kafka: KafkaConfiguration) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [stage.requests], timeout: farDeadline).first)
        for number in 0..<6 {
            let request =
                #"{"id":"n\#(number)","audience":{"categories":["n\#(number)"]},"platforms":["apple"],"message":{"title":"T"}}"#
            try producer.produce(
                to: topic, partition: Int32(number / 2), key: nil, value: Array(request.utf8).span,
                timestamp: stage.harness.now() - 7_200_000)
        }
        try producer.flush(timeout: farDeadline)
    }

    private static func offsets(_ stage: ReplayStage, _ kafka: KafkaConfiguration) throws -> [Int64?] {
        let consumer = try Consumer(kafka, groupID: stage.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        let partitions = (0..<Int32(3)).map { TopicPartition(topic: stage.requests, partition: $0) }
        return try consumer.group.committed(partitions, timeout: farDeadline).map(\.offset)
    }

    @Test func threeWorkersThatReadNothingGoOnWhereTheCommandSays() throws {
        let stage = try ReplayStage(["delay-10s", "requests-high", "requests-bulk", "handles", "parents"])
        let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(configuration)
        _ = try hub.start()
        defer { hub.stop() }
        var environment = stage.harness.environment
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString
        environment["PUSHFAN_HUB_NAME"] = "demo"
        environment["PUSHFAN_KAFKA_GROUP_ID"] = stage.name
        environment["PUSHFAN_KAFKA_START"] = "safe"
        // The shortest that brokers allow: until it is over, a worker that was stopped counts as a member.
        environment["PUSHFAN_KAFKA_SESSION_TIMEOUT"] = "6s"
        try Self.publish(stage, kafka)
        // The first was finished before the group lost its positions.
        try stage.write(
            "results",
            [
                (
                    0,
                    #"{"schema_version":1,"request_id":"n0","kind":"final","state":"sent","outcome":"success","#
                        + #""origin":{"topic":"\#(stage.requests)","partition":0,"offset":"0"}}"#
                )
            ])
        func start(_ words: String...) -> Outcome {
            let flags = ["--group", stage.name, "-o", "ndjson", "--at", "finished"]
            return stage.harness.run(["group", "start"] + flags + words + [stage.requests])
        }

        var fleet = try Self.ids.map { try Member($0, environment) }
        #expect(eventually { fleet.allSatisfy(\.refuses) }, "each has a partition that it does not read")
        let refused = start()
        #expect(refused.code == .refused && refused.messages.contains("3 workers are in the group"), "\(refused.messages)")
        for member in fleet { member.stop() }
        fleet = []
        #expect(hub.calls().compactMap(\.tags).isEmpty)
        #expect(try Self.offsets(stage, kafka) == [nil, nil, nil])

        var written = refused
        let isWritten = eventually {
            written = start()
            return written.code == .done
        }
        #expect(isWritten, "\(written.messages)")
        #expect(written.messages.contains("3 positions were written: 5 requests will be sent, and 1 lies before"))
        #expect(try Self.offsets(stage, kafka) == [1, 0, 0])

        fleet = try Self.ids.map { try Member($0, environment) }
        #expect(try eventually { try stage.read("results").count >= 6 })
        #expect(eventually { fleet.allSatisfy(\.isReady) })
        for member in fleet { member.stop() }
        #expect(hub.calls().compactMap(\.tags).sorted() == ["n1", "n2", "n3", "n4", "n5"])
        #expect(try stage.read("results").count == 6, "one result for each")
        #expect(try Self.offsets(stage, kafka) == [2, 2, 2])
    }
}
