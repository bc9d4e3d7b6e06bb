import Delivery
import Observability
import Settings
import Testing
import WorkerRuntime

@Suite struct SettingsTests {
    @Test func nothingIsNeeded() throws {
        let settings = try load()
        #expect(settings.kafka.bootstrapServers == ["127.0.0.1:9092"])
        #expect(settings.kafka.groupID == "pushfan")
        #expect(settings.kafka.properties.isEmpty)
        #expect(settings.kafka.topics.requests == "push.requests.v1")
        #expect(settings.kafka.topics.results == "push.results.v1")
        #expect(settings.kafka.topics.deadLetters == "push.deadletter.v1")
        #expect(settings.kafka.topics.control == "push.control.v1")
        #expect(settings.kafka.topics.parents == "push.parents.v1")
        #expect(settings.kafka.topics.held == "push.held.v1")
        #expect(settings.kafka.topics.shares == "push.shares.v1")
        #expect(settings.kafka.topics.secure == "push.secure.v1")
        #expect(settings.kafka.topics.requestsHigh == "push.requests-high.v1")
        #expect(settings.kafka.topics.requestsBulk == "push.requests-bulk.v1")
        #expect(
            settings.kafka.topics.delays == ["push.delay-10s.v1", "push.delay-1m.v1", "push.delay-10m.v1", "push.delay-1h.v1"])
        #expect(settings.worker.laneWeights == LaneWeights())
        #expect(settings.kafka.guarantee == .exactlyOnce)
        #expect(settings.kafka.sessionTimeout == .seconds(10))
        #expect(settings.kafka.transactionTimeout == .seconds(15))
        #expect(settings.worker.id == "host-1")
        #expect(settings.worker.maxInFlight == 64)
        #expect(settings.worker.window == 16_384)
        #expect(settings.worker.drainTimeout == .seconds(20))
        #expect(settings.worker.commitInterval == .milliseconds(60))
        #expect(settings.worker.deadLetterHeaders == [.native])
        #expect(settings.worker.resultsHaveHeaders)
        #expect(settings.hub.connectionString == nil && settings.hub.secondaryKey == nil && settings.hub.name == nil)
        #expect(settings.hub.authorityFile == nil && settings.hub.proxy == nil)
        #expect(settings.hub.apiVersion == "2020-06")
        #expect(settings.hub.requestTimeout == .seconds(30))
        #expect(settings.hub.connectTimeout == .seconds(5))
        #expect(settings.hub.tokenLifetime == .seconds(3600))
        #expect(settings.hub.maxConnections == 64)
        #expect(settings.hub.maxConnectionAge == .seconds(900))
        #expect(settings.hub.platforms == ["apple", "fcmv1", "windows"])
        #expect(settings.hub.userTag == "username:{user}")
        #expect(settings.retry.maxAttempts == 4)
        #expect(settings.retry.base == .seconds(1) && settings.retry.cap == .seconds(60) && settings.retry.factor == 2)
        #expect(settings.gateway.usersFile == nil && !settings.gateway.allowsDemoSignIn && !settings.gateway.tracksOutcome)
        #expect(settings.gateway.listen.description == "127.0.0.1:8080" && settings.gateway.trustedProxies.isEmpty)
        #expect(settings.gateway.sendWait == .seconds(10) && settings.gateway.sendLife == .seconds(3600))
        #expect(settings.gateway.reservedTags.isEmpty)
        #expect(settings.listen.description == "127.0.0.1:9464")
        #expect(settings.log.level == .info && settings.log.format == .auto && settings.log.requests == .failures)
        #expect(settings.describe().allSatisfy { $0.origin == .builtIn })
    }

    @Test func flagBeatsEnvironmentBeatsFileBeatsDefault() throws {
        let file = "worker:\n  max_in_flight: 1\n  window: 100\nretry: {base: 5s}\n"
        let environment = ["PUSHFAN_WORKER_MAX_IN_FLIGHT": "2", "PUSHFAN_WORKER_WINDOW": "200"]
        let flags = [
            SettingFlag(key: "worker.max_in_flight", value: "9", spelling: "-n"),
            SettingFlag(key: "worker.max_in_flight", value: "3", spelling: "--in-flight"),
        ]
        let settings = try load(environment, file: file, flags: flags)
        #expect(settings.worker.maxInFlight == 3)
        #expect(settings.worker.window == 200)
        #expect(settings.retry.base == .seconds(5))
        #expect(settings.retry.maxAttempts == 4)
        let rows = Dictionary(
            settings.describe().map { ($0.key, "\($0.value) \($0.origin)") }, uniquingKeysWith: { "\($0), \($1)" })
        #expect(rows["worker.max_in_flight"] == "3 --in-flight")
        #expect(rows["worker.window"] == "200 PUSHFAN_WORKER_WINDOW")
        #expect(rows["retry.base"] == "5s push.yaml:4:9")
        #expect(rows["retry.max_attempts"] == "4 default")
        #expect(rows["hub.name"] == " default")
    }

    @Test func topicsWithoutANameAreNamedAfterThatOfTheRequests() throws {
        let environment = ["PUSHFAN_KAFKA_TOPICS_REQUESTS": "app.requests.v3"]
        let settings = try load(environment, file: "worker: {weights: {bulk: 3}}\nkafka: {topics: {shares: many}}\n")
        #expect(settings.kafka.topics.control == "app.control.v3")
        #expect(settings.kafka.topics.parents == "app.parents.v3")
        #expect(settings.kafka.topics.held == "app.held.v3")
        #expect(settings.kafka.topics.shares == "many")
        #expect(settings.kafka.topics.secure == "app.secure.v3")
        #expect(settings.kafka.topics.requestsHigh == "app.requests-high.v3")
        #expect(settings.kafka.topics.requestsBulk == "app.requests-bulk.v3")
        #expect(settings.kafka.topics.delays == ["app.delay-10s.v3", "app.delay-1m.v3", "app.delay-10m.v3", "app.delay-1h.v3"])
        // Results are read by others, who know them by their name.
        #expect(settings.kafka.topics.results == "push.results.v1")
        #expect(settings.worker.laneWeights.bulk == 3 && settings.worker.laneWeights.high == 8)
        let rows = Dictionary(
            settings.describe().map { ($0.key, "\($0.value) \($0.origin)") }, uniquingKeysWith: { "\($0), \($1)" })
        #expect(rows["kafka.topics.handles"] == "app.handles.v3 default")
        let error = #expect(throws: SettingsError.self) {
            try load(["PUSHFAN_KAFKA_TOPICS_RESULTS": "push.requests-high.v1"])
        }
        #expect(error?.problems.count == 1)
        #expect(settings.kafka.topics.status == "app.status.v3" && settings.kafka.topics.history == "app.history.v3")
        let taken = #expect(throws: SettingsError.self) { try load(["PUSHFAN_KAFKA_TOPICS_RESULTS": "push.status.v1"]) }
        #expect(taken?.problems.count == 1)
    }

    /// Names, and what they give: requests, urgent requests, held ones, results.
    static let topicNames: [([String: String], [String])] = [
        (["PREFIX": "app-"], ["app-requests.v1", "app-requests-high.v1", "app-held.v1", "app-results.v1"]),
        (["PREFIX": "a.", "RESULTS": "r"], ["a.requests.v1", "a.requests-high.v1", "a.held.v1", "r"]),
        (["PREFIX": "a.", "REQUESTS": "b.requests"], ["b.requests", "b.requests-high", "b.held", "a.results.v1"]),
        (["REQUESTS": "b.requests.v2"], ["b.requests.v2", "b.requests-high.v2", "b.held.v2", "push.results.v1"]),
    ]

    @Test(arguments: topicNames) func topicsAreNamedByAPrefix(_ given: [String: String], _ names: [String]) throws {
        let environment = given.map { ("PUSHFAN_KAFKA_TOPICS_" + $0.key, $0.value) }
        let topics = try load(Dictionary(uniqueKeysWithValues: environment)).kafka.topics
        #expect([topics.requests, topics.requestsHigh, topics.held, topics.results] == names)
    }

    @Test func fileIsFoundByItsVariableAndTheFlagBeatsIt() throws {
        let files = ["a.yaml": "log: {level: debug}", "push.yaml": "log: {level: error}"]
        #expect(try load(["PUSHFAN_CONFIG": "a.yaml"], files: files).log.level == .debug)
        #expect(try load(["PUSHFAN_CONFIG": "a.yaml"], file: "log: {level: error}", files: files).log.level == .error)
        #expect(try load(["PUSHFAN_CONFIG": ""]).log.level == .info)
    }

    static let names: [(String, String)] = [
        ("kafka.bootstrap_servers", "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"), ("kafka.group_id", "PUSHFAN_KAFKA_GROUP_ID"),
        ("kafka.properties", "PUSHFAN_KAFKA_PROPERTIES"), ("worker.id", "PUSHFAN_WORKER_ID"), ("hub.name", "PUSHFAN_HUB_NAME"),
        ("hub.connection_string", "PUSHFAN_HUB_CONNECTION_STRING"), ("listen", "PUSHFAN_LISTEN"),
        ("kafka.topics.requests", "PUSHFAN_KAFKA_TOPICS_REQUESTS"), ("gateway.users_file", "PUSHFAN_GATEWAY_USERS_FILE"),
        ("gateway.send_wait", "PUSHFAN_GATEWAY_SEND_WAIT"), ("gateway.listen", "PUSHFAN_GATEWAY_LISTEN"),
    ]

    @Test(arguments: names) func keyHasItsVariable(_ key: String, _ variable: String) throws {
        let definition = try #require(SettingsSchema.all.first { $0.name == key })
        #expect(definition.variable == variable)
    }

    @Test func schemaIsWhole() {
        let all = SettingsSchema.all
        let variables = all.flatMap { [$0.variable] + ($0.isSecret ? [$0.variable + "_FILE"] : []) }
        #expect(all.count > 70 && all.last?.name == "log.requests")
        #expect(Set(all.map(\.name)).count == all.count)
        #expect(Set(variables).count == variables.count)
        for definition in all {
            #expect(definition.name.wholeMatch(of: /[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*/) != nil)
            #expect(definition.summary.hasSuffix("."))
            #expect(!definition.allowed.isEmpty)
            #expect(!all.contains { $0.name.hasPrefix(definition.name + ".") }, "a key cannot be a section too")
        }
    }

    @Test func listsAndMapsMayBeWrittenAsYAML() throws {
        let settings = try load(
            file: """
                kafka:
                  bootstrap_servers: [a:1, b:2]
                  properties:
                    security.protocol: SASL_SSL
                    debug: broker,topic
                worker:
                  id:
                  dlq_headers:
                    - native
                    - spring
                hub: ~
                """)
        #expect(settings.kafka.bootstrapServers == ["a:1", "b:2"])
        #expect(settings.kafka.properties.map(\.name) == ["security.protocol", "debug"])
        #expect(settings.kafka.properties.map(\.value.secret) == ["SASL_SSL", "broker,topic"])
        #expect(settings.worker.deadLetterHeaders == [.native, .spring])
        #expect(settings.worker.id == "host-1")
    }

    @Test(arguments: [("cloudevents", true), ("none", false)])
    func resultsHaveHeadersUnlessSaidByAnySource(word: String, haveHeaders: Bool) throws {
        let flag = SettingFlag(key: "results.headers", value: word, spelling: "--results.headers")
        let other = haveHeaders ? "none" : "cloudevents"
        let hub = [
            "PUSHFAN_HUB_NAME": "h",
            "PUSHFAN_HUB_CONNECTION_STRING": "Endpoint=sb://n.example/;SharedAccessKeyName=p;SharedAccessKey=a2V5",
        ]
        let variables = hub.merging(["PUSHFAN_RESULTS_HEADERS": word]) { $1 }
        #expect(try load(variables).workerConfiguration(version: "test").resultsHaveHeaders == haveHeaders)
        for settings in [
            try load(file: "results: {headers: \(word)}\n"), try load(["PUSHFAN_RESULTS_HEADERS": word]),
            try load(["PUSHFAN_RESULTS_HEADERS": other], flags: [flag]),
        ] {
            #expect(settings.worker.resultsHaveHeaders == haveHeaders)
            #expect(settings.describe().first { $0.key == "results.headers" }?.value == word)
        }
    }

    @Test func connectionsFollowTheCallsInFlightUnlessSaid() throws {
        #expect(try load(["PUSHFAN_WORKER_MAX_IN_FLIGHT": "100"]).hub.maxConnections == 100)
        #expect(try load(["PUSHFAN_WORKER_MAX_IN_FLIGHT": "100", "PUSHFAN_HUB_MAX_CONNECTIONS": "7"]).hub.maxConnections == 7)
    }

    @Test(arguments: ["abc", "abc\n", "abc\r\n", "\u{FEFF}abc\n"]) func secretComesFromAFile(_ content: String) throws {
        let settings = try load(["PUSHFAN_HUB_CONNECTION_STRING_FILE": "/run/s"], files: ["/run/s": content])
        #expect(settings.hub.connectionString?.secret == "abc")
        let row = try #require(settings.describe().first { $0.key == "hub.connection_string" })
        #expect(row.value == "[redacted]")
        #expect(row.origin.description == "PUSHFAN_HUB_CONNECTION_STRING_FILE (/run/s)")
    }

    /// The variable or flag that gives a value, else the key with its place in the file, else the variable that may give it.
    @Test func thePlaceOfAValueIsWhereAPersonChangesIt() throws {
        let settings = try load(
            ["PUSHFAN_HUB_CONNECTION_STRING_FILE": "/run/s", "PUSHFAN_HUB_NAME": "shop"],
            file: """
                kafka:
                  bootstrap_servers: b:9092
                hubs:
                  eu:
                    secondary_key: other
                """,
            files: ["/run/s": "abc"], flags: [SettingFlag(key: "log.level", value: "debug", spelling: "--log-level")])
        #expect(settings.place(of: "hub.connection_string") == "PUSHFAN_HUB_CONNECTION_STRING_FILE (/run/s)")
        #expect(settings.place(of: "hub.name") == "PUSHFAN_HUB_NAME")
        #expect(settings.place(of: "log.level") == "--log-level")
        #expect(settings.place(of: "kafka.bootstrap_servers") == "kafka.bootstrap_servers (push.yaml:2:3)")
        #expect(settings.place(of: "kafka.properties") == "PUSHFAN_KAFKA_PROPERTIES_FILE")
        #expect(settings.place(of: "hub.ca_file") == "PUSHFAN_HUB_CA_FILE")
        let eu = try #require(settings.hub(named: "eu"))
        #expect(settings.place(of: "secondary_key", in: eu) == "hubs.eu.secondary_key (push.yaml:5:5)")
        #expect(settings.place(of: "connection_string", in: eu) == settings.place(of: "hub.connection_string"))
        #expect(settings.place(of: "ca_file", in: eu) == "PUSHFAN_HUBS_EU_CA_FILE")
    }

    @Test func propertiesComeFromAFileToo() throws {
        let settings = try load(
            ["PUSHFAN_KAFKA_PROPERTIES_FILE": "/run/p"], files: ["/run/p": "sasl.username=u\nsasl.password=a,b\n"])
        #expect(settings.kafka.properties.map(\.value.secret) == ["u", "a,b"])
    }

    @Test func flagBeatsASecretFile() throws {
        let settings = try load(
            ["PUSHFAN_HUB_SECONDARY_KEY_FILE": "/run/s"], files: ["/run/s": "file"],
            flags: [SettingFlag(key: "hub.secondary_key", value: "flag", spelling: "--key")])
        #expect(settings.hub.secondaryKey?.secret == "flag")
    }

    @Test(arguments: [
        "PUSHFAN_TEST_KAFKA", "PUSHFAN_SERVICE_HOST", "PUSHFAN_SERVICE_PORT", "PUSHFAN_SERVICE_PORT_METRICS", "PUSHFAN_PORT",
        "PUSHFAN_PORT_9464_TCP", "PUSHFAN_PORT_9464_TCP_ADDR", "PUSHFAN_METRICS_SERVICE_HOST",
        "PUSHFAN_METRICS_PORT_9464_TCP_PROTO",
        "PUSHFAN_COMMIT", "PUSHFAN_DATE", "PATH", "pushfan_listen", "XPUSHFAN_FOO",
    ])
    func foreignVariableIsIgnored(_ name: String) throws {
        #expect(try load([name: "tcp://10.0.0.1:9464"]).describe() == load().describe())
    }

    @Test func emptyVariableIsNotSet() throws {
        #expect(
            try load(["PUSHFAN_LISTEN": "", "PUSHFAN_HUB_CONNECTION_STRING_FILE": "", "PUSHFAN_FOO": ""]).listen.port == 9464)
    }

    @Test func hostHasAName() throws {
        #expect(!Host.name.isEmpty)
        #expect(try Settings.load(environment: ["PUSHFAN_WORKER_ID": "w"]).worker.id == "w")
    }
}
