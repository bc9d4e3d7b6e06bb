import Foundation
import HTTPServing
import HubEmulator
import KafkaCare
import Testing

@testable import Console

/// Commands where the settings name several hubs.
struct HubsTests {
    /// A harness whose settings name hubs; the file is gone when nobody holds this any more.
    private final class Stage {
        private let path = FileManager.default.temporaryDirectory.appendingPathComponent("hubs-\(UUID().uuidString).yaml")
        var harness = Harness()

        init(_ yaml: String) throws {
            try Data(yaml.utf8).write(to: path)
            harness.environment["PUSHFAN_CONFIG"] = path.path
        }

        deinit { try? FileManager.default.removeItem(at: path) }

        func run(_ line: String, input: String = "") -> Outcome {
            var harness = harness
            harness.input = input
            return harness.run(line)
        }
    }

    private static func connection(_ name: String) -> String {
        "Endpoint=sb://\(name).servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=key"
    }

    private static let yaml = """
        hub: {connection_string: "\(connection("base"))"}
        hubs:
          eu: {name: shop, connection_string: "\(connection("eu"))", region: westeurope, rate_limit: 2, max_in_flight: 3}
          crowd-1: {}
          crowd-2: {}
        spreads: {crowd: [crowd-1, crowd-2]}
        tenants: {acme: eu}
        default_hub: crowd
        """

    private static func request(_ audience: String, _ members: String) -> String {
        #"{"id":"r1","audience":\#(audience),"platforms":["apple"],"message":{"title":"Hi"}\#(members)}"#
    }

    static let ways: [(audience: String, members: String, shown: [String])] = [
        (
            #"{"users":["a"]}"#, #","hub":"eu""#,
            ["it goes to the hub eu in westeurope", "Host: eu.servicebus", "POST /shop/messages"]
        ),
        (#"{"users":["a"]}"#, #","tenant":"acme""#, ["it goes to the hub eu", "(3 at once, 100 ms each, 2 a second)"]),
        (#"{"users":["alice"]}"#, "", ["it goes to the hub crowd-", "POST /crowd-", "64 at once"]),
        (#"{"broadcast":true}"#, "", ["2 calls in 2 parts", "it goes to crowd, which are the hubs crowd-1, crowd-2"]),
    ]

    @Test(arguments: ways) func explainTellsTheHub(_ audience: String, _ members: String, _ shown: [String]) throws {
        let outcome = try Stage(Self.yaml).run("explain -", input: Self.request(audience, members))
        #expect(outcome.code == .done, "\(outcome.messages)")
        for text in shown { #expect(outcome.output.contains(text), "\(outcome.output)") }
    }

    @Test func explainRefusesAHubThatIsNotThere() throws {
        let request = Self.request(#"{"users":["a"]}"#, #","hub":"us""#)
        // Who publishes may not know the workers' hubs.
        let enqueued = try Stage(Self.yaml).run("enqueue - --dry-run", input: request)
        #expect(enqueued.code == .done && enqueued.messages.contains("warning: standard input: /hub: The hubs are"))
        let outcome = try Stage(Self.yaml).run("explain -", input: request)
        #expect(outcome.code == .failed)
        #expect(outcome.messages.contains("unknown_hub: /hub: The hubs are eu, crowd-1, crowd-2, crowd."))
    }

    @Test func whoPublishesNeedNotKnowTheWorkersHubs() {
        var harness = Harness()
        harness.input = Self.request(#"{"users":["a"]}"#, #","hub":"anything""#)
        #expect(harness.run("explain -").code == .done)
    }

    @Test func theCheckNamesTheKeyOfTheHubThatIsWrong() throws {
        let good = try Stage(Self.yaml).run("config check")
        #expect(good.code == .done && !good.messages.contains("is not set"))
        let bad = try Stage("hubs: {eu: {connection_string: nonsense}, us: {}}").run("config check")
        #expect(bad.code == .configuration && bad.messages.contains("hubs.eu.connection_string"))
        #expect(bad.messages.contains("note: hubs.us.connection_string is not set"))
        #expect(bad.messages.contains("note: default_hub is not set"))
    }

    @Test func doctorAsksEveryHub() throws {
        var hubs: [EmulatedHub] = []
        for name in ["one", "two"] {
            var configuration = HubEmulatorConfiguration()
            configuration.listen = "127.0.0.1:0"
            configuration.hubName = name
            let hub = try EmulatedHub(configuration)
            try hub.start()
            hubs.append(hub)
        }
        defer { for hub in hubs { hub.stop() } }
        let wrong = hubs[1].connectionString.replacing(/SharedAccessKey=.*/, with: "SharedAccessKey=d3Jvbmc=")
        let stage = try Stage(
            "hubs: {one: {connection_string: \"\(hubs[0].connectionString)\"}, two: {connection_string: \"\(wrong)\"}}")
        let found = try DoctorHubTests.findings(stage.harness.environment).filter { $0.check == "hub" }
        #expect(found.map(\.state) == [.ok, .failed])
        #expect(found.first?.subject.contains("/one") == true && found.last?.subject.contains("/two") == true)
        #expect(found.last?.text.contains("refuses the key") == true)
    }

    @Test func handlesAreCollectedFromTheHubThatIsNamed() throws {
        let outcome = try Stage(Self.yaml).run("handles collect --dry-run --hub us")
        #expect(outcome.code == .usage && outcome.messages.contains("there are eu, crowd-1, crowd-2"))
    }

    private static func file(_ lines: [String]) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("audience-\(UUID().uuidString).txt")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        return file
    }

    @Test func anAudienceFileIsDividedAmongTheHubsOfASpread() throws {
        let file = try Self.file((0..<50).map { "u\($0)" })
        defer { try? FileManager.default.removeItem(at: file) }
        let stage = try Stage(Self.yaml)
        let flags = "--audience-file \(file.path) --title T --dry-run -o ndjson"
        let divided = stage.run("enqueue \(flags)")
        #expect(divided.code == .done && divided.output.contains(#""names":50,"#), "\(divided)")
        #expect(divided.output.contains(#""parts":2,"#), "\(divided)")
        let one = stage.run("enqueue \(flags) --hub eu")
        #expect(one.code == .done && one.output.contains(#""parts":1,"#), "\(one)")
    }

    @Test func aFileOfCategoriesIsForOneHub() throws {
        let file = try Self.file(["category", "sports"])
        defer { try? FileManager.default.removeItem(at: file) }
        let stage = try Stage(Self.yaml)
        let flags = "--audience-file \(file.path) --title T --dry-run"
        let refused = stage.run("enqueue \(flags)")
        #expect(refused.code == .usage && refused.messages.contains("crowd-1, crowd-2"), "\(refused.messages)")
        #expect(stage.run("enqueue \(flags) --hub eu").code == .done)
    }
}
