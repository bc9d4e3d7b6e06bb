import Foundation
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console

@Suite(.serialized) struct EnqueueTests {
    /// No worker would read such a part.
    @Test(arguments: [["--dry-run"], ["--timeout", "1s"]])
    func aRequestWhosePartsWouldRepeatTooMuchIsRefusedBeforeAnythingIsWritten(_ flags: [String]) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("audience")
        try "alice\nbob\n".write(toFile: file, atomically: true, encoding: .utf8)
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:9"
        func enqueue(_ byteCount: Int, _ flags: [String]) throws -> Outcome {
            let ballast = folder.path("ballast")
            try String(repeating: "x", count: byteCount).write(toFile: ballast, atomically: true, encoding: .utf8)
            let content = ["--title", "T", "--platform", "apple", "--payload", "baidu=@\(ballast)"]
            return harness.run(["enqueue", "--audience-file", file] + content + flags)
        }
        let refused = try enqueue(400_000, flags)
        #expect(refused.code == .usage && refused.output.isEmpty)
        #expect(refused.messages.contains("record_too_large") && refused.messages.contains("393216 are allowed"), "\(refused)")
        let taken = try enqueue(390_000, ["--dry-run"])
        #expect(taken.code == .done, "\(taken.messages)")
    }

    @Test func aRequestGoesToKafkaWithItsHeadersAndTheResultComesBack() throws {
        let broker = try Broker()
        let harness = broker.harness
        let brokers = broker.cluster.bootstrapServers
        let worker = Background { try Self.answer(brokers, count: 2) }
        let outcome = harness.run(
            "enqueue --user alice --title Hi --ordering-key o --source /test --repeat 2 --wait -o ndjson")
        try worker.value()
        #expect(outcome.code == .partlyFailed)
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines.count { $0.contains(#""state":"sent""#) } == 1)
        #expect(outcome.lines.count { $0.contains(#""error":"hub_throttled""#) } == 1)
        #expect(outcome.messages.contains("1 request failed (hub_throttled): m\n\(ErrorCode.hubThrottled.explanation.remedy)\n"))
        #expect(outcome.messages.contains("`pushfan results show "))
        let records = try broker.read("push.requests.v1", count: 2)
        try #require(records.count == 2)
        for record in records {
            #expect(record.key == "o")
            #expect(record.headers["content-type"] == "application/json")
            #expect(record.headers["ce_type"] == "push.request.v1")
            #expect(record.headers["ce_source"] == "/test")
            let id = try #require(record.headers["ce_id"])
            #expect(record.value.hasPrefix(#"{"id":"\#(id)","#))
            let place =
                #"{"id":"\#(id)","topic":"push.requests.v1","partition":\#(record.partition),"offset":"\#(record.offset)""#
            #expect(outcome.output.contains(place))
        }
        let ids = records.compactMap { $0.headers["ce_id"] }
        let list = harness.run("results list")
        #expect(list.code == .done)
        #expect(ids.allSatisfy { list.output.contains($0) })
        let shown = harness.run("results show \(ids[1])")
        #expect(shown.code == .done)
        #expect(shown.output.contains("request  \(ids[1])"))
        #expect(harness.run("results list --state sent -o ndjson").lines.count == 1)
        #expect(harness.run("results list --state sent,failed --outcome success,throttled -o ndjson").lines.count == 2)
        #expect(harness.run("results list --hub nowhere").code == .nothingMatched)
        #expect(harness.run("results show nobody").code == .nothingMatched)
    }

    @Test func aPublisherThatMustNotReadIsToldThePlaces() throws {
        let broker = try Broker()
        // Whoever fetches records, or asks where a partition ends, is refused: TOPIC_AUTHORIZATION_FAILED.
        for apiKey in [1, 2] as [Int16] {
            broker.cluster.failNext(apiKey: apiKey, codes: Array(repeating: 29, count: 100))
        }
        let outcome = broker.harness.run("enqueue --user a --title x --ordering-key o --repeat 3 -o ndjson")
        #expect(outcome.code == .done)
        #expect(outcome.messages == "3 requests written to push.requests.v1\n")
        #expect(outcome.lines.count == 3)
        for (number, line) in outcome.lines.enumerated() {
            #expect(line.contains(#""topic":"push.requests.v1","partition":"#) && line.hasSuffix(#""offset":"\#(number)"}"#))
        }
    }

    @Test func thePriorityChoosesTheLane() throws {
        let broker = try Broker()
        let lanes = ["high": "push.requests-high.v1", "normal": "push.requests.v1", "low": "push.requests-bulk.v1"]
        for lane in ["high", "low"] { try broker.cluster.createTopic(try #require(lanes[lane]), partitions: 2) }
        var harness = broker.harness
        harness.input = lanes.keys.sorted().map {
            #"{"id":"\#($0)","audience":{"users":["a"]},"message":{"title":"x"},"priority":"\#($0)"}"#
        }.joined(separator: "\n")
        let planned = harness.run("enqueue - --dry-run -o ndjson")
        let outcome = harness.run("enqueue - -o ndjson")
        #expect(outcome.code == .done)
        #expect(
            outcome.messages == "3 requests written to push.requests-high.v1 and push.requests.v1 and push.requests-bulk.v1\n")
        for (priority, topic) in lanes {
            #expect(try broker.read(topic, count: 1).map(\.key) == [priority], "\(topic)")
            #expect(outcome.output.contains(#"{"id":"\#(priority)","topic":"\#(topic)","#), "\(outcome.output)")
            #expect(planned.lines.contains { $0.hasPrefix(#"{"topic":"\#(topic)","key":"\#(priority)","#) }, "\(planned.output)")
        }
    }

    @Test func nothingIsSentWhenOneOfThemIsWrong() throws {
        let broker = try Broker()
        var harness = broker.harness
        harness.input = """
            {"id":"good-1","audience":{"users":["a"]},"message":{"title":"x"}}
            {"audience":{},"message":{"title":"x"}}
            {"id":"good-2","audience":{"broadcast":true},"template":{"a":"b"}}
            """
        let refused = harness.run("enqueue -")
        #expect(refused.code == .usage)
        #expect(refused.messages.contains("standard input:2: /audience"))
        #expect(refused.output.isEmpty)
        #expect(try broker.read("push.requests.v1", count: 1).isEmpty)
        let sent = harness.run("enqueue - --keep-going -o ndjson")
        #expect(sent.code == .partlyFailed)
        #expect(sent.lines.count == 2)
        let values = try broker.read("push.requests.v1", count: 2).map(\.value)
        let lines = harness.input.split(separator: "\n").map { String($0) }
        #expect(Set(values) == [lines[0], lines[2]])
    }

    @Test(.takesLong) func resultsThatDoNotComeInTimeAreTemporary() throws {
        let broker = try Broker()
        let outcome = broker.harness.run("enqueue --user a --title x --wait --timeout 20s")
        #expect(outcome.code == .temporary)
        #expect(outcome.output.contains("none yet"))
    }

    @Test func quietSaysOnlyHowMany() throws {
        let broker = try Broker()
        let outcome = broker.harness.run("enqueue --user a --title x --repeat 250 --rate 5000 --quiet")
        #expect(outcome.code == .done)
        #expect(outcome.output.isEmpty)
        #expect(outcome.messages.contains("250 requests written"))
        let ids = try broker.read("push.requests.v1", count: 250).compactMap { $0.headers["ce_id"] }
        #expect(Set(ids).count == 250)
    }

    /// Plays a worker: the first request is sent, every other is throttled to the end.
    private static func answer(_ brokers: String, count: Int) throws {
        let configuration = KafkaConfiguration(bootstrapServers: brokers)
        let reader = try TopicReader(configuration, topic: "push.requests.v1", start: .beginning, timeout: farDeadline)
        let producer = try Producer(configuration, transactionalID: nil)
        let topic = try producer.topic(named: "push.results.v1")
        var answered = 0
        var emptyCount = 0
        while answered < count && emptyCount < 200 {
            var id: String?
            let result = reader.read(timeout: .milliseconds(100)) { id = Record($0).headers["ce_id"] }
            if result == .empty { emptyCount += 1 }
            guard let id else { continue }
            let end =
                answered == 0
                ? #""sent","outcome":"success""#
                : #""failed","outcome":"throttled","error":{"code":"hub_throttled","message":"m"}"#
            let json =
                #"{"schema_version":1,"request_id":"\#(id)","kind":"final","hub":"demo","state":\#(end),"attempt_count":1,"at":"t"}"#
            try producer.produce(to: topic, key: Array(id.utf8).span, value: Array(json.utf8).span)
            try producer.flush(timeout: farDeadline)
            answered += 1
        }
        reader.close()
        producer.close(timeout: .zero)
    }
}
