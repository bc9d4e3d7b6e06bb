import Foundation
import SQLite
import TestSupport
import Testing

@testable import Console
@testable import Results

/// The commands with an index, on the broker inside the process.
@Suite(.serialized) struct IndexedCommandTests {
    private static let commands = [
        "failed", "failed -o json", "failed error:hub_* -o csv", "failed label.campaign:mlb -o wide", "results list -o wide",
        "results list -n 5 state:failed -o ndjson", "results list --newest first -hub:shop -o csv", "results show a",
        "results show c -o ndjson", "results list request:*a* attempts:>1",
    ]
    private let broker: Broker
    private let folder: TemporaryFolder
    private var random: RandomResults

    init() throws {
        broker = try Broker()
        folder = try TemporaryFolder()
        random = RandomResults(seed: 7)
    }

    private mutating func write(_ count: Int) throws {
        for record in random.records(count) {
            guard let value = record.value else { continue }
            try broker.writeResults([String(decoding: value, as: UTF8.self)], at: record.time)
        }
    }

    private var harness: Harness {
        var harness = broker.harness
        harness.environment["XDG_CACHE_HOME"] = folder.path("cache")
        return harness
    }

    private func expectSameAnswers(_ flag: String = "--index", _ place: SourceLocation = #_sourceLocation) {
        for command in Self.commands {
            let without = harness.run(command)
            let with = harness.run("\(command) \(flag)")
            #expect(with.output == without.output, "\(command)", sourceLocation: place)
            #expect(with.code == without.code, "\(command)", sourceLocation: place)
            #expect(with.messages == without.messages, "\(command)", sourceLocation: place)
        }
    }

    private var indexFile: String {
        get throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("cache/pushfan"))
            return folder.path("cache/pushfan/" + (try #require(files.first { $0.hasSuffix(".sqlite") })))
        }
    }

