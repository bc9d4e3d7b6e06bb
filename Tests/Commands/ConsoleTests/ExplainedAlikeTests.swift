@testable import PublishAPI
@testable import GatewayAPI
import Foundation
import HTTPServing
import Intake
import Keys
import PushModel
import Settings
import TestSupport
import Testing

@testable import Console

/// `pushfan explain` and `POST /v1/requests:explain` have one answer.
@Suite struct ExplainedAlikeTests {
    private static let now: Int64 = 1_795_262_400_000
    private static let publisher = Publisher(keyID: "k1", tenant: nil, source: "/shop", scopes: Set(Scope.allCases))

    private static func connection(_ name: String) -> String {
        "Endpoint=sb://\(name).servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=CANARYkey"
    }

    private static let yaml = """
        hub: {user_tag: "u-{user}", platforms: [apple, windows]}
        hubs:
          eu: {name: shop, connection_string: "\(connection("eu"))", region: westeurope, rate_limit: 2, max_in_flight: 3}
          crowd-1: {connection_string: "\(connection("one"))"}
          crowd-2: {connection_string: "\(connection("two"))"}
        spreads: {crowd: [crowd-1, crowd-2]}
        tenants: {acme: crowd}
        default_hub: eu
        gateway: {users_file: /run/users}
        kafka: {topics: {requests: urgent.v1}}
        """

    private static let names = (0..<201).map { "\"u\($0)\"" }.joined(separator: ",")
    private static let content = #""message":{"title":"Hi","data":{"a":"\u0085"}}"#

    static let requests: [(request: String, words: [String])] = [
        (
            #"{"id":"r1","audience":{"users":["alice"]},\#(content)}"#,
            [#""id":"r1","lane":"normal","#, #""record_key":"r1","#, #""hub":"eu","#, "ServiceBusNotification-Tags: u-alice"]
        ),
        (
            #"{"id":"r2","priority":"high","ordering_key":"o","ttl_seconds":60,"audience":{"broadcast":true},\#(content)}"#,
            [#""lane":"high","topic":"urgent-high.v1","record_key":"o","expires_at":"2026-11-21T12:01:00.000Z""#]
        ),
        (
            #"{"id":"r3","not_before":"2026-11-21T13:00:00Z","tenant":"acme","audience":{"broadcast":true},\#(content)}"#,
            [#""not_before":"2026-11-21T13:00:00.000Z""#, #""hub":"crowd","hubs":["crowd-1","crowd-2"]"#]
        ),
        (#"{"id":"r4","audience":{"users":[\#(names)]},\#(content)}"#, [#""parts":"#, "rings once for each"]),
        (
            #"{"id":"r5","audience":{"devices":[{"platform":"fcmv1","handle":"CANARYhandle01234567"}]},\#(content)}"#,
            ["ServiceBusNotification-DeviceHandle: …redacted"]
        ),
        (#"{"id":"r6","audience":{"broadcast":true},"template":{"a":"b"}}"#, [#""platform":"template""#]),
        (
            #"{"collapse_key":"c","platforms":["windows"],"audience":{"users":["alice"]},\#(content)}"#,
            [#"{"lane":"normal","topic":"urgent.v1","hub":"eu""#]
        ),
        // A worker with these settings refuses them, and another one may not.
        (#"{"id":"r8","hub":"us","audience":{"users":["alice"]},\#(content)}"#, [#""error":{"code":"unknown_hub""#]),
        (
            #"{"id":"r9","audience":{"users":["alice"]},"message":{"title":"t","data":{"a":"\#(long)","b":"\#(long)","c":"\#(long)"}}}"#,
            [#""error":{"code":"payload_too_large""#]
        ),
    ]
    private static let long = String(repeating: "x", count: 1400)

    /// The answer of a gateway with these settings.
    private func answer(to request: String) throws -> String {
        let settings = try Settings.load(configPath: "push.yaml", environment: [:], readFile: { _ in Array(Self.yaml.utf8) })
        let configuration = try settings.gatewayConfiguration(version: Program.version)
        var reporter = try RequestReporter(
            configuration.worker, topics: configuration.requestTopics, userAgent: "pushfan/\(configuration.version)")
        var buffers = Publication.Buffers()
        let now = Timestamp(milliseconds: Self.now)
        let submission = Submission(body: Array(request.utf8), form: .request, headers: HTTPFields(), key: nil)
        let publication = try Publication(submission, by: Self.publisher, at: now, buffers: &buffers) { "made" }
        let answer = APIAnswer(explaining: publication, at: now, without: "made", by: &reporter)
        #expect(answer.status == 200)
        #expect(
            SchemaCheck.violations(
                of: answer.body, by: try #require(APIOperation.Publish.explain.row.answers.first?.content?.schema)
            )
            .isEmpty)
        #expect(answer.body.last == UInt8(ascii: "\n"))
        return String(decoding: answer.body.dropLast(), as: UTF8.self)
    }

    @Test(arguments: requests) func theGatewayAnswersWhatTheCommandPrints(request: String, words: [String]) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("explain-\(UUID().uuidString).yaml")
        try Data(Self.yaml.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        var harness = Harness()
        harness.environment["PUSHFAN_CONFIG"] = path.path
        harness.input = request
        let answer = try answer(to: request)
        let printed = harness.run("explain - -o ndjson --header ce_source=/shop")
        // A terminal gets escapes for what it would act on.
        #expect(printed.output == String(decoding: Sanitised.bytes(Array(answer.utf8)), as: UTF8.self) + "\n")
        for word in words { #expect(answer.contains(word), "\(answer)") }
        #expect(!answer.contains("CANARY") && !answer.contains("sig="))
    }

    @Test func aPersonReadsTheSameInWords() throws {
        var harness = Harness()
        harness.input = Self.requests[1].request
        let shown = harness.run("explain -")
        #expect(shown.output.contains("(it is written to push.requests-high.v1, lane high, expires at 2026-11-21T12:01:00.000Z)"))
    }
}
