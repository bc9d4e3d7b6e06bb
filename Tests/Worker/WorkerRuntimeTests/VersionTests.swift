import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Workers that meet what another version wrote.
@Suite(.serialized, .tags(.waits))
struct VersionTests {
    /// Writes samples to a partition, as a group's own.
    private static func write(
        _ samples: [Sample], to topic: String, partition: Int32 = 0, of bench: Bench, group: String? = nil
    ) throws {
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let found = try #require(try producer.warmUp(topics: [topic], timeout: farDeadline).first)
        for sample in samples {
            var headers = HeaderList()
            for (name, value) in sample.headers {
                headers.append(name, value: name == "pushfan-group" ? group ?? bench.name : value)
            }
            let (key, value) = (Array((sample.key ?? "").utf8), sample.bytes)
            try producer.produce(to: found, partition: partition, key: key.span, value: value.span, headers: headers)
        }
        try producer.flush(timeout: farDeadline)
    }

    /// A sample with another name in it, and a header that says its version.
    private static func sample(_ name: String, _ old: String = "", _ new: String = "", version: String? = nil) throws -> Sample {
        var sample = try Sample(name)
        if !old.isEmpty {
            sample.value = sample.value.replacing(old, with: new)
            sample.key = sample.key?.replacing(old, with: new)
        }
        if let version { sample.headers.append((name: RecordFormat.header, value: version)) }
        return sample
    }

    private static func committed(_ topic: String, _ bench: Bench) throws -> Int64? {
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        return try consumer.group.committed([TopicPartition(topic: topic, partition: 0)], timeout: farDeadline).first?.offset
    }

    private static func commit(_ position: OffsetCommit, _ bench: Bench) throws {
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        #expect(eventually { (try? consumer.group.commit([position])) != nil })
    }

    private static let request =
        #"{"id":"free","audience":{"categories":["free"]},"platforms":["apple"],"message":{"title":"T"}}"#

    @Test(arguments: brokers) func whatVersion1WroteIsFinished(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        let topics = bench.topics
        try Self.write([Self.sample("part")], to: topics.requestsOwn, of: bench)
        try Self.write([Self.sample("parent"), Self.sample("tally")], to: topics.parents, of: bench)
        try Self.write([Self.sample("delayed")], to: topics.delays[0], of: bench)
        let held = try #require(HeldRules.heldPartition(of: 0, in: .normal))
        try Self.write([Self.sample("held")], to: topics.held, partition: held, of: bench)
        let worker = try bench.startWorker()
        try bench.results(4)
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == ["news", "news.0", "late", "held"])
        #expect(results.values.allSatisfy { $0["state"] == "sent" })
        #expect(results["late"]?["origin.offset"] == "4712" && results["news"]?["labels.campaign"] == "mlb")
    }

    @Test(arguments: brokers) func behindWhatANewerVersionWroteNothingIsReadAndTheRestGoesOn(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        let topics = bench.topics
        try Self.write(
            [
                Self.sample("part", "news", "own-0"), Self.sample("part", "news", "own-1", version: "2"),
                Self.sample("part", "news", "own-2"),
            ], to: topics.requestsOwn, of: bench)
        try Self.write(
            [
                Self.sample("parent"), Self.sample("tally"), Self.sample("parent", "4711", "5000", version: "2"),
                Self.sample("tally", "4711", "5000"),
            ], to: topics.parents, of: bench)
        try Self.write(
            [
                Self.sample("delayed", "late", "late-0"), Self.sample("delayed", "late", "late-1", version: "2"),
                Self.sample("delayed", "late", "late-2"),
            ], to: topics.delays[0], of: bench)
        // Without a position what is finished there would be unknown up to its end, which is not read.
        try Self.commit(OffsetCommit(TopicPartition(topic: topics.parents, partition: 0), offset: 0, metadata: "0"), bench)
        let held = try #require(HeldRules.heldPartition(of: 0, in: .normal))
        try Self.write([Self.sample("held", version: "2")], to: topics.held, partition: held, of: bench)
        try bench.publish(Self.request)
        let worker = try bench.startWorker()
        try bench.results(4)
        let reason = "a newer version wrote offset 1 of \(topics.requestsOwn)[0] (and 3 more)"
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains(reason) == true }
            })
        #expect(eventually { bench.status.statuses.contains { $0.partitions.count(where: \.isLeft) == 4 } })
        try bench.publish(Self.request.replacing("free", with: "later"))
        try bench.results(5)
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["own-0.0", "news", "late-0", "free", "later"])
        #expect(bench.hub.calls().count == 4, "the large request was sent before")
        #expect(try bench.readAll(topics.deadLetters).isEmpty)
        #expect(try Self.committed(topics.requestsOwn, bench) == 1)
        #expect(try Self.committed(topics.delays[0], bench) == 1)
        #expect(try Self.committed(topics.parents, bench) == 2)
        // Whoever comes next begins in front of it again.
        let next = try bench.startWorker()
        #expect(
            eventually {
                next.report(.ready).checks.contains { $0.reason?.contains(reason) == true }
            })
        try next.stop()
        #expect(bench.hub.calls().count == 4)
    }

    /// A lane is shared by groups, whose fleets are upgraded at different times.
    @Test func whatANewerVersionWroteForAnotherGroupIsPassedOver() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let lane = bench.topics.delays[0]
        try Self.write([Self.sample("delayed", "late", "theirs", version: "2")], to: lane, of: bench, group: "theirs")
        try Self.write([Self.sample("delayed")], to: lane, of: bench)
        let worker = try bench.startWorker()
        try bench.results(1)
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["late"])
    }

    /// Anybody who publishes may give a request any header.
    @Test func aPublishersHeaderStopsNothing() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        #expect(eventually { worker.report(.ready).passes })
        var moment = ByteWriter()
        moment.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 60_000))
        let waiting = Self.request.replacing(#""id":"free""#, with: #""id":"waits","not_before":"\#(moment.text)""#)
        for request in [waiting, Self.request] { try bench.publish(request, headers: [(RecordFormat.header, "9")]) }
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 2 })
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == ["waits", "free"])
        let lane = try bench.readAll(bench.topics.delays[0])
        #expect(lane.contains { $0.header("pushfan-origin-offset") != nil })
        #expect(lane.allSatisfy { $0.header(RecordFormat.header) == nil })
    }
}
