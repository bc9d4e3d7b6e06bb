import GatewayAPI
import CurlHTTP
import Delivery
import FanOut
import HubAuth
import HubREST
import Intake
import Settings
import Testing

/// What a gateway is told, and with which settings there is none.
@Suite struct GatewaySettingsTests {
    private static let connection = "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=canary"
    private static let base = [
        "PUSHFAN_HUB_CONNECTION_STRING": connection, "PUSHFAN_HUB_NAME": "shop", "PUSHFAN_GATEWAY_USERS_FILE": "/run/users",
    ]

    private func gateway(_ more: [String: String] = [:], file: String? = nil) throws -> GatewayConfiguration {
        try load(Self.base.merging(more) { $1 }, file: file).gatewayConfiguration(version: "1")
    }

    @Test func defaultsAreThoseOfTheFile() throws {
        let configuration = try gateway()
        #expect(configuration.listen == "127.0.0.1:8080")
        #expect(configuration.usersFile == "/run/users" && !configuration.allowsDemoSignIn && configuration.keysFile == nil)
        #expect(!configuration.servesPage)
        #expect(configuration.trustedProxies.isEmpty && configuration.reservedTags.isEmpty)
        #expect(configuration.sendWait == .seconds(10) && !configuration.tracksOutcome)
        #expect(configuration.sendLife == .seconds(3600))
        #expect(!configuration.isAlwaysSecure && configuration.topics.secure == "push.secure.v1")
        #expect(configuration.idempotencyFile == nil && configuration.dedupeReach == 4_000)
        #expect(configuration.userTag == "username:{user}")
        #expect(configuration.hubName == "shop" && configuration.hub.hub.text == "shop")
        #expect(configuration.connections.host == "shop.servicebus.windows.net")
        #expect(configuration.topics.requestsHigh == "push.requests-high.v1")
        #expect(configuration.topics.requestsBulk == "push.requests-bulk.v1" && configuration.docsURL == nil)
        #expect(configuration.topics.requests == "push.requests.v1" && configuration.topics.results == "push.results.v1")
        #expect(try load().gatewayProbes == "127.0.0.1:9465")
        #expect(try load(["PUSHFAN_LISTEN": "127.0.0.1:9464"]).gatewayProbes == "127.0.0.1:9464")
    }

    /// With a wrong one of them the gateway serves its own all the same.
    @Test(arguments: [("", ["shop", "eu"]), ("nonsense", ["shop"])])
    func everyHubReachesTheReportsOfTheGateway(connection: String, names: [String]) throws {
        let other = connection.isEmpty ? Self.connection : connection
        let worker = try gateway(
            ["PUSHFAN_HUB_USER_TAG": "u-{user}"],
            file: "hubs: {eu: {name: e, connection_string: \"\(other)\", rate_limit: 7}}\ndefault_hub: shop"
        ).worker
        #expect(worker.hubs.map(\.name) == names && worker.hubs.allSatisfy { !$0.isStandIn })
        #expect(names.count == 1 || (worker.planning.userTag == ("u-", "") && worker.hubs[1].callsPerSecond == 7))
    }

    @Test func everySettingReachesTheGateway() throws {
        let configuration = try gateway(
            [
                "PUSHFAN_HUB_USER_TAG": "u-{user}", "PUSHFAN_HUB_REQUEST_TIMEOUT": "7s",
                "PUSHFAN_KAFKA_TOPICS_PREFIX": "app.", "PUSHFAN_DEDUPE_REACH": "9",
            ],
            file: """
                gateway:
                  listen: 0.0.0.0:80
                  keys_file: /run/keys
                  trust_proxy: [10.0.0.5, 10.1.0.0/16, "::1"]
                  track_outcome: true
                  send_ttl: 10m
                  secure_push: always
                  idempotency_file: /run/answers
                  reserved_tags: vip,staff
                  docs_url: https://example.com/pushfan#
                """)
        #expect(configuration.listen == "0.0.0.0:80")
        #expect(configuration.keysFile == "/run/keys")
        #expect(configuration.trustedProxies == ["10.0.0.5", "10.1.0.0/16", "::1"])
        #expect(configuration.tracksOutcome && configuration.sendWait == .seconds(45))
        #expect(configuration.sendLife == .seconds(600))
        #expect(configuration.topics.requestsHigh == "app.requests-high.v1")
        #expect(configuration.isAlwaysSecure && configuration.topics.secure == "app.secure.v1")
        #expect(configuration.reservedTags == ["vip", "staff"])
        #expect(configuration.docsURL == "https://example.com/pushfan#")
        #expect(configuration.idempotencyFile == "/run/answers" && configuration.dedupeReach == 9)
        #expect(configuration.userTag == "u-{user}" && configuration.hubTimeout == .seconds(7))
        let wait = try gateway(["PUSHFAN_GATEWAY_TRACK_OUTCOME": "true", "PUSHFAN_GATEWAY_SEND_WAIT": "20s"])
        #expect(wait.sendWait == .seconds(20))
    }

