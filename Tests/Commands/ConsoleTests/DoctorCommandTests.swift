import Delivery
import Foundation
import Kafka
import Settings
import TestSupport
import Testing

@testable import Console
@testable import JobSupport
@testable import KafkaCare

@Suite struct DoctorCommandTests {
    /// It creates topics with 4 partitions when they are asked about, and tells no settings.
    @Test(.takesLong) func theEmbeddedBrokerIsExaminedAsFarAsItAnswers() throws {
        let broker = try Broker()
        let outcome = broker.harness.run("doctor -o ndjson --timeout 20s")
        #expect(outcome.code == .failed)
        func finding(_ check: String, _ subject: String, _ state: String) -> Bool {
            outcome.lines.contains { $0.hasPrefix(#"{"check":"\#(check)","state":"\#(state)","subject":"\#(subject)""#) }
        }
        #expect(finding("broker", broker.cluster.bootstrapServers, "ok"))
        #expect(finding("topic", "push.requests.v1", "ok"))
        #expect(finding("topic", "push.replays.v1", "failed"))
        #expect(finding("topic", "push.requests.v1", "not_asked"), "its settings")
        #expect(outcome.output.contains(#""finding":"has 4 partitions and must have one"#))
        #expect(outcome.output.contains("its members cannot be listed"))
        let table = broker.harness.run("doctor --timeout 20s")
        #expect(table.output.contains("mend: pushfan topics create --replays-topic NEW-NAME"))
        #expect(table.messages.contains("21 ok, 1 warning, 3 failed, 23 not asked"))
    }

    /// As workers do: a position names the last record that was read, and another record may have its place now.
    @Test(.takesLong, arguments: [false, true]) func theRecordThatAPositionNamesIsRead(isLost: Bool) throws {
        let (broker, topic, time) = (try Broker(), "push.requests.v1", Int64(1_795_262_000_000))
        try broker.write(["a", "b", "c"], to: topic, at: time)
        func mark(_ offset: Int64, _ value: String) -> RecordMark {
            let bytes = Array(value.utf8)
            return RecordMark(offset: offset, time: time, key: bytes.span, value: bytes.span)
        }
        var marks = ReadMarks(mark(0, "a"))
        marks.read(mark(2, isLost ? "lost" : "c"))
        var finished = FinishedOffsets()
        finished.marks = marks
        let configuration = KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers)
        let consumer = try Consumer(configuration, groupID: "g", wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        let commit = OffsetCommit(TopicPartition(topic: topic, partition: 0), offset: 3, metadata: finished.encoded())
        #expect(eventually { (try? consumer.group.commit([commit])) != nil })
        var harness = broker.harness
        harness.environment["PUSHFAN_KAFKA_GROUP_ID"] = "g"
        let output = harness.run("doctor -o ndjson --timeout 20s").output
        #expect(output.contains("is gone from \(topic)[0]") == isLost, "\(output)")
        #expect(output.contains("group start --at finished --replace \(topic):0") == isLost)
        #expect(!output.contains("where partitions begin cannot be learnt") && !output.contains("it is not known yet"))
    }

    @Test(.needsKafka)
    func aRealBrokerIsExaminedAndNothingIsWritten() throws {
        let brokers = TestVariables.kafka ?? ""
        let name = "doctor-tests-\(UUID().uuidString)"
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = brokers
        harness.environment["PUSHFAN_KAFKA_GROUP_ID"] = name
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
        for role in ["requests", "results", "deadletter", "replays"] {
            harness.environment["PUSHFAN_KAFKA_TOPICS_\(role.uppercased())"] = "\(name).\(role)"
        }
        let missing = harness.run("doctor")
        #expect(missing.code == .failed)
        #expect(missing.output.contains("mend: pushfan topics create") && missing.output.contains("no worker is in it"))
        #expect(missing.output.contains("the requests topic is not there"))
        #expect(!missing.output.contains("0 requests wait"), "nobody knows, as long as there is no topic")
        let nowhere = harness.run("status")
        #expect(nowhere.code == .failed)
        #expect(nowhere.messages.contains("there is no topic '\(name).requests'"))
        #expect(harness.run("topics create --partitions 3 --replication 1").code == .done)
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: brokers))
        let deadline = ContinuousClock.now + farDeadline
        while try admin.describe(topics: ["\(name).results"], timeout: farDeadline).topics != [.existing(partitionCount: 3)] {
            try #require(ContinuousClock.now < deadline)
        }
        let again = harness.run("topics create --partitions 4 --replication 1")
        #expect(again.code == .done)
        #expect(again.messages.contains("\(name).requests has 3 partitions, not 4: `kafka-topics.sh"), "\(again.messages)")
        #expect(harness.run("topics create").messages.isEmpty, "no figures were asked for")
        #expect(harness.run("topics check").output.contains(" 1 partition\n"))
        let good = harness.run("doctor --probe-writing")
        #expect(good.code == .done, "\(good.output)")
        #expect(!good.output.contains("failed") && !good.output.contains("rights"), "\(good.output)")
        #expect(good.output.contains("3 partitions, replication 1, delete, kept 7 days"))
        #expect(good.output.contains("no worker is in it"))
        for role in TopicRole.all(try Settings.load(environment: harness.environment).kafka.topics) {
            let marks = try FreshTopics.retrying(unless: { false }) { () throws(KafkaError) in
                try admin.watermarks(ofTopic: role.name, partitionCount: role.partitionCount(3), timeout: farDeadline)
            }
            #expect(marks.allSatisfy { $0.high == 0 }, "the probe left no record in \(role.name)")
        }
        #expect(harness.run("doctor --strict").code == .failed)

        let packer = try Producer(
            KafkaConfiguration(
                bootstrapServers: brokers,
                properties: [
                    .init(key: "compression.type", value: "gzip"), .init(key: "message.max.bytes", value: "10000000"),
                ]), transactionalID: nil)
        defer { packer.close(timeout: .zero) }
        let zeros = [UInt8](repeating: 0, count: 8 << 20)
        let target = try #require(try packer.warmUp(topics: ["\(name).requests"], timeout: farDeadline).first)
        try packer.produce(to: target, key: nil, value: zeros.span)
        try packer.flush(timeout: farDeadline)
        #expect(packer.failedDeliveries.count == 1, "8 KiB of gzip that are 8 MiB of zeros: the broker unpacks and refuses them")

        let producer = try Producer(KafkaConfiguration(bootstrapServers: brokers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["\(name).requests"], timeout: farDeadline).first)
        try producer.produce(
            to: topic, key: nil, value: Array("{}".utf8).span, timestamp: harness.now() + 3_600_000)
        try producer.flush(timeout: farDeadline)
        let waiting = harness.run("doctor")
        #expect(waiting.code == .failed)
        #expect(waiting.output.contains("no worker is in it, and 1 request waits"))
        #expect(waiting.output.contains("ahead of this machine's clock"))
        let status = harness.run("status")
        #expect(status.code == .failed)
        #expect(status.output.contains("stuck: no worker is in the group, and 1 request waits"))

        #expect(!waiting.output.contains("murmur2"))
        let key = Array("order-4711".utf8)
        let named = Producer.partition(ofKey: key.span, of: 3)
        let other = (named + 1) % 3
        for partition in [named, other] {
            try producer.produce(to: topic, partition: partition, key: key.span, value: Array("{}".utf8).span)
        }
        try producer.flush(timeout: farDeadline)
        let scattered = harness.run("doctor")
        let warning =
            "1 of the newest 2 requests with a key are not where murmur2 puts it, as one in partition \(other) instead of \(named)"
        #expect(scattered.output.contains(warning), "\(scattered.output)")
    }

    @Test func aFailureDecidesTheExitCodeAndAWarningOnlyWhenStrict() {
        let warning = Finding.warning("a", of: "", text: "", mend: nil)
        let failure = Finding.failure("a", of: "", text: "", mend: nil, cause: .notAllowed)
        #expect([Finding]().exitCode(isStrict: true) == .done)
        #expect([warning].exitCode(isStrict: false) == .done)
        #expect([warning].exitCode(isStrict: true) == .failed)
        #expect([warning, failure, .failure("b", of: "", text: "", mend: nil)].exitCode(isStrict: true) == .notAllowed)
        #expect([warning, failure].summary == "0 ok, 1 warning, 1 failed, 0 not asked")
    }

    @Test func aWorkersDescriptorsFollowFromItsLoopsAndConnections() throws {
        let settings = try Settings.load(environment: ["PUSHFAN_WORKER_LOOPS": "4", "PUSHFAN_HUB_MAX_CONNECTIONS": "1000"])
        #expect(settings.descriptorsNeeded == 128 + 4 * 1064)
    }
}
