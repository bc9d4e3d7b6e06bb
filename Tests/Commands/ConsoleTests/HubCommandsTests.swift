import Foundation
import HubService
import HubStore
import TestSupport
import Testing

@testable import Console
@testable import HubServer

@Suite struct HubCommandsTests {
    /// Files of hubs in a folder that is gone with it.
    private final class Stage {
        private let folder: TemporaryFolder

        /// Makes empty files of hubs.
        init(_ names: String...) throws {
            folder = try TemporaryFolder()
            for name in names { try HubFile(HubFileTerms(path: path(name))).close() }
        }

        func path(_ name: String) -> String { folder.path(name) }

        func write(_ text: String, to name: String) throws -> String {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
            return path(name)
        }

        func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

        func run(_ words: String..., state: String) -> Outcome { Harness().run(["hub"] + words + ["--state", path(state)]) }
    }

    private static func line(_ token: String, tags: String) -> String {
        "<AppleRegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\"><Tags>\(tags)</Tags>"
            + "<DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    private static let lines = [line("AA", tags: "news,username:alice"), "<broken", "", line("BB", tags: "news")]

    @Test func whatIsExportedIsImportedElsewhere() throws {
        let stage = try Stage("a.db", "b.db")
        let file = try stage.write(Self.lines.joined(separator: "\n"), to: "in.txt")
        let imported = stage.run("import", file, "-o", "json", state: "a.db")
        #expect(imported.code == .partlyFailed && imported.messages == "2 lines done, 1 failed\n", "\(imported.messages)")
        #expect(imported.output.contains(#""dry_run":false,"done":2,"failed":1,"problems":[{"line":2,"problem":"The line is"#))
        let exported = stage.run("export", stage.path("out.txt"), state: "a.db")
        #expect(exported.code == .done, "\(exported.messages)")
        let lines = try stage.text("out.txt").split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains("<DeviceToken>BB</DeviceToken>"))
        #expect(stage.run("export", "-", state: "a.db").lines == lines)
        #expect(stage.run("import", stage.path("out.txt"), state: "b.db").code == .done)
        let again = stage.run("export", "-", state: "b.db").lines
        #expect(again.count == 2 && again[0].contains("<Tags>news,username:alice</Tags>"))
    }

    /// The key of handles is changed by an export and an import into a file with the new key.
    @Test func aFileIsMadeWhereItIsToldTo() throws {
        let stage = try Stage("a.db")
        let file = try stage.write(Self.lines[0], to: "in.txt")
        let key = try stage.write("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", to: "new.key")
        let lost = stage.run("import", file, state: "b.db")
        #expect(lost.code == .configuration && lost.messages.contains("--new makes it"), "\(lost.messages)")
        #expect(stage.run("import", file, "--new", "--dry-run", state: "b.db").code == .usage)
        #expect(stage.run("import", stage.path("none"), "--new", state: "b.db").code != .done)
        let made = stage.run("import", file, "--new", "--handle-key-file", key, state: "b.db")
        #expect(made.code == .done && made.messages == "1 lines done, 0 failed\n", "\(made.messages)")
        #expect(stage.run("export", "-", "--handle-key-file", key, state: "b.db").lines.count == 1)
        let again = stage.run("import", file, "--new", "--handle-key-file", key, state: "b.db")
        #expect(again.code == .configuration && again.messages.contains("leave out --new"), "\(again.messages)")
    }

    @Test func aTrialSaysTheSameAndWritesNothing() throws {
        let stage = try Stage("a.db")
        let file = try stage.write(Self.lines.joined(separator: "\n"), to: "in.txt")
        let tried = stage.run("import", file, "--dry-run", state: "a.db")
        #expect(tried.code == .partlyFailed && tried.messages == "2 lines can be done, 1 failed\n", "\(tried.messages)")
        #expect(stage.run("export", "-", state: "a.db").output.isEmpty)
        let early = stage.run("import", file, "--dry-run", state: "b.db")
        #expect(early.code == .partlyFailed, "\(early.messages)")
        #expect(early.messages.contains("--new makes it\n2 lines can be done, 1 failed"), "\(early.messages)")
        #expect(!FileManager.default.fileExists(atPath: stage.path("b.db")))
    }

    @Test func linesAreUpdatedAndDeletedByTheirIDs() throws {
        let stage = try Stage("a.db")
        let file = try stage.write(Self.lines[0], to: "in.txt")
        #expect(stage.run("import", file, state: "a.db").code == .done)
        let line = stage.run("export", "-", state: "a.db").output
        let changed = try stage.write(line.replacingOccurrences(of: "news", with: "sport"), to: "changed.txt")
        #expect(stage.run("import", changed, "--update", state: "a.db").code == .done)
        let now = stage.run("export", "-", state: "a.db").output
        #expect(now.contains("<Tags>sport,username:alice</Tags>") && now.contains("<ETag>2</ETag>"), "\(now)")
        #expect(stage.run("import", changed, "--delete", state: "a.db").code == .done)
        let gone = stage.run("import", changed, "--delete", state: "a.db")
        #expect(gone.code == .partlyFailed && gone.messages.contains("0 lines done, 1 failed"))
    }