    @Test func theIndexOfRequestsHasItsBoundsAndItsRule() throws {
        let built = try gateway().index
        #expect(built.keep == .seconds(7 * 86_400) && built.byteLimit == 8 << 30 && built.names == .plain)
        let index = try gateway(
            file: "gateway: {index: {keep: 24h, bytes: 512MiB, names: encrypted, key_file: /run/index-key}}"
        ).index
        #expect(index.keep == .seconds(86_400) && index.byteLimit == 512 << 20)
        #expect(index.names == .encrypted(keyFile: "/run/index-key"))
        #expect(try gateway(["PUSHFAN_GATEWAY_INDEX_NAMES": "omit"]).index.names == .omitted)
    }

    static let faultyIndexes: [(variables: [String: String], key: String)] = [
        (["NAMES": "encrypted"], "gateway.index.key_file"), (["NAMES": "hidden"], "gateway.index.names"),
        (["BYTES": "63MiB"], "gateway.index.bytes"), (["BYTES": "8GB"], "gateway.index.bytes"),
        (["BYTES": "99999999999999GiB"], "gateway.index.bytes"), (["BYTES": "GiB"], "gateway.index.bytes"),
        (["KEEP": "1m"], "gateway.index.keep"),
    ]

    @Test(arguments: faultyIndexes) func aFaultOfTheIndexIsNamed(variables: [String: String], key: String) throws {
        let all = variables.map { ("PUSHFAN_GATEWAY_INDEX_" + $0.key, $0.value) }
        let error = #expect(throws: SettingsError.self) { try gateway(Dictionary(uniqueKeysWithValues: all)) }
        #expect(error?.problems.map(\.key) == [key])
    }

    static let pages: [(variables: [String: String], isServed: Bool)] = [
        (["KEYS_FILE": "/run/keys"], true), (["KEYS_FILE": "/run/keys", "LISTEN": "[::1]:0"], true), ([:], false),
        (["KEYS_FILE": "/run/keys", "UI": "off"], false),
        (["KEYS_FILE": "/run/keys", "LISTEN": "0.0.0.0:80", "TRUST_PROXY": "10.0.0.5"], false),
        (["KEYS_FILE": "/run/keys", "TRUST_PROXY": "127.0.0.1"], false),
        (["KEYS_FILE": "/run/keys", "TRUST_PROXY": "127.0.0.1", "UI": "on"], true),
        (["KEYS_FILE": "/run/keys", "LISTEN": "0.0.0.0:80", "TRUST_PROXY": "10.0.0.5", "UI": "on"], true),
    ]

    @Test(arguments: pages) func thePageIsServedOnLoopbackToThoseWithKeys(variables: [String: String], isServed: Bool) throws {
        let all = variables.map { ("PUSHFAN_GATEWAY_" + $0.key, $0.value) }
        #expect(try gateway(Dictionary(uniqueKeysWithValues: all)).servesPage == isServed)
    }

    static let hubs: [(file: String, hub: String)] = [
        ("hubs: {eu: {}}", "shop"), ("hubs: {eu: {}}\ndefault_hub: eu", "eu"),
        ("hubs: {eu: {}, us: {}}\nspreads: {all: [eu, us]}\ndefault_hub: us", "us"),
    ]

    @Test(arguments: hubs) func theDefaultHubIsServed(file: String, hub: String) throws {
        let configuration = try gateway(file: file)
        #expect(configuration.hubName == hub && configuration.hub.hub.text == hub)
    }

    /// The hubs that devices are registered at, and the names that lead to them. A spread is served whole or not at all.
    static let served: [(file: String, hubs: [String], names: [String])] = [
        ("", ["shop"], ["shop"]), ("hubs: {eu: {}}", ["shop", "eu"], ["shop", "eu"]),
        ("hubs: {eu: {}}\ndefault_hub: eu", ["eu", "shop"], ["shop", "eu"]),
        (
            "hubs: {eu: {}, us: {}}\nspreads: {all: [us, eu]}\ndefault_hub: all", ["us", "eu", "shop"],
            ["all", "shop", "eu", "us"]
        ),
        ("hubs: {eu: {}, us: {connection_string: wrong}}\nspreads: {all: [us, eu]}", ["shop", "eu"], ["shop", "eu"]),
    ]