    @Test mutating func answersAreTheSameWithAnIndexAndWithout() throws {
        try write(60)
        expectSameAnswers()
        // What comes later is read on top.
        try write(20)
        expectSameAnswers()
        let permissions = try FileManager.default.attributesOfItem(atPath: indexFile)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try indexFile.contains("push.results.v1@"))
        expectSameAnswers("--index=" + folder.path("own.sqlite"))
        #expect(FileManager.default.fileExists(atPath: folder.path("own.sqlite")))
    }

    @Test mutating func anIndexReadsOnlyWhatIsNew() throws {
        try write(30)
        let file = folder.path("i.sqlite")
        #expect(harness.run("failed --index=\(file)").code == .done)
        let index = try ResultIndex(path: file, cluster: try cluster(of: file), topic: "push.results.v1")
        #expect(index.flaw == nil)
        // Times that only the index has show that the answer comes from it. The newest of each partition is compared with the topic,
        // and some records are no results, and not listed.
        try index.database.execute(
            """
            UPDATE result SET time = time + 1000 WHERE EXISTS (
                SELECT 1 FROM result AS later
                WHERE later.topic_partition = result.topic_partition AND later.topic_offset > result.topic_offset)
            """)
        let with = harness.run("results list -n 1000 -o csv --index=\(file)")
        #expect(with.output != harness.run("results list -n 1000 -o csv").output)
        #expect(with.lines.count == harness.run("results list -n 1000 -o csv").lines.count)
    }

    private func cluster(of file: String) throws -> String {
        let source = try Database(path: file, waiting: .seconds(1)).prepare("SELECT cluster FROM source")
        try #require(try source.step())
        return String(decoding: try #require(source.bytes(0)), as: UTF8.self)
    }

    @Test mutating func aDamagedIndexIsMadeAnew() throws {
        try write(60)
        _ = harness.run("failed --index")
        let file = try indexFile
        let size = try #require(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
        try #require(size >= 4096)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let damages: [Data] = [
            Data("garbage".utf8), Data(count: 8192), whole.prefix(size / 2 / 4096 * 4096), whole.prefix(100),
            whole.prefix(4096) + Data(repeating: 0x5A, count: size - 4096),
        ]
        for (number, damage) in damages.enumerated() {
            try damage.write(to: URL(fileURLWithPath: file))
            let with = harness.run("failed -o csv --index")
            #expect(with.output == harness.run("failed -o csv").output, "\(number)")
            #expect(with.messages.contains(file) && with.messages.contains("rebuilt"), "\(number): \(with.messages)")
            #expect(!with.messages.contains("not used"), "\(number): \(with.messages)")
            expectSameAnswers()
        }
    }

    @Test mutating func aTopicThatWasMadeAnewIsReadAnew() throws {
        try write(60)
        let file = folder.path("i.sqlite")
        _ = harness.run("failed --index=\(file)")
        let cluster = try cluster(of: file)
        // As if the records had been others when the index was made.
        let changes = [
            "UPDATE result SET time = 1", "UPDATE pack SET content = X'7B7D'",
            "UPDATE result SET topic_offset = topic_offset + 1000 WHERE id = (SELECT max(id) FROM result)",
            "UPDATE result SET topic_partition = 3 WHERE topic_partition = 0",
        ]
        for change in changes {
            let index = try ResultIndex(path: file, cluster: cluster, topic: "push.results.v1")
            try index.database.execute(change)
            let with = harness.run("failed -o csv --index=\(file)")
            #expect(with.output == harness.run("failed -o csv").output, "\(change)")
            #expect(with.messages.contains("rebuilt"), "\(change): \(with.messages)")
            #expect(!with.messages.contains("not used"), "\(change): \(with.messages)")
            expectSameAnswers("--index=\(file)")
        }
    }

    @Test mutating func whatIsNoIndexIsLeftAlone() throws {
        try write(20)
        let file = folder.path("precious.txt")
        try Data("precious\n".utf8).write(to: URL(fileURLWithPath: file))
        for path in [file, folder.path("no/such/folder.sqlite"), "/dev/null/x"] {
            let with = harness.run("failed -o csv --index=\(path)")
            #expect(with.code == .done)
            #expect(with.output == harness.run("failed -o csv").output)
            #expect(with.messages.hasPrefix("the index is not used: \(path)"), "\(with.messages)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious\n")
        #expect(harness.run("failed --index=").code == .usage)
        #expect(broker.harness.run("failed --index").messages.hasPrefix("the index is not used: neither XDG_CACHE_HOME nor HOME"))
    }

    @Test mutating func whileAnotherCommandWritesTheTopicIsRead() throws {
        try write(20)
        let file = folder.path("i.sqlite")
        let index = try ResultIndex(path: file, cluster: "c", topic: "t")
        let with = try index.database.write { harness.run("failed -o csv --index=\(file)") }
        #expect(with.output == harness.run("failed -o csv").output)
        #expect(with.messages.contains("the index is not used: \(file)"), "\(with.messages)")
    }

    @Test mutating func manyCommandsMayUseOneIndexAtOnce() throws {
        try write(200)
        let harness = harness
        let expected = harness.run("failed -o csv").output
        let runs = (0..<6).map { _ in Background { harness.run("failed -o csv --index") } }
        for run in runs { #expect(try run.value().output == expected) }
        expectSameAnswers()
    }

    @Test mutating func showWaitsWithAnIndexToo() throws {
        try write(20)
        let harness = harness
        // The time is for finding the topic too: where that took it all, it is asked again.
        #expect(
            eventually {
                let shown = harness.run("results show nobody --wait --timeout 1s --index")
                return shown.code == .temporary && shown.messages.contains("no result for")
            })
        let expected = harness.run("results show a").output
        for flag in ["", " --index"] {
            #expect(eventually { harness.run("results show a --wait --timeout 1s" + flag).output == expected }, "\(flag)")
        }
    }
}
