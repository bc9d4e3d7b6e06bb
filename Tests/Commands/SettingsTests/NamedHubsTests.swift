import CurlHTTP
import HubAuth
import HubREST
import Testing
import WorkerRuntime

@testable import Settings

/// Several hubs, and the ways to them.
struct NamedHubsTests {
    private static func connection(_ name: String) -> String {
        "Endpoint=sb://\(name).servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=key-of-\(name)"
    }

    private static let file = """
        hub:
          connection_string: "\(connection("base"))"
          secondary_key: other-key
          name: main
          rate_limit: 100
        hubs:
          eu-shop:
            connection_string: "\(connection("eu"))"
            region: westeurope
            rate_limit: 50
            max_in_flight: 16
            track_outcome: true
          us:
            name: shop-us
          asia:
            connection_string_file: /run/asia
            secondary_key_file: /run/asia-2
        spreads:
          world: [eu-shop, us, asia]
        tenants:
          acme: us
          globex: world
        """

    private static let files = ["/run/asia": "\u{FEFF}" + connection("asia") + "\n", "/run/asia-2": "second\n"]

    @Test func everyHubHasItsOwnSettingsAndThoseOfTheSectionHubBesides() throws {
        let configuration = try load(["PUSHFAN_WORKER_MAX_IN_FLIGHT": "32"], file: Self.file, files: Self.files)
            .workerConfiguration(version: "1")
        #expect(configuration.hubs.map(\.name) == ["main", "eu-shop", "us", "asia"])
        #expect(configuration.hubs.map(\.hub.hub.text) == ["main", "eu-shop", "shop-us", "asia"])
        #expect(configuration.hubs.map { $0.hub.endpoint.host.prefix(4) } == ["base", "eu.s", "base", "asia"])
        #expect(configuration.hubs.map(\.rateLimit) == [100, 50, 100, 100])
        #expect(configuration.hubs.map(\.maxInFlight) == [32, 16, 32, 32])
        #expect(configuration.hubs.map(\.connections.maxConnections) == [32, 16, 32, 32])
        #expect(configuration.hubs.map(\.region) == [nil, "westeurope", nil, nil])
        #expect(configuration.hubs.map(\.tracksOutcomes) == [false, true, false, false])
        // The other key is of the same policy, so it goes with the connection string.
        #expect(configuration.hubs.map { $0.hub.secondaryCredential != nil } == [true, false, true, true])
        #expect(configuration.spreads == [.init(name: "world", hubs: ["eu-shop", "us", "asia"])])
        #expect(configuration.tenantHubs == ["acme": "us", "globex": "world"] && configuration.defaultHub == "main")
    }

