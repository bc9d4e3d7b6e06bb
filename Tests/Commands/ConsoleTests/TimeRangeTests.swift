import Foundation
import Kafka
import TestSupport
import Testing

@testable import Console

/// Needs a real broker: the embedded one knows no offsets for times.
@Suite(.needsKafka, .serialized)
struct TimeRangeTests {
    private static let hour: Int64 = 3_600_000
    private let topic = "console-tests-\(UUID().uuidString)"
    private let now: Int64

    private var harness: Harness {
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = TestVariables.kafka
        let now = now
        harness.now = { now }
        return harness
    }

    init() throws {
        now = Int64(Date().timeIntervalSince1970 * 1000)
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? ""))
        let new = NewTopic(name: topic, partitionCount: 3, replicationFactor: 1)
        #expect(try admin.createTopics([new], timeout: farDeadline) == [.created])
        let deadline = ContinuousClock.now + farDeadline
        while try admin.describe(topics: [topic], timeout: farDeadline).topics != [.existing(partitionCount: 3)] {
            try #require(ContinuousClock.now < deadline)
        }
    }

    /// Writes one result an hour for `count` hours, the last an hour ago, each to the next partition.
    private func write(hours count: Int, padding: Int = 1) throws {
        let producer = try Producer(KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? ""), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [self.topic], timeout: farDeadline).first)
        for hour in (1...count).reversed() {
            for copy in 0..<padding {
                let json =
                    #"{"request_id":"h\#(hour)","kind":"final","state":"\#(copy == 0 ? "failed" : "sent")","at":"\#(hour)"}"#
                try producer.produce(
                    to: topic, partition: Int32(hour % 3), key: nil, value: Array(json.utf8).span,
                    timestamp: now - Int64(hour) * Self.hour)
            }
        }
        try producer.flush(timeout: farDeadline)
    }

    private func ids(_ line: String) -> [String] {
        let outcome = harness.run("\(line) --results-topic \(topic) -o csv")
        return outcome.lines.dropFirst().map { String($0.split(separator: ",").dropFirst().first ?? "") }
    }

    @Test func aRangeHoldsItsFirstMomentAndNotItsLast() throws {
        try write(hours: 10)
        #expect(ids("results list since:3h") == ["h3", "h2", "h1"])
        #expect(ids("results list since:5h until:3h") == ["h5", "h4"])
        #expect(ids("results list until:8h") == ["h10", "h9"])
        #expect(ids("results list since:5h until:3h -n 1") == ["h4"])
        #expect(ids("results list --since 2h") == ["h2", "h1"])
        #expect(harness.run("results list since:30m --results-topic \(topic)").code == .nothingMatched)
        let failed = harness.run("failed since:5h until:3h --results-topic \(topic) -o csv")
        #expect(failed.lines.last?.hasPrefix("2,") == true)
        #expect(failed.messages.hasPrefix("2 of 2 results"), "what lies outside is not counted: \(failed.messages)")
    }

    /// More records than are read at once, so that the newest are looked for piece by piece.
    @Test func aLongTopicIsReadBackwardsWithoutAGap() throws {
        try write(hours: 240, padding: 300)
        #expect(ids("results list state:failed -n 3") == ["h3", "h2", "h1"])
        #expect(ids("results list state:failed -n 240") == (1...240).reversed().map { "h\($0)" })
        #expect(ids("results list state:failed request:h200") == ["h200"])
        #expect(ids("results list state:failed since:170h until:168h") == ["h170", "h169"])
        let shown = harness.run("results show h230 --results-topic \(topic) -o ndjson")
        #expect(shown.lines.count == 300)
        #expect(harness.run("failed --results-topic \(topic)").messages.hasPrefix("240 of 72000 results"))
    }

    @Test func aReaderStopsWhereItIsTold() throws {
        try write(hours: 9)
        let configuration = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
        let newer = try TopicReader(
            configuration, topic: topic, start: .time(now - 4 * Self.hour), stop: .end, timeout: farDeadline)
        let older = try TopicReader(
            configuration, topic: topic, start: .beginning, stop: .offsets(newer.startOffsets), timeout: farDeadline)
        let range = try TopicReader(
            configuration, topic: topic, start: .time(now - 6 * Self.hour), stop: .time(now - 4 * Self.hour),
            timeout: farDeadline)
        #expect(newer.remainingCount == 4 && older.remainingCount == 5 && range.remainingCount == 2)
        for (reader, count) in [(newer, 4), (older, 5), (range, 2)] {
            var seen = 0
            let deadline = ContinuousClock.now + farDeadline
            while !reader.hasReachedEnd, ContinuousClock.now < deadline {
                _ = reader.read(timeout: .milliseconds(100)) { _ in seen += 1 }
            }
            #expect(seen == count)
            reader.close()
        }
    }
}
