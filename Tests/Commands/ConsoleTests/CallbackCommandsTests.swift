import CallbackRecords
import Crypto
import Foundation
import HTTPServing
import Kafka
import Synchronization
import TestSupport
import Testing
import Webhooks

@testable import Console

@Suite(.serialized) struct CallbackCommandsTests {
    private static let secret = "whsec_" + Data("CANARYkey0123456789abcdefghij".utf8).base64EncodedString()

    /// A file of receivers, gone when nobody holds it any more.
    private final class Stage {
        let folder: TemporaryFolder
        var file: String { folder.path("receivers.yaml") }

        /// A file with this text behind what allows calls of this machine.
        init(_ text: String) throws {
            folder = try TemporaryFolder()
            try Data("allowed_networks: [127.0.0.0/8]\nallow_plain: true\n\(text)".utf8).write(to: URL(fileURLWithPath: file))
        }

        /// A file with the receiver `shop`.
        convenience init(shopAt url: String) throws {
            try self.init("receivers:\n  - name: shop\n    url: \(url)\n    secrets: \(CallbackCommandsTests.secret)\n")
        }

        var harness: Harness {
            var harness = Harness()
            harness.environment["PUSHFAN_CALLBACKS_RECEIVERS_FILE"] = file
            return harness
        }
    }

    /// A receiver that gives one answer, and remembers what it was sent.
    private final class Hook: Sendable {
        private let requests = Mutex<[HTTPServerRequest]>([])
        private let status: Int

        init(answering status: Int) { self.status = status }

        var received: [HTTPServerRequest] { requests.withLock { $0 } }

        func serve() throws -> (server: HTTPServer, url: String) {
            let server = HTTPServer(HTTPServerConfiguration()) { [self] request in
                requests.withLock { $0.append(request) }
                return HTTPServerResponse(
                    status: status, headers: ["Location": "/elsewhere"], body: Array("thank you\u{1B}".utf8))
            }
            return (server, "http://\(try server.start())/hooks?token=CANARYtoken")
        }
    }

