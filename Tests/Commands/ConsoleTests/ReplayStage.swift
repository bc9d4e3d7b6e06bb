import Delivery
import Foundation
import Kafka
import TestSupport
import Testing

@testable import Console

/// Topics of their own on a real broker, with requests and results in them; replays need transactions, which the embedded broker lacks.
struct ReplayStage {
    let name = "replay-tests-\(UUID().uuidString)"
    let folder: String
    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    var traits = Streams.Traits()
    var typed: String?

    var requests: String { name + ".requests" }
    var results: String { name + ".results" }

    // Topics beyond those that replays need can be had by their roles.
    init(_ more: [String] = []) throws {
        folder = NSTemporaryDirectory() + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let topics = (["requests", "requests-own", "results", "deadletter", "replays", "control"] + more).map {
            NewTopic(name: "\(name).\($0)", partitionCount: Int(partitionCount(of: $0)), replicationFactor: 1)
        }
        let admin = try TopicAdmin(kafka)
        try admin.createKnown(topics)
    }

    /// Deletes a topic and makes it again, without records.
    func remake(_ role: String) throws {
        let topic = NewTopic(name: "\(name).\(role)", partitionCount: Int(partitionCount(of: role)), replicationFactor: 1)
        let admin = try TopicAdmin(kafka)
        #expect(try admin.deleteTopics([topic.name], timeout: farDeadline).isEmpty)
        // What is written while the old one is still there is lost with it.
        #expect(try eventually { try admin.describe(topics: [topic.name], timeout: farDeadline).topics == [.missing] })
        try #require(eventually { try admin.createTopics([topic], timeout: farDeadline) == [.created] })
        try admin.createKnown([topic])
    }

    /// The plan's file.
    var plan: String { folder + "/plan.ndjson" }

    var harness: Harness {
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = TestVariables.kafka
        harness.environment["USER"] = "ann"
        for role in ["requests", "results", "deadletter", "replays", "control"] {
            harness.environment["PUSHFAN_KAFKA_TOPICS_\(role.uppercased())"] = "\(name).\(role)"
        }
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
        harness.traits = traits
        harness.typed = typed
        return harness
    }

    /// Runs `pushfan replay …`; the words are split at blanks, and `PLAN` stands for the plan's file.
    func replay(_ line: String) -> Outcome {
        let words = line.split(separator: " ").map { $0 == "PLAN" ? plan : String($0) }
        return harness.run(["replay"] + words)
    }

    /// Writes records; partition and value of each.
    func write(
        _ role: String, _ records: [(partition: Int32, value: String)], key: String = "key", headers: [(String, String)] = []
    ) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: ["\(name).\(role)"], timeout: farDeadline).first)
        for (partition, value) in records {
            var list = HeaderList()
            for (name, value) in headers { list.append(name, value: value) }
            try producer.produce(
                to: topic, partition: partition, key: Array(key.utf8).span, value: Array(value.utf8).span, headers: list)
        }
        try producer.flush(timeout: farDeadline)
    }

    /// Everything that stands in a topic, as soon as there is so much of it.
    func read(_ role: String, atLeast count: Int = 0) throws -> [Record] {
        try Record.all(of: "\(name).\(role)", kafka, atLeast: count)
    }

    /// The requests that replays have written, as soon as there are so many.
    func replayed(atLeast count: Int = 0) throws -> [Record] { try read("requests-own", atLeast: count) }

    private func partitionCount(of role: String) -> Int32 { role == "replays" || role == "control" ? 1 : 3 }

    /// `count` requests for Apple and Windows in partition 0, and their results.
    func writeHistory(_ count: Int, _ outcomes: (Int) -> (apple: String, windows: String), extra: String = "") throws {
        try write(
            "requests",
            (0..<count).map {
                (
                    0,
                    #"{"id":"r\#($0)","audience":{"users":["u\#($0)"]},"platforms":["apple","windows"],"message":{"title":"Hi"}\#(extra)}"#
                )
            })
        try write("results", (0..<count).map { (Int32($0 % 3), result($0, outcomes($0))) })
    }

    /// The result of the request at offset `index`.
    func result(_ index: Int, _ outcomes: (apple: String, windows: String)) -> String {
        let words = [outcomes.apple, outcomes.windows]
        let good = words.count { $0 == "success" }
        return """
            {"schema_version":1,"request_id":"r\(index)","kind":"final","state":"\(good == 2 ? "sent" : good == 1 ? "partial" : "failed")",\
            "outcome":"transient","replay_safety":"safe","sends":[{"index":0,"platform":"apple","outcome":"\(outcomes.apple)"},\
            {"index":1,"platform":"windows","outcome":"\(outcomes.windows)"}],"targets":{"planned":2},\
            "origin":{"topic":"\(requests)","partition":0,"offset":"\(index)"}}
            """
    }

    /// What the counts of a plan, or the line of a job, say of a number.
    func count(_ name: String, _ outcome: Outcome) -> Int? {
        let counts = outcome.output.range(of: #""counts":{"#)?.upperBound ?? outcome.output.startIndex
        guard let range = outcome.output[counts...].range(of: "\"\(name)\":")
        else { return nil }
        return Int(outcome.output[range.upperBound...].prefix { $0.isNumber })
    }
}