    @Test func aFileThatAHubHasOpenIsReadAndNotWritten() throws {
        let stage = try Stage("a.db")
        let file = try stage.write(Self.lines[0], to: "in.txt")
        let open = try HubFile(HubFileTerms(path: stage.path("a.db")))
        defer { open.close() }
        for words in [["import", file], ["erase", "--user", "alice"]] {
            let refused = Harness().run(["hub"] + words + ["--state", stage.path("a.db")])
            #expect(refused.code == .temporary && refused.messages.contains("stop the hub first"), "\(refused.messages)")
        }
        #expect(stage.run("export", "-", state: "a.db").code == .done)
        #expect(stage.run("check", state: "a.db").code == .done)
        let copied = stage.run("backup", stage.path("copy.db"), state: "a.db")
        #expect(copied.code == .done, "\(copied.messages)")
        #expect(stage.run("check", state: "copy.db").code == .done)
    }

    @Test func aCopyTakesThePlaceOfAnotherFileOnlyIfToldTo() throws {
        let stage = try Stage("a.db", "b.db")
        let text = try stage.write("a text that somebody still needs", to: "text")
        let refused = stage.run("backup", text, state: "a.db")
        #expect(refused.code == .refused && refused.messages.contains("--force"), "\(refused.messages)")
        #expect(try stage.text("text") == "a text that somebody still needs")
        #expect(stage.run("backup", text, "--force", state: "a.db").code == .done)
        #expect(stage.run("backup", text, state: "a.db").code == .done)
        let open = try HubFile(HubFileTerms(path: stage.path("b.db")))
        defer { open.close() }
        let served = stage.run("backup", stage.path("b.db"), "--force", state: "a.db")
        #expect(served.code == .refused && served.messages.contains("fuser"), "\(served.messages)")
    }

    @Test func allDevicesOfAUserAreErasedAndNoOthers() throws {
        let stage = try Stage("a.db")
        let all = [
            Self.line("A1", tags: "username:alice"), Self.line("A2", tags: "news,UserName:Alice"),
            Self.line("A3", tags: "$InstallationId:{i-1},$UserId:{alice}"), Self.line("BB", tags: "username:bob"),
        ]
        let file = try stage.write(all.joined(separator: "\n"), to: "in.txt")
        #expect(stage.run("import", file, state: "a.db").code == .done)
        let erased = stage.run("erase", "--user", "alice", "-o", "json", state: "a.db")
        let told = #""installations":1,"registrations":2,"ended":0,"canceled":0,"kept":0,"refusals":0}"#
        #expect(erased.code == .done && erased.output.contains(told), "\(erased.output)")
        let left = stage.run("export", "-", state: "a.db").lines
        #expect(left.count == 1 && left[0].contains("username:bob"))
        #expect(stage.run("erase", "--user", "alice", state: "a.db").code == .nothingMatched)
    }

    @Test(arguments: ["check", "export -", "import -", "erase --user alice", "backup copy.db"])
    func aFileOfSomethingElseIsLeftAlone(line: String) throws {
        let stage = try Stage()
        let file = try stage.write("no database, but text of someone", to: "a.db")
        let refused = Harness().run("hub \(line) --state \(file)")
        #expect(refused.code == .configuration && refused.messages.contains("is no file of a hub"), "\(refused.messages)")
        #expect(try stage.text("a.db") == "no database, but text of someone")
    }

    @Test func aHubOfTheFileOfHubsIsNamed() throws {
        let stage = try Stage("north.db", "south.db")
        let hubs = ["north", "south"].map { "  - name: \($0)\n    state: \(stage.path($0 + ".db"))\n" }
        let file = try stage.write("hubs:\n" + hubs.joined(), to: "hub.yaml")
        let checked = Harness().run("hub check --hubs-file \(file) -o ndjson")
        #expect(checked.code == .done && checked.lines.count == 2, "\(checked.messages)")
        #expect(checked.output.contains(#""hub":"south""#))
        let one = Harness().run("hub check --hubs-file \(file) --hub North -o ndjson")
        #expect(one.code == .done && one.lines.count == 1)
        #expect(Harness().run("hub export - --hubs-file \(file)").code == .usage)
        #expect(Harness().run("hub export - --hubs-file \(file) --hub east").code == .nothingMatched)
        #expect(Harness().run("hub export - --hubs-file \(file) --hub south").code == .done)
    }

    @Test func aFileOfHubsIsCheckedWithAllItsFaults() throws {
        let stage = try Stage()
        let good = try stage.write("hubs:\n  - name: north\n    state: \(stage.path("north.db"))\n", to: "hub.yaml")
        for flags in ["--for hub", "--hubs-file", "--for hub --hubs-file"] {
            let checked = Harness().run("config check \(flags) \(good)")
            #expect(checked.code == .done && checked.output == "\(good): ok\n", "\(flags)")
            #expect(checked.messages.contains("the hub north keeps handles of devices in plain text"))
            #expect(!checked.messages.contains("key of the example"))
        }
        let policies = "    policies: [{name: a, key: \(HubsConfiguration.exampleKey)}]\n"
        let known = try stage.write(try stage.text("hub.yaml") + policies, to: "known.yaml")
        #expect(Harness().run("config check --for hub \(known)").messages.contains("the hub north has the key of the example"))
        let faulty = "hubs:\n  - name: north\n    tier: gold\n  - state: a\n    policies: CANARYkey\n"
        let bad = try stage.write(faulty, to: "bad.yaml")
        let refused = Harness().run("config check --for hub \(bad)")
        #expect(refused.code == .configuration && refused.output.isEmpty)
        #expect(refused.messages.split(separator: "\n").count { $0.contains("bad.yaml: line ") } >= 4, "\(refused.messages)")
        #expect(!refused.messages.contains("CANARY"))
    }
}
