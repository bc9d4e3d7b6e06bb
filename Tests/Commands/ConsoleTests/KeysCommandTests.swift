import EventLoop
import Foundation
import HTTPServing
import Keys
import Testing

@testable import Console

@Suite struct KeysCommandTests {
    /// A file in a folder that is gone when nobody holds it any more. It is noon on 2026-11-21.
    private final class Stage {
        let folder = NSTemporaryDirectory() + "pushfan-keys-\(UUID().uuidString)"
        var file: String { folder + "/keys" }

        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// Runs `pushfan keys …` with the file of the environment.
        func run(_ words: String...) -> Outcome {
            var harness = Harness()
            harness.environment["PUSHFAN_GATEWAY_KEYS_FILE"] = file
            return harness.run(["keys"] + words)
        }

        /// Makes a key; returns what a client sends.
        func create(_ words: String...) throws -> String {
            let outcome = Harness().run(["keys", "create", "--file", file] + words)
            try #require(outcome.code == .done, "\(outcome.messages)")
            return outcome.output.trimmingCharacters(in: .newlines)
        }

        /// What becomes of a key at noon.
        func verdict(_ text: String) throws -> KeyVerdict {
            let key = try #require(PresentedKey(authorization: "Bearer " + text))
            return try KnownKeys(KeysStore(file).read()).verdict(on: key, at: 1_795_262_400)
        }
    }

    @Test func aKeyIsShownAloneAndOnce() throws {
        let stage = try Stage()
        let created = stage.run("create")
        let text = created.output.trimmingCharacters(in: .newlines)
        #expect(created.code == .done && created.lines.count == 1)
        guard case .right(let key) = try stage.verdict(text) else {
            Issue.record("the key is not right")
            return
        }
        #expect(created.messages.contains(key.id) && created.messages.contains("it is not shown again"))
        #expect(key.terms == KeyTerms([.publish]) && key.createdAt == 1_795_262_400)
    }

    @Test func everyTermReachesTheFileAndTheList() throws {
        let stage = try Stage()
        let created = stage.run(
            "create", "--scope", "read,publish,publish:broadcast", "--tenant", "acme", "--source", "/shop", "--rate", "50",
            "--expires", "90d", "--comment", "shop, order service", "-o", "ndjson")
        let key = try #require(try KeysStore(stage.file).read().keys.first)
        let facts =
            #""id":"\#(key.id)","state":"active","scopes":["publish","publish:broadcast","read"],"tenant":"acme","#
            + #""source":"/shop","rate":50,"expires_at":"2027-02-19T12:00:00.000Z","created_at":"2026-11-21T12:00:00.000Z","#
            + #""comment":"shop, order service"}"# + "\n"
        #expect(created.output.hasPrefix(#"{"key":"pf_\#(key.id)_"#) && created.output.hasSuffix(facts))
        #expect(stage.run("list", "-o", "ndjson").output == "{" + facts)
        let table = stage.run("list")
        #expect(table.lines[0].split(separator: " ").first == "ID" && table.lines[1].hasPrefix(key.id + "  active"))
        #expect(table.messages.hasPrefix("1 key in '"))
    }

    @Test func aRevokedKeyStaysInTheListAndIsRefused() throws {
        let stage = try Stage()
        let (old, new) = (try stage.create(), try stage.create())
        let id = try #require(PresentedKey(authorization: "Bearer " + old)).id
        let revoked = stage.run("revoke", id, "-o", "ndjson")
        #expect(revoked.code == .done && revoked.output == #"{"id":"\#(id)","state":"revoked"}"# + "\n")
        #expect(try stage.verdict(old) == .ended)
        #expect(stage.run("list", "-o", "ndjson").output.contains(#""revoked_at":"2026-11-21T12:00:00.000Z""#))
        let again = stage.run("revoke", id)
        #expect(again.code == .done && again.messages.contains("it was revoked before"))
        guard case .right = try stage.verdict(new) else {
            Issue.record("the other key is not right")
            return
        }
    }

    @Test func aKeyThatLeakedIsRevokedByItself() throws {
        let stage = try Stage()
        let key = try stage.create()
        let revoked = stage.run("revoke", key)
        #expect(revoked.code == .done && !(revoked.output + revoked.messages).contains(key.suffix(43)))
        #expect(try stage.verdict(key) == .ended)
    }