    @Test(arguments: served) func everyHubThatIsRightIsServed(file: String, hubs: [String], names: [String]) throws {
        let configuration = try gateway(["PUSHFAN_HUB_REQUEST_TIMEOUT": "7s"], file: file)
        #expect(configuration.hubs.map(\.name) == hubs && configuration.hubs.allSatisfy { $0.timeout == .seconds(7) })
        #expect(["all", "shop", "eu", "us"].filter { configuration.routes.router.route(named: $0) != nil } == names)
        let router = configuration.routes.router
        #expect(try router.route(of: TenantID.none) == router.route(named: names.contains("all") ? "all" : hubs[0]))
    }

    /// Hubs and tenants, whether the hub of `acme` is its own, and what is not served. One that is left out has its requests all the same.
    static let owned: [(file: String, isOwn: Bool, leftOut: [String])] = [
        ("hubs: {eu: {}}\ntenants: {acme: eu}\ndefault_hub: shop", true, []),
        ("hubs: {eu: {}}\ntenants: {acme: eu}\ndefault_hub: eu", false, []),
        ("hubs: {eu: {}, us: {name: EU}}\ntenants: {acme: eu}\ndefault_hub: us", false, []),
        (
            "hubs: {eu: {}, us: {name: eu, connection_string: \"\(connection.replacing("sb://shop", with: "sb://SHOP"))\"}}\n"
                + "tenants: {acme: eu, globex: us}\ndefault_hub: shop", false, []
        ),
        (
            "hubs: {eu: {}, us: {name: eu, connection_string: \"\(connection.replacing("sb://shop", with: "sb://other"))\"}}\n"
                + "tenants: {acme: eu, globex: us}\ndefault_hub: shop", true, []
        ),
        (
            "hubs: {eu: {}, us: {connection_string: canary}}\nspreads: {all: [us, eu]}\n"
                + "tenants: {acme: eu, globex: all}\ndefault_hub: shop", false, ["all", "us"]
        ),
        (
            "hubs: {eu: {}, us: {connection_string: canary}}\ntenants: {acme: eu, globex: us}\ndefault_hub: shop", true,
            ["us"]
        ),
        (
            "hubs: {eu: {}, us: {name: Eu, connection_string: canary}}\ntenants: {acme: eu, globex: us}\ndefault_hub: shop",
            false, ["us"]
        ),
    ]

    @Test(arguments: owned) func aHubIsATenantsOwnByAllSettings(file: String, isOwn: Bool, leftOut: [String]) throws {
        let configuration = try gateway(file: file)
        #expect(configuration.tenancy?.isOwn(of: TenantID("acme")) == isOwn)
        #expect(configuration.leftOut.keys.sorted() == leftOut)
        #expect(!configuration.leftOut.values.joined().contains("canary"))
    }

    static let rules: [(variables: [String: String], file: String?, problems: [String])] = [
        (
            ["PUSHFAN_GATEWAY_USERS_FILE": ""], nil,
            ["gateway.users_file: is not set; set it or the variable PUSHFAN_GATEWAY_USERS_FILE"]
        ),
        (["PUSHFAN_GATEWAY_UI": "on"], nil, ["gateway.keys_file: is not set"]),
        (["PUSHFAN_GATEWAY_LISTEN": "0.0.0.0:8080"], nil, ["gateway.listen: \"0.0.0.0:8080\" is no loopback address"]),
        (["PUSHFAN_GATEWAY_LISTEN": "[::]:8080"], nil, ["gateway.listen: \"[::]:8080\" is no loopback address"]),
        (["PUSHFAN_GATEWAY_LISTEN": "127.example.com:80"], nil, ["gateway.listen: \"127.example.com:80\" is no loopback"]),
        (
            [
                "PUSHFAN_GATEWAY_LISTEN": "10.0.0.1:80", "PUSHFAN_GATEWAY_DEMO_AUTH": "true",
                "PUSHFAN_GATEWAY_TRUST_PROXY": "10.0.0.5",
            ], nil, ["PUSHFAN_GATEWAY_DEMO_AUTH: gateway.demo_auth: is for loopback addresses only"]
        ),
        (
            ["PUSHFAN_GATEWAY_LISTEN": "10.0.0.1:80", "PUSHFAN_GATEWAY_DEMO_AUTH": "true"], nil,
            ["gateway.demo_auth: is for loopback addresses only", "gateway.listen: \"10.0.0.1:80\" is no loopback address"]
        ),
        (["PUSHFAN_HUB_USER_TAG": "$UserId:{user}"], nil, ["hub.user_tag: \"$UserId:{user}\" begins with '$'"]),
        (["PUSHFAN_HUB_USER_TAG": "{user}"], nil, ["hub.user_tag: \"{user}\" has nothing but {user}"]),
        (["PUSHFAN_HUB_USER_TAG": "a{{user}}"], nil, ["hub.user_tag: \"a{{user}}\" makes no tag"]),
        (
            ["PUSHFAN_HUB_USER_TAG": String(repeating: "a", count: 55) + "{user}"], nil,
            ["leaves fewer than 66 characters for a user"]
        ),
        (
            ["PUSHFAN_HUB_NAME": ""],
            "hubs: {eu: {}, us: {connection_string: canary}}\nspreads: {all: [eu, us]}\ndefault_hub: all",
            ["hubs.us.connection_string: "]
        ),
        (["PUSHFAN_HUB_NAME": ""], "hubs: {eu: {}, us: {}}", ["default_hub: is not set"]),
        (["PUSHFAN_HUB_NAME": ""], nil, ["hub.name: is not set"]),
        (["PUSHFAN_HUB_CONNECTION_STRING": "canary"], nil, ["hub.connection_string: "]),
        (
            ["PUSHFAN_HUB_NAME": "", "PUSHFAN_HUB_USER_TAG": "{user}", "PUSHFAN_GATEWAY_LISTEN": "10.0.0.1:80"], nil,
            ["gateway.listen: ", "hub.user_tag: ", "hub.name: "]
        ),
    ]

