import Crypto
import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing
import Users

@testable import Console

@Suite struct UsersCommandTests {
    /// A file in a folder that is gone when nobody holds it any more.
    private final class Stage {
        let folder = NSTemporaryDirectory() + "pushfan-users-\(UUID().uuidString)"
        var file: String { folder + "/users" }

        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// Runs `pushfan users …` with the file of the environment.
        func run(_ words: String..., input: String = "") -> Outcome {
            var harness = Harness()
            harness.environment["PUSHFAN_GATEWAY_USERS_FILE"] = file
            harness.input = input
            return harness.run(["users"] + words)
        }

        /// Whether somebody may sign in.
        func lets(_ name: String, _ password: String) throws -> Bool {
            try UsersStore(file).read().user(named: name)?.hash.matches(Array(password.utf8)) ?? false
        }
    }

    @Test func usersAreSetListedAndRemoved() throws {
        let stage = try Stage()
        #expect(stage.run("set", "alice", "-o", "ndjson", input: "one\n").output == #"{"name":"alice","state":"added"}"# + "\n")
        #expect(stage.run("set", "Bob Miller", "-o", "ndjson", input: "a:b \r\n").code == .done)
        #expect(try stage.lets("alice", "one") && stage.lets("Bob Miller", "a:b "))
        let changed = stage.run("set", "alice", "-o", "json", input: "two")
        #expect(changed.code == .done && changed.output.contains(#""state":"changed""#))
        #expect(try stage.lets("alice", "two") && !stage.lets("alice", "one"))
        let list = stage.run("list", "-o", "ndjson")
        #expect(list.lines == [#"{"name":"alice"}"#, #"{"name":"Bob Miller"}"#])
        #expect(list.messages.hasPrefix("2 users in '"))
        #expect(stage.run("list").lines.map { $0.trimmingCharacters(in: .whitespaces) } == ["NAME", "alice", "Bob Miller"])
        let removed = stage.run("remove", "alice", "-o", "ndjson")
        #expect(removed.code == .done && removed.output == #"{"name":"alice","state":"removed"}"# + "\n")
        #expect(stage.run("list", "-o", "ndjson").lines == [#"{"name":"Bob Miller"}"#])
    }

    @Test func aFlagBeatsTheVariable() throws {
        let (stage, other) = (try Stage(), try Stage())
        #expect(stage.run("set", "alice", "--file", other.file, input: "one\n").code == .done)
        #expect(try other.lets("alice", "one"))
        #expect(stage.run("list").code == .configuration)
        #expect(stage.run("list", "--gateway.users_file", other.file).code == .done)
    }

    @Test func namesInAnotherCaseAreRefusedAndShown() throws {
        let stage = try Stage()
        #expect(stage.run("set", "alice", input: "one\n").code == .done)
        let taken = stage.run("set", "Alice", input: "two\n")
        #expect(taken.code == .usage && taken.messages.contains("differ only in their case"))
        let missed = stage.run("remove", "Alice")
        #expect(missed.code == .nothingMatched && missed.messages.contains("did you mean 'alice'?"))
        #expect(stage.run("remove", "carol").code == .nothingMatched)
        #expect(try stage.lets("alice", "one"))
    }

    @Test(arguments: ["", "\n", "one\ntwo\n", "one\n\n", "\u{1}\n", String(repeating: "x", count: 1025)])
    func whatIsNoPasswordIsRefused(input: String) throws {
        let stage = try Stage()
        let outcome = stage.run("set", "alice", input: input)
        #expect(outcome.code == .usage && outcome.messages.contains("must have one line"))
        #expect(!FileManager.default.fileExists(atPath: stage.file))
    }

    @Test(arguments: ["a:b", "", " a", "a\u{1}", String(repeating: "a", count: 256)])
    func whatIsNoNameIsRefused(name: String) throws {
        let stage = try Stage()
        #expect(stage.run("set", name, input: "one\n").code == .usage)
        #expect(!FileManager.default.fileExists(atPath: stage.file))
    }

    @Test func aBrokenFileIsNamedAndLeftAsItIs() throws {
        let stage = try Stage()
        try "alice:hunter2\n".write(toFile: stage.file, atomically: true, encoding: .utf8)
        for outcome in [stage.run("set", "bob", input: "one\n"), stage.run("list"), stage.run("remove", "alice")] {
            #expect(outcome.code == .configuration)
            #expect(outcome.messages.contains("line 1: ") && !outcome.messages.contains("hunter2"))
        }
        #expect(try String(contentsOfFile: stage.file, encoding: .utf8) == "alice:hunter2\n")
    }

    @Test(arguments: [("one", "one", ExitCode.done), ("one", "two", .usage), ("", "", .usage)] as [(String, String, ExitCode)])
    func aPersonTypesThePasswordTwice(first: String, again: String, code: ExitCode) throws {
        let stage = try Stage()
        var traits = Streams.Traits()
        traits.isInputTerminal = true
        let messages = Sink()
        let typed = Typed([first, again])
        let streams = Streams(
            traits: traits, write: { _ in true }, writeError: messages.add,
            readInput: { () throws(CommandFailure) in [] }, readHiddenLine: { () throws(CommandFailure) in typed.next() })
        let found = Program(commands: Command.builtIn).run(
            ["users", "set", "alice", "--file", stage.file], Surroundings(streams: streams, environment: [:], now: { 0 }))
        #expect(found == code)
        #expect(messages.text.contains("Once more:"))
        #expect(FileManager.default.fileExists(atPath: stage.file) == (code == .done))
    }

    /// The password as it is, in base64, and what the file has of it.
    @Test(arguments: [1, 2, 3, 4]) func neitherPasswordNorHashIsEverShown(seed: Int) throws {
        let stage = try Stage()
        var random = SeededRandom(seed)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:$%&/ÄÖ한")
        let password = String((0..<24).map { _ in letters[random.below(letters.count)] })
        var outcomes = [
            stage.run("set", "alice", "-o", "json", input: password + "\n"), stage.run("set", "bob", input: password + "\n"),
            stage.run("list"), stage.run("list", "-o", "json"), stage.run("set", "alice", password, input: password),
            stage.run("set", "alice", "--password=\(password)"), stage.run("set", "alice", input: password + "\n\(password)\n"),
            stage.run("set", "ALICE", input: password), stage.run("remove", "carol"),
        ]
        let content = try String(contentsOfFile: stage.file, encoding: .utf8)
        let hashes = content.split(separator: "\n").compactMap { $0.split(separator: "$").last.map(String.init) }
        #expect(hashes.count == 2)
        try (content + "carol:" + password + "\n").write(toFile: stage.file, atomically: true, encoding: .utf8)
        outcomes += [stage.run("list"), stage.run("set", "bob", input: password), stage.run("remove", "bob")]
        let secrets = hashes + [password, Data(password.utf8).base64EncodedString(), "$scrypt"]
        for outcome in outcomes {
            for secret in secrets { #expect(!outcome.output.contains(secret) && !outcome.messages.contains(secret)) }
        }
        #expect(!content.contains(password))
    }
}

/// Lines that a person types.
private final class Typed: Sendable {
    private let lines: Mutex<[String]>

    init(_ lines: [String]) { self.lines = Mutex(lines) }

    func next() -> String? { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
