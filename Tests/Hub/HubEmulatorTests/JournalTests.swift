import Foundation
import HTTPServing
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import HubEmulator
@testable import HubServer

@Suite(.tags(.threads)) struct JournalTests {
    /// A file's name for one test; the file goes when the test ends.
    private final class JournalFile {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(UUID()).ndjson").path

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var text: String {
            let data = try? FileHandle(forReadingAtPath: path)?.readToEnd()
            return String(decoding: data ?? Data(), as: UTF8.self)
        }

        var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    /// A text, number, boolean or null of a JSON object, as its JSON text.
    private func members(_ object: String) throws -> [String: String] {
        var document = JSONDocument()
        try document.read(Array(object.utf8).span)
        return members(of: document.root, document)
    }

    private func members(of node: JSONDocument.Node, _ document: JSONDocument) -> [String: String] {
        var members: [String: String] = [:]
        document.forEachMember(of: node) { members[document.string($0)] = document.string(document.text(of: $1)) }
        return members
    }

    /// Every kind of call: sent, direct, refused, performed without an answer, not performed, a registration's.
    private func callEverything(_ hub: TestHub) throws {
        try hub.register("bob", "apns", tags: ["a"])
        try hub.send("apple", to: "a", #"{"x":"é"}"#, ["apns-collapse-id": "c\"1"])
        try hub.send("gcm", nil, ["ServiceBusNotification-DeviceHandle": "secret-handle"], query: "?direct")
        try hub.send("apple", to: "a+b")
        hub.hub.arm([try Fault(parsing: "reset=after,count=1"), try Fault(parsing: "status=503,count=1")])
        try hub.send("apple", to: "a")
        try hub.send("apple", to: "a")
        try hub.call("GET", "installations/bob")
        try hub.call("GET", "nowhere")
    }

    @Test func everyLineIsTheRecordedCall() throws {
        let file = JournalFile()
        let hub = try TestHub { $0.journalFile = file.path }
        try callEverything(hub)
        hub.hub.stop()
        let recorded = hub.hub.handle(HTTPServerRequest(method: "GET", target: "/calls"))
        var calls = JSONDocument()
        try calls.read(recorded.body.span)
        var expected: [[String: String]] = []
        calls.forEachElement(of: calls.root) { expected.append(members(of: $0, calls)) }
        let lines = try file.lines.map(members)
        try #require(lines.count == 7 && expected.count == 7)
        for (line, call) in zip(lines, expected) {
            #expect(line["op"] == call["operation"])
            for name in ["id", "tags", "format", "status", "accepted", "notification_id", "rung", "fault", "collapse"] {
                #expect(line[name] == call[name], "\(name) of call \(call["id"] ?? "")")
            }
            let milliseconds = try #require(line["at"].flatMap { Int64($0) })
            #expect(Moment(milliseconds: milliseconds).rfc3339 == call["time"])
            #expect(line.keys.contains("handle") && line.count == 12)
        }
        #expect(lines.map { $0["status"] } == ["201", "201", "400", "0", "503", "200", "404"])
        #expect(lines.map { $0["accepted"] } == ["true", "true", "false", "true", "false", "true", "false"])
        #expect(lines[0]["collapse"] == "c\"1" && lines[3]["fault"] == "reset=after,count=1")
    }

    @Test func tokensAndHandlesAreNotWritten() throws {
        let file = JournalFile()
        let hub = try TestHub { $0.journalFile = file.path }
        try callEverything(hub)
        hub.hub.stop()
        #expect(!file.text.contains("secret-handle") && !file.text.contains("Signature"))
        // sha256sum of the handle's bytes begins so.
        let line = try #require(file.lines.dropFirst().first)
        #expect(try members(line)["handle"] == "4b321aafd26f395b")
    }

    @Test func linesAreWrittenWhileTheHubServes() throws {
        let file = JournalFile()
        let hub = try TestHub {
            $0.journalFile = file.path
            $0.recording = .off
        }
        try hub.send("apple")
        #expect(eventually { file.lines.count == 1 })
        try hub.send("apple")
        #expect(eventually { file.lines.count == 2 })
        #expect(try file.lines.map { try members($0)["id"] } == ["1", "2"])
        #expect(hub.hub.calls().isEmpty && hub.hub.unjournaledCallCount == 0)
    }

    @Test func anEarlierJournalStaysAndItsTornLineStandsAlone() throws {
        let file = JournalFile()
        #expect(FileManager.default.createFile(atPath: file.path, contents: Data("{\"id\":1}\n{\"id\":".utf8)))
        let hub = try TestHub { $0.journalFile = file.path }
        try hub.send("apple")
        hub.hub.stop()
        let lines = file.lines
        try #require(lines.count == 3 && lines.prefix(2) == ["{\"id\":1}", "{\"id\":"])
        #expect(try members(lines[2])["op"] == "send")
    }

    @Test func aFullDiskIsToldOnceAndCountedAndStopsNothing() throws {
        let complaints = Mutex<[String]>([])
        var configuration = HubEmulatorConfiguration()
        configuration.journalFile = "/dev/full"
        let hub = try EmulatedHub(configuration, complain: { text in complaints.withLock { $0.append(text) } })
        for round in 1...3 {
            for _ in 0..<5 {
                let answer = hub.handle(HTTPServerRequest(method: "POST", target: "/demo/messages?api-version=2020-06"))
                #expect(answer.status == 401)
            }
            hub.stop()
            #expect(eventually { hub.unjournaledCallCount == 5 * round })
        }
        #expect(complaints.withLock { $0.count } == 1)
        #expect(complaints.withLock { $0.first }?.contains("/dev/full") == true && hub.calls().count == 15)
    }

    @Test func aFileThatCannotBeMadeIsRefused() {
        var configuration = HubEmulatorConfiguration()
        configuration.journalFile = "/nowhere/journal"
        #expect(throws: HubEmulatorError.unwritableFile(path: "/nowhere/journal", reason: "No such file or directory")) {
            try EmulatedHub(configuration)
        }
    }
}