    @Test func checkShowsWhereEachReceiverIsAndNoSecret() throws {
        let stage = try Stage(shopAt: "http://127.0.0.1:8099/hooks?token=CANARYtoken")
        for words in [["callbacks", "check"], ["callbacks", "check", stage.file]] {
            let shown = stage.harness.run(words + ["-o", "ndjson"])
            #expect(shown.code == .done, "\(shown.messages)")
            #expect(
                shown.lines == [
                    #"{"receiver":"shop","to":"http://127.0.0.1:8099","addresses":["127.0.0.1"],"form":"result","#
                        + #""kinds":["final","outcome"],"state":"ok","detail":""}"#
                ])
            #expect(shown.messages == "1 receiver\n" && !shown.output.contains("CANARY"))
        }
    }

    @Test func aFaultyFileIsNamedWithEachLineAndWithoutItsSecrets() throws {
        let stage = try Stage("receivers:\n  - name: a b\n    url: ftp://CANARYhost/\n    secrets: whsec_CANARY\n")
        let shown = stage.harness.run("callbacks check")
        #expect(shown.code == .configuration && shown.output.isEmpty)
        for line in [4, 5, 6] { #expect(shown.messages.contains("receivers.yaml: line \(line): "), "\(shown.messages)") }
        #expect(!shown.messages.contains("whsec_CANARY"))
        #expect(Harness().run("callbacks check").code == .configuration, "no file is set")
        #expect(Harness().run("callbacks check /nonexistent/receivers.yaml").code == .usage)
    }

    @Test func aReceiverWithinTheMachineIsRefusedUnlessItsNetworkIsAllowed() throws {
        let stage = try Stage(shopAt: "https://localhost:8099/")
        try Data(
            String(contentsOfFile: stage.file, encoding: .utf8).replacingOccurrences(of: "[127.0.0.0/8]", with: "[]").utf8
        ).write(to: URL(fileURLWithPath: stage.file))
        let shown = stage.harness.run("callbacks check -o ndjson")
        #expect(shown.code == .failed)
        #expect(shown.output.contains(#""state":"refused""#) && shown.output.contains("is not of the open internet"))
    }

    @Test func connectingAsksAndDeliversNothing() throws {
        let hook = Hook(answering: 405)
        let (server, url) = try hook.serve()
        defer { server.stop() }
        let stage = try Stage(shopAt: url)
        let shown = stage.harness.run("callbacks check --connect -o ndjson")
        #expect(shown.code == .done && shown.output.contains("it answers HEAD with 405"), "\(shown.output)")
        #expect(hook.received.map(\.method) == ["HEAD"])
    }

    @Test(arguments: [
        (200, ExitCode.done, "it took the sample"), (204, .done, "it took the sample"), (302, .failed, "follow no redirect"),
        (410, .failed, "410 disables"), (500, .failed, "would call again later"),
    ])
    func theAnswerToASampleIsShown(status: Int, code: ExitCode, note: String) throws {
        let hook = Hook(answering: status)
        let (server, url) = try hook.serve()
        defer { server.stop() }
        let stage = try Stage(shopAt: url)
        let shown = stage.harness.run("callbacks test shop -o json")
        #expect(shown.code == code && shown.messages.contains(note), "\(shown.messages)")
        #expect(shown.output.contains(#""status":\#(status)"#) && !shown.output.contains("CANARY"))
        #expect(!shown.messages.contains("CANARY") && hook.received.count == 1)
    }

    @Test func aSampleIsSignedAsAResultIs() throws {
        let hook = Hook(answering: 200)
        let (server, url) = try hook.serve()
        defer { server.stop() }
        let stage = try Stage(shopAt: url)
        #expect(stage.harness.run("callbacks test shop").code == .done)
        let request = try #require(hook.received.first)
        let id = try #require(request.headers["webhook-id"])
        #expect(request.method == "POST" && id.hasPrefix("test.") && request.headers["content-type"] == "application/json")
        #expect(request.headers["webhook-timestamp"] == "1795262400")
        let content = WebhookSignature.content(id: id, timestamp: 1_795_262_400, body: request.body)
        let key = try #require(WebhookSecret(Self.secret)).key
        #expect(request.headers["webhook-signature"] == WebhookSignature.header([try HMACSHA256.code(of: content, key: key)]))
        #expect(String(decoding: request.body, as: UTF8.self).contains(#""result_id":"\#(id)""#))
    }

    @Test func whoCannotBeReachedOrIsNotThereIsNamed() throws {
        let stage = try Stage(shopAt: "http://127.0.0.1:1/?token=CANARYtoken")
        let away = stage.harness.run("callbacks test shop --timeout 5s")
        #expect(away.code == .unreachable && away.messages.contains("the receiver shop at http://127.0.0.1:1 did not answer"))
        #expect(!away.messages.contains("CANARY"))
        #expect(stage.harness.run("callbacks test shpo").code == .nothingMatched)
        #expect(stage.harness.run("callbacks test").code == .usage)
        #expect(stage.harness.run(["callbacks", "test", "a b"]).code == .usage)
    }

    @Test func aPauseIsARecordAndResumingEndsIt() throws {
        let broker = try Broker()
        try broker.cluster.createTopic("push.callbacks.v1", partitions: 1)
        var harness = broker.harness
        harness.environment["USER"] = "ann"
        #expect(harness.run("callbacks pause shop").code == .usage, "a reason is missing")
        let paused = harness.run(["callbacks", "pause", "shop", "--reason", "is overrun", "--yes", "-o", "ndjson"])
        #expect(paused.code == .done && paused.lines == [#"{"receiver":"shop","state":"paused"}"#], "\(paused.messages)")
        let record = try #require(try broker.read("push.callbacks.v1", count: 1).first)
        let read = ReceiverState(json: Array(record.value.utf8).span)
        let state = try #require(read)
        #expect(record.key == "shop" && state.paused && state.reason == "is overrun" && state.at == 1_795_262_400_000)
        #expect(state.by?.hasPrefix("ann") == true)
        let resumed = harness.run("callbacks resume shop -o ndjson")
        #expect(resumed.code == .done && resumed.lines == [#"{"receiver":"shop","state":"running"}"#])
        #expect(!resumed.messages.contains("it was running before"))
        #expect(harness.run("callbacks resume shop").messages.contains("it was running before"))
        let last = try #require(try broker.read("push.callbacks.v1", count: 2).last)
        let running = ReceiverState(json: Array(last.value.utf8).span)
        #expect(running?.isRunning == true)
    }

    @Test func whoIsNotInTheFileIsNotPaused() throws {
        let stage = try Stage(shopAt: "http://127.0.0.1:1/")
        let broker = try Broker()
        var harness = broker.harness
        harness.environment["PUSHFAN_CALLBACKS_RECEIVERS_FILE"] = stage.file
        let refused = harness.run(["callbacks", "pause", "shpo", "--reason", "x"])
        #expect(refused.code == .nothingMatched && refused.messages.contains("there is no receiver 'shpo' in the file"))
    }

    @Test func whoHasNeverBegunIsNotPausedWhereNoFileIsSet() throws {
        let broker = try Broker()
        try broker.cluster.createTopic("push.callbacks.v1", partitions: 1)
        try broker.write([#"{"schema_version":1}"#], to: "push.callbacks.v1", key: "begun shop")
        for line in ["callbacks pause shpo --reason x", "callbacks resume shpo"] {
            let refused = broker.harness.run(line)
            #expect(refused.code == .nothingMatched, "\(refused.messages)")
            #expect(refused.messages.contains("no receiver 'shpo' has ever begun") && refused.messages.contains("'shop'"))
        }
        #expect(broker.harness.run("callbacks pause shop --reason x").code == .done)
        #expect(broker.harness.run("callbacks pause new --reason x --yes").code == .done)
        #expect(broker.harness.run("callbacks resume new").code == .done, "it has a state by now")
    }

    @Test(arguments: [
        ("callbacks replay shop", "--since is missing"), ("callbacks replay --since 1d", "which receiver?"),
        ("callbacks replay shop --since never", "--since: 'never' is no time"),
        ("callbacks replay shop --since 1h --until 2h", "--until: it is not later than --since"),
    ])
    func aReplayNeedsANameAndATime(line: String, words: String) {
        let outcome = Harness().run(line)
        #expect(outcome.code == .usage && outcome.messages.contains(words), "\(outcome.messages)")
    }

    @Test func nothingIsSentAgainWhereNothingWasGivenUp() throws {
        let broker = try Broker()
        let outcome = broker.harness.run("callbacks replay shop --since 1d --yes")
        #expect(
            outcome.code == .nothingMatched && outcome.messages.contains("--all sends what it took, too"), "\(outcome.messages)")
    }
}