    @Test(arguments: rules)
    func withoutARuleThereIsNoGateway(variables: [String: String], file: String?, problems: [String]) throws {
        let error = try #require(throws: SettingsError.self) { try gateway(variables, file: file) }
        let found = error.problems.map(\.description)
        #expect(found.count == problems.count, "\(found)")
        for (found, expected) in zip(found, problems) { #expect(found.contains(expected)) }
        #expect(!error.description.contains("canary"))
    }

    static let good: [[String: String]] = [
        ["PUSHFAN_GATEWAY_USERS_FILE": "", "PUSHFAN_GATEWAY_KEYS_FILE": "/run/keys"],
        ["PUSHFAN_GATEWAY_USERS_FILE": "", "PUSHFAN_GATEWAY_DEMO_AUTH": "true"], ["PUSHFAN_GATEWAY_LISTEN": "localhost:0"],
        ["PUSHFAN_GATEWAY_LISTEN": "[::1]:0"], ["PUSHFAN_GATEWAY_LISTEN": "127.1.2.3:80"],
        ["PUSHFAN_GATEWAY_LISTEN": "0.0.0.0:80", "PUSHFAN_GATEWAY_TRUST_PROXY": "10.0.0.0/8,fd00::/8"],
        ["PUSHFAN_HUB_USER_TAG": String(repeating: "a", count: 54) + "{user}"],
    ]

    @Test(arguments: good) func withTheRulesThereIsOne(variables: [String: String]) throws {
        let configuration = try gateway(variables)
        #expect(configuration.listen == variables["PUSHFAN_GATEWAY_LISTEN"] ?? "127.0.0.1:8080")
        #expect(configuration.userTag == variables["PUSHFAN_HUB_USER_TAG"] ?? "username:{user}")
        #expect(configuration.keysFile == variables["PUSHFAN_GATEWAY_KEYS_FILE"])
        #expect(configuration.allowsDemoSignIn == (variables["PUSHFAN_GATEWAY_DEMO_AUTH"] != nil))
    }

    static let wrong: [(variable: String, value: String, fault: String)] = [
        ("TRUST_PROXY", "proxy.example", "\"proxy.example\" is not an address"), ("TRUST_PROXY", "10.0.0.0/33", "is not a range"),
        ("TRUST_PROXY", "10.0.0.0/", "is not a range"), ("TRUST_PROXY", "10.0.0.0/8/8", "is not a range"),
        ("TRUST_PROXY", "10.0.0.1,10.0.0.1", "names \"10.0.0.1\" twice"), ("RESERVED_TAGS", "a b", "no tag may have"),
        ("RESERVED_TAGS", "$UserId:{a}", "no tag may have"), ("RESERVED_TAGS", String(repeating: "a", count: 121), "is too long"),
        ("SEND_WAIT", "999ms", "is out of range"), ("SEND_WAIT", "6m", "is out of range"), ("SEND_TTL", "0s", "is out of range"),
        ("SEND_TTL", "673h", "is out of range"), ("DEMO_AUTH", "yes", "is none of the words"),
        ("UI", "yes", "is none of the words"),
        ("LISTEN", "8080", "is not an address"),
    ]

    @Test(arguments: wrong) func whatIsNoValueIsNamed(variable: String, value: String, fault: String) {
        let found = problems(["PUSHFAN_GATEWAY_\(variable)": value])
        #expect(found.count == 1 && found[0].contains(fault), "\(found)")
    }
}
