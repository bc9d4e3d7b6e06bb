import FanOut
import Foundation
import Kafka
import PushModel
import Settings
import TestSupport
import Testing

@testable import Console
@testable import Audiences
@testable import JobSupport

/// One request whose audience is a file, on a real broker: the embedded one has no transactions.
@Suite(.needsKafka, .serialized)
struct AudienceEnqueueTests {
    private static func stage() throws -> (ReplayStage, Harness) {
        let stage = try ReplayStage()
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? ""))
        let names = ["requests-own", "parents"].map { "\(stage.name).\($0)" }
        try admin.createKnown(names.map { NewTopic(name: $0, partitionCount: 3, replicationFactor: 1) })
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = TestVariables.kafka
        harness.environment["PUSHFAN_KAFKA_TOPICS_REQUESTS"] = stage.requests
        harness.environment["PUSHFAN_KAFKA_TOPICS_RESULTS"] = stage.results
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
        return (stage, harness)
    }

    private static func file(_ stage: ReplayStage, _ count: Int) throws -> String {
        let path = stage.folder + "/users.csv"
        try Data((0..<count).map { "u\($0)\n" }.joined().utf8).write(to: URL(filePath: path))
        return path
    }

    /// The parts that were written, by their numbers; one that stands there twice is a failure.
    private static func parts(_ stage: ReplayStage) throws -> [Int: PushRequest] {
        var found: [Int: PushRequest] = [:]
        for record in try stage.read("requests-own", atLeast: 13) {
            var request = PushRequest()
            let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
            let reading = RequestReader(.strict, from: .own).read(
                Array(record.value.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
            #expect(reading == .request)
            let part = try #require(PartReference(of: request))
            #expect(found.updateValue(request, forKey: part.chunk) == nil, "part \(part.chunk) is there twice")
        }
        return found
    }

    @Test func aFileBecomesPartsThatAreWrittenOnce() throws {
        let (stage, harness) = try Self.stage()
        let path = try Self.file(stage, 1234)
        let line = "enqueue --audience-file \(path) --title News --ttl 1h --label campaign=c -o ndjson"
        let outcome = harness.run(line)
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains(#""state":"enqueued","lines":1234,"names":1234"#))
        #expect(outcome.output.contains(#""parts":13,"calls":186,"resumed_at":0,"written":13"#))
        let parts = try Self.parts(stage)
        #expect(parts.keys.sorted() == Array(0..<13))
        let names = parts.sorted { $0.key < $1.key }.flatMap { _, request -> [String] in
            guard case .users(let list) = request.audience else { return [] }
            var names: [String] = []
            request.document.forEachElement(of: list) { names.append(request.document.string(request.document.text(of: $0))) }
            return names
        }
        #expect(names == (0..<1234).map { "u\($0)" })
        // The same command once more writes nothing; another identity makes it another request.
        let again = harness.run(line)
        #expect(again.code == .done && again.output.contains(#""state":"enqueued_before""#))
        #expect(try Self.parts(stage).count == 13)
        var parent: Record?
        _ = try eventually {
            parent = try stage.read("parents").first {
                $0.key?.hasPrefix(":file:file-") == true && $0.key?.contains("/") == false
            }
            return parent != nil
        }
        let read = ParentRecord(Array(try #require(parent).value.utf8).span)
        #expect(read?.chunks == 13 && read?.calls == 186)
    }

    /// Each part fits into a record, but no two of them into a batch.
    @Test func whatATopicDoesNotTakeIsToldBeforeAnythingIsWritten() throws {
        let (stage, base) = try Self.stage()
        let prefix = stage.name + ".small"
        let limit = KafkaConfiguration.Property(key: "max.message.bytes", value: "6000")
        let admin = try TopicAdmin(KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? ""))
        try admin.createKnown(
            [
                NewTopic(name: prefix + ".requests", partitionCount: 1, replicationFactor: 1),
                NewTopic(name: prefix + ".requests-own", partitionCount: 1, replicationFactor: 1, configuration: [limit]),
                NewTopic(name: prefix + ".parents", partitionCount: 1, replicationFactor: 1),
            ])
        var harness = base
        harness.environment["PUSHFAN_KAFKA_TOPICS_REQUESTS"] = prefix + ".requests"
        // Names that no compression makes much shorter.
        let names = (0..<1000).map { _ in UUID().uuidString }
        let path = stage.folder + "/names.csv"
        try Data(names.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        let words = ["enqueue", "--audience-file", path, "--title", "News", "--id", "long", "-o", "ndjson"]
        let refused = harness.run(words + ["--body", names[..<56].joined()])
        #expect(refused.code == .refused && refused.output.isEmpty, "\(refused.messages)")
        #expect(refused.messages.contains("\(prefix).requests-own may have"), "\(refused.messages)")
        #expect(refused.messages.contains("its max.message.bytes is 6000"))
        // Nothing was begun under this id.
        let taken = harness.run(words)
        #expect(taken.code == .done && taken.output.contains(#""parts":10"#), "\(taken.messages)")
        #expect(taken.output.contains(#""resumed_at":0,"written":10"#), "\(taken.output)")
    }

    @Test func eachPartForASpreadNamesTheHubOfItsUsers() throws {
        var (stage, harness) = try Self.stage()
        let path = try Self.file(stage, 1234)
        let settings = stage.folder + "/pushfan.yaml"
        let yaml = "hubs: {a: {}, b: {}}\nspreads: {all: [a, b]}\ndefault_hub: all\n"
        try yaml.write(toFile: settings, atomically: true, encoding: .utf8)
        harness.environment["PUSHFAN_CONFIG"] = settings
        let line = "enqueue --audience-file \(path) --title News --id shared -o ndjson"
        let outcome = harness.run(line)
        #expect(outcome.code == .done, "\(outcome.messages)")
        let spread = HubSpread(["a", "b"])
        var names: [String] = []
        for request in try Self.parts(stage).values {
            let hub = request.document.string(try #require(request.hub))
            guard case .users(let list) = request.audience else { continue }
            request.document.forEachElement(of: list) { element in
                let name = request.document.string(request.document.text(of: element))
                let place = spread.hub(of: Array(name.utf8).span)
                #expect(spread.hubs.indices.contains(place) && spread.hubs[place] == hub)
                names.append(name)
            }
        }
        #expect(names.sorted() == (0..<1234).map { "u\($0)" }.sorted())
        #expect(harness.run(line).output.contains(#""state":"enqueued_before""#))
        // Other hubs would divide it otherwise.
        try yaml.replacing("[a, b]", with: "[b, a]").write(toFile: settings, atomically: true, encoding: .utf8)
        #expect(harness.run(line).code == .refused)
    }

    @Test func aRunThatWasInterruptedGoesOnWhereItWas() throws {
        let (stage, harness) = try Self.stage()
        let path = try Self.file(stage, 60_000)
        // What a run has left that was killed after its first transaction.
        let context = try Self.context(harness)
        let request = Array(#"{"id":"mine","schema_version":1,"audience":{"users":["sample"]},"message":{"title":"News"}}"#.utf8)
        let planned = harness.run("enqueue --audience-file \(path) --title News --id mine --dry-run -o ndjson")
        #expect(planned.output.contains(#""state":"dry_run""#) && planned.output.contains(#""parts":600"#))
        do {
            let session = try AudienceSession(for: "mine", context: context)
            #expect(session.found == nil)
            var progress = AudienceProgress(request: request, digest: "other", publishedAt: 0, partition: 0, parts: 600)
            progress.next = 3
            try session.begin()
            try session.commit(progress)
        }
        let refused = harness.run("enqueue --audience-file \(path) --title News --id mine")
        #expect(refused.code == .refused, "\(refused.messages)")
        let first = harness.run("enqueue --audience-file \(path) --title News --id other -o ndjson")
        #expect(first.code == .done && first.output.contains(#""written":600"#))
        let session = try AudienceSession(for: "other", context: context)
        var found = try #require(session.found)
        #expect(found.isComplete && found.parts == 600)
        // As if the last transactions had never been.
        found.next = 590
        try session.begin()
        try session.commit(found)
        let second = harness.run("enqueue --audience-file \(path) --title News --id other -o ndjson")
        #expect(second.output.contains(#""resumed_at":590,"written":10"#))
    }

    @Test func theLaterOfTwoRunsFencesTheEarlier() throws {
        let (_, harness) = try Self.stage()
        let context = try Self.context(harness)
        let first = try AudienceSession(for: "mine", context: context)
        let second = try AudienceSession(for: "mine", context: context)
        let progress = AudienceProgress(request: Array("{}".utf8), digest: "d", publishedAt: 0, partition: 1, parts: 2)
        #expect(throws: KafkaError.self) {
            try first.begin()
            try first.commit(progress)
        }
        try second.begin()
        try second.commit(progress)
        let third = try AudienceSession(for: "mine", context: context)
        #expect(third.found == progress)
    }

    private static func context(_ harness: Harness) throws -> JobContext {
        let settings = try Settings.load(environment: harness.environment)
        return JobContext(
            kafka: settings.kafkaConfiguration(), topics: settings.kafka.topics, timeout: .seconds(30),
            now: harness.now)
    }
}