    @Test func theListSaysWhenAKeyWasLastUsedAtAnyGateway() throws {
        let stage = try Stage()
        let keys = try (0..<2).map { _ in try #require(PresentedKey(authorization: "Bearer " + stage.create())).id }
        let name = "pushfan_gateway_key_last_used_seconds"
        let servers = [1_795_262_400, 1_795_000_000].map { moment in
            HTTPServer(HTTPServerConfiguration()) { request in
                let body = "# TYPE \(name) gauge\n\(name){key=\"\(keys[0])\"} \(moment)\n\(name){key=\"other\"} 1\n"
                return HTTPServerResponse(status: request.path == "/metrics" ? 200 : 404, body: Array(body.utf8))
            }
        }
        defer { for server in servers { server.stop() } }
        let urls = try servers.map { "http://127.0.0.1:\(try $0.start().port)" }
        let list = stage.run("list", "-o", "ndjson", "--gateway", urls[0], "--gateway", urls[1])
        #expect(list.lines.count == 2 && list.lines[0].contains(#""last_used_at":"2026-11-21T12:00:00.000Z""#))
        #expect(!list.lines[1].contains("last_used_at"))
        #expect(stage.run("list", "--gateway", "http://127.0.0.1:1").code == .unreachable)
        #expect(stage.run("list", "--gateway", "ftp://a").code == .usage)
    }

    @Test func anUnknownKeyIsNoneToRevoke() throws {
        let stage = try Stage()
        _ = try stage.create()
        #expect(stage.run("revoke", "00000000").code == .nothingMatched)
    }

    @Test(
        arguments: [
            (["--scope", "publish,write"], "--scope: "), (["--scope", ""], "--scope: "), (["--scope", "read,read"], "--scope: "),
            (["--tenant", "Acme"], "--tenant: "), (["--tenant", ""], "--tenant: "), (["--source", "a b"], "--source: "),
            (["--rate", "0"], "--rate: "), (["--rate", "1000001"], "--rate: "), (["--expires", "soon"], "--expires: "),
            (["--expires", "0s"], "--expires: "), (["--expires", "100000000d"], "--expires: "),
            (["--comment", "a\nb"], "--comment: "), (["--comment", " a"], "--comment: "),
        ] as [([String], String)])
    func termsThatNoKeyMayHaveAreNamed(words: [String], fault: String) throws {
        let stage = try Stage()
        let outcome = Harness().run(["keys", "create", "--file", stage.file] + words)
        #expect(outcome.code == .usage && outcome.messages.contains(fault), "\(outcome.messages)")
        #expect(!FileManager.default.fileExists(atPath: stage.file))
    }

    @Test func aBrokenFileIsNamedAndLeftAsItIs() throws {
        let stage = try Stage()
        try "hunter2\n".write(toFile: stage.file, atomically: true, encoding: .utf8)
        for outcome in [stage.run("create"), stage.run("list"), stage.run("revoke", "00000000")] {
            #expect(outcome.code == .configuration && outcome.output == "")
            #expect(outcome.messages.contains("line 1: ") && !outcome.messages.contains("hunter2"))
        }
        #expect(try String(contentsOfFile: stage.file, encoding: .utf8) == "hunter2\n")
    }

    @Test func onlyCreateShowsASecretAndNothingShowsAHash() throws {
        let stage = try Stage()
        let key = try stage.create("--comment", "shop")
        let content = try String(contentsOfFile: stage.file, encoding: .utf8)
        let hash = try #require(content.firstMatch(of: /sha256=([0-9a-f]{64})/)).1
        #expect(!content.contains(key.suffix(43)))
        let outcomes = [
            stage.run("list"), stage.run("list", "-o", "json"), stage.run("list", "-o", "ndjson"), stage.run("list", key),
            stage.run("revoke", key, key), stage.run("revoke", key + "x"), stage.run("revoke", "--\(key)"), stage.run(key),
            stage.run("create", key), stage.run("create", "--key=\(key)"), stage.run("create", "--tenant", key),
            stage.run("create", "--rate", key), stage.run("create", "--help"), stage.run("list", "--help"),
            stage.run("revoke", key, "-o", "json"), stage.run("list"),
        ]
        for outcome in outcomes {
            for secret in [key.suffix(43), hash] {
                #expect(!outcome.output.contains(secret) && !outcome.messages.contains(secret), "\(outcome.messages)")
            }
        }
    }
}