    @Test func theFilesOfTheHubsKeysAreKnown() throws {
        let variables = ["PUSHFAN_HUB_SECONDARY_KEY_FILE": "/run/second", "PUSHFAN_KAFKA_PROPERTIES_FILE": "/run/kafka"]
        let files = Self.files.merging(["/run/second": "k", "/run/kafka": "security.protocol=SSL"]) { $1 }
        let file = Self.file.replacing("  secondary_key: other-key\n", with: "")
        #expect(
            try load(variables, file: file, files: files).hubKeyFiles.sorted() == ["/run/asia", "/run/asia-2", "/run/second"])
        #expect(try load(file: "hub: {name: a}").hubKeyFiles.isEmpty)
    }

    @Test(
        arguments: [
            ("https_proxy", true), ("HTTPS_PROXY", true), ("all_proxy", true), ("ALL_PROXY", true), ("http_proxy", false),
            ("HTTP_PROXY", false), ("Https_Proxy", false),
        ])
    func aProxyOfTheEnvironmentIsThatOfEveryHub(variable: String, counts: Bool) throws {
        let environment = [variable: "http://proxy.example:3128", "NO_PROXY": "eu.servicebus.windows.net"]
        let hubs = try load(environment, file: Self.file, files: Self.files).workerConfiguration(version: "1").hubs
        let chosen = try hubs.map { try $0.connections.proxyChoice().variable }
        let expected = counts ? variable : nil
        #expect(chosen == [expected, nil, expected, expected])
    }

    @Test func aVariableSetsAKeyOfAHubThatTheFileNames() throws {
        let settings = try load(
            [
                "PUSHFAN_HUBS_EU_SHOP_RATE_LIMIT": "7", "PUSHFAN_HUBS_US_CONNECTION_STRING_FILE": "/run/us",
                "PUSHFAN_DEFAULT_HUB": "us",
            ],
            file: Self.file, files: Self.files.merging(["/run/us": Self.connection("us")]) { $1 })
        let configuration = try settings.workerConfiguration(version: "1")
        try #require(configuration.hubs.count > 2)
        #expect(configuration.hubs[1].rateLimit == 7 && configuration.hubs[2].hub.endpoint.host.hasPrefix("us."))
        #expect(configuration.defaultHub == "us")
        let row = settings.describe().first { $0.key == "hubs.eu-shop.rate_limit" }
        #expect(row?.value == "7" && row?.origin == .variable("PUSHFAN_HUBS_EU_SHOP_RATE_LIMIT"))
    }

    static let defaults: [(file: String, name: String?)] = [
        ("hubs: {a: {}}", "a"), ("hubs: {a: {}, b: {}}", nil), ("hubs: {a: {}, b: {}}\ndefault_hub: b", "b"),
        ("hub: {name: main}\nhubs: {a: {}}", "main"),
        ("hubs: {a: {}, b: {}}\nspreads: {s: [a, b]}\ndefault_hub: s", "s"), ("hubs:\nspreads:\nhub: {name: main}", "main"),
    ]

    @Test(arguments: defaults) func theDefaultIsSaidOrTheSectionsHubOrTheOnlyOne(_ file: String, _ name: String?) throws {
        let settings = try load(["PUSHFAN_HUB_CONNECTION_STRING": Self.connection("base")], file: file)
        #expect(try settings.workerConfiguration(version: "1").defaultHub == name)
    }

    static let wrong: [(file: String, problem: String)] = [
        ("hubs:\n  EU: {}", "push.yaml:2:3: hubs: \"EU\" is not a name that requests can have"),
        (
            "hubs:\n  eu: {conection_string: x}",
            "there is no setting \"hubs.eu.conection_string\"; did you mean hubs.eu.connection_string?"
        ),
        ("hubs:\n  eu: {rate_limit: many}", "push.yaml:2:8: hubs.eu.rate_limit: \"many\""),
        ("hubs:\n  a-b: {}\n  a.b: {}", "\"a.b\" has the same variables as a-b"),
        ("hubs: eu", "push.yaml:1:1: hubs: this is a section; expected names below it"),
        ("hubs: {eu: {}}\ndefault_hub: us", "default_hub: there is no hub \"us\""),
        ("hubs: {eu: {}}\ntenants: {acme: us}", "tenants: there is no hub \"us\""),
        ("hubs: {eu: {}}\nspreads: {all: [eu, us]}", "spreads.all: there is no hub \"us\""),
        ("hubs: {eu: {}}\nspreads: {eu: [eu]}", "spreads.eu: is the name of a hub as well"),
        ("hubs: {eu: {}}\nspreads: {all: [eu, eu]}", "names \"eu\" twice"),
        ("hub: {name: eu}\nhubs: {eu: {}}", "is the name of another hub as well"),
        ("hubs: {eu: {connection_string_file: /gone}}", "hubs.eu.connection_string: the file cannot be read"),
        ("hubs: {eu: {connection_string: a, connection_string_file: /gone}}", "the key is given twice in this file"),
    ]

    @Test(arguments: wrong) func whatIsWrongIsNamed(_ file: String, _ problem: String) {
        let found = problems(file: file)
        #expect(found.contains { $0.contains(problem) }, "\(found)")
    }

    @Test func aHubWithoutAConnectionStringIsNamed() throws {
        let settings = try load(file: "hubs: {eu: {}, us: {connection_string: nonsense}}")
        let error = #expect(throws: SettingsError.self) { try settings.workerConfiguration(version: "1") }
        let text = error?.description ?? ""
        #expect(text.contains("hubs.eu.connection_string: is not set; set it or the variable PUSHFAN_HUBS_EU_CONNECTION_STRING"))
        #expect(text.contains("hubs.us.connection_string") && !text.contains("nonsense"))
    }

    @Test func noRowShowsASecret() throws {
        let rows = try load(file: Self.file, files: Self.files).describe()
        #expect(rows.first { $0.key == "hubs.eu-shop.connection_string" }?.value == "[redacted]")
        #expect(rows.allSatisfy { !$0.value.contains("key-of") && !$0.value.contains("second") })
        #expect(rows.first { $0.key == "tenants" }?.value == "acme=us,globex=world")
    }

    @Test func whatCountsAfterARestartOnlyIsTold() throws {
        let before = try load(file: Self.file, files: Self.files)
        let after = try load(
            ["PUSHFAN_KAFKA_GROUP_ID": "other", "PUSHFAN_HUBS_US_RATE_LIMIT": "1", "PUSHFAN_HUB_USER_TAG": "u:{user}"],
            file: Self.file, files: Self.files)
        #expect(after.changesForRestart(since: before) == ["kafka.group_id", "hub.user_tag"])
        #expect(before.changesForRestart(since: before).isEmpty)
    }
}
