import Delivery
import Foundation
import HubAuth
import Observability
import Settings
import Testing

@Suite struct SettingsProblemsTests {
    static let variables: [(String, String, String)] = [
        (
            "PUSHFAN_WORKER_MAX_IN_FLIGHT", "many",
            "PUSHFAN_WORKER_MAX_IN_FLIGHT: worker.max_in_flight: \"many\" is not a whole number; expected a whole number from 1 to 4096"
        ),
        (
            "PUSHFAN_WORKER_WINDOW", "9",
            "PUSHFAN_WORKER_WINDOW: worker.window: \"9\" is out of range; expected a whole number from 16 to 16384"
        ),
        (
            "PUSHFAN_KAFKA_SESSION_TIMEOUT", "1s",
            "PUSHFAN_KAFKA_SESSION_TIMEOUT: kafka.session_timeout: \"1s\" is out of range; "
                + "expected a duration from 6s to 5m, a whole number and ms, s, m or h"
        ),
        (
            "PUSHFAN_LOG_LEVEL", "loud",
            "PUSHFAN_LOG_LEVEL: log.level: \"loud\" is none of the words; expected debug, info, warning or error"
        ),
        ("PUSHFAN_KAFKA_GRUOP_ID", "x", "PUSHFAN_KAFKA_GRUOP_ID: there is no such setting; did you mean PUSHFAN_KAFKA_GROUP_ID?"),
        (
            "PUSHFAN_BOOTSTRAP_SERVERS", "x",
            "PUSHFAN_BOOTSTRAP_SERVERS: there is no such setting; did you mean PUSHFAN_KAFKA_BOOTSTRAP_SERVERS?"
        ),
        ("PUSHFAN_COMPLETELY_DIFFERENT", "x", "PUSHFAN_COMPLETELY_DIFFERENT: there is no such setting"),
        (
            "PUSHFAN_KAFKA_TOPICS_REQUESTS_HIGH", "x",
            "PUSHFAN_KAFKA_TOPICS_REQUESTS_HIGH: there is no such setting; its topic is named after kafka.topics.requests"
        ),
        (
            "PUSHFAN_KAFKA_TOPICS_RESULTS", "push.delay-1m.v1",
            "PUSHFAN_KAFKA_TOPICS_RESULTS: kafka.topics.results: \"push.delay-1m.v1\" is the same topic as one that is named after "
                + "kafka.topics.requests"
        ),
        ("PUSHFAN_CONFIG", "none.yaml", "PUSHFAN_CONFIG: the settings file none.yaml cannot be read: No such file or directory"),
        (
            "PUSHFAN_HUB_CONNECTION_STRING_FILE", "/none",
            "PUSHFAN_HUB_CONNECTION_STRING_FILE (/none): hub.connection_string: the file cannot be read: No such file or directory"
        ),
        ("PUSHFAN_HUB_NAME_FILE", "/none", "PUSHFAN_HUB_NAME_FILE: there is no such setting"),
        (
            "PUSHFAN_KAFKA_TOPICS_RESULTS", "push.requests.v1",
            "PUSHFAN_KAFKA_TOPICS_RESULTS: kafka.topics.results: \"push.requests.v1\" is the same topic as kafka.topics.requests"
        ),
        (
            "PUSHFAN_KAFKA_TRANSACTION_TIMEOUT", "9999ms",
            "PUSHFAN_KAFKA_TRANSACTION_TIMEOUT: kafka.transaction_timeout: \"9999ms\" is out of range; "
                + "expected a duration from 10s to 15m, a whole number and ms, s, m or h"
        ),
        ("PUSHFAN_RETRY_BASE", "2m", "PUSHFAN_RETRY_BASE: retry.base: \"2m\" is longer than retry.cap"),
        (
            "PUSHFAN_HUB_CONNECT_TIMEOUT", "40s",
            "PUSHFAN_HUB_CONNECT_TIMEOUT: hub.connect_timeout: \"40s\" is longer than hub.request_timeout"
        ),
    ]

    @Test(arguments: variables) func wrongVariableIsNamed(_ name: String, _ value: String, _ problem: String) {
        #expect(problems([name: value]) == [problem])
    }

    static let files: [(String, String)] = [
        ("worker:\n  windw: 1\n", "push.yaml:2:3: there is no setting \"worker.windw\"; did you mean worker.window?"),
        ("max_in_flight: 1\n", "push.yaml:1:1: there is no setting \"max_in_flight\"; did you mean worker.max_in_flight?"),
        (
            "kafka:\n  topics: {delay_10s: a}\n",
            "push.yaml:2:12: there is no setting \"kafka.topics.delay_10s\"; its topic is named after kafka.topics.requests"
        ),
        ("wroker: {id: a}\n", "push.yaml:1:1: there is no setting \"wroker\""),
        ("worker: 5\n", "push.yaml:1:1: worker: this is a section; expected keys below it"),
        (
            "worker:\n  id: [a]\n",
            "push.yaml:2:3: worker.id: the value has the wrong shape; expected a name: 1 to 128 letters, digits, '.', '_' and '-'"
        ),
        (
            "log:\n  level: {a: b}\n",
            "push.yaml:2:3: log.level: the value has the wrong shape; expected debug, info, warning or error"
        ),
        (
            "worker:\n  window: 3\n",
            "push.yaml:2:3: worker.window: \"3\" is out of range; expected a whole number from 16 to 16384"
        ),
        ("worker.id: a\nworker: {id: b}\n", "push.yaml:2:10: worker.id: the key is given twice in this file"),
        ("worker: {id: a, id: b}\n", "push.yaml:1:17: the key \"id\" stands in line 1 already"),
        ("- a\n", "push.yaml:1:1: the file must be a mapping of keys to values"),
        ("a: *b\n", "push.yaml:1:4: aliases (*name) are not supported; repeat the value"),
        (
            "hub: {name: \"\"}\n",
            "push.yaml:1:7: hub.name: \"\" is empty; expected a hub's name: 1 to 260 letters, digits, '.', '_' and '-'"
        ),
        (
            "results: {headers: off}\n",
            "push.yaml:1:11: results.headers: \"off\" is none of the words; expected cloudevents or none"
        ),
        (
            "worker: {dlq_headers: []}\n",
            "push.yaml:1:10: worker.dlq_headers: a list is empty; expected one or more, separated by commas, of: native, connect or spring"
        ),
    ]

    @Test(arguments: files) func wrongLineOfTheFileIsNamed(_ file: String, _ problem: String) {
        #expect(problems(file: file) == [problem])
    }

    @Test func unknownFlagIsAProblem() {
        let flag = SettingFlag(key: "worker.idd", value: "x", spelling: "--idd")
        #expect(problems(flags: [flag]) == ["--idd: there is no setting \"worker.idd\"; did you mean worker.id?"])
    }

    @Test func everyProblemIsToldAtOnce() {
        let seen = problems(
            ["PUSHFAN_LISTEN": "nowhere", "PUSHFAN_FOO": "1", "PUSHFAN_RETRY_FACTOR": "0"],
            file: "worker:\n  window: 3\n  bogus: 1\n  max_in_flight: 0\n",
            flags: [SettingFlag(key: "log.format", value: "xml", spelling: "--log-format")])
        #expect(seen.count == 7)
        for word in [
            "listen", "PUSHFAN_FOO", "retry.factor", "worker.window", "worker.bogus", "worker.max_in_flight", "--log-format",
        ] {
            #expect(seen.count { $0.contains(word) } == 1, "\(word)")
        }
    }

    @Test func onlyTheValueThatCountsIsChecked() throws {
        #expect(problems(["PUSHFAN_WORKER_WINDOW": "100"], file: "worker: {window: 3}\n").isEmpty)
    }

    @Test func secretGivenTwiceIsAProblem() {
        let seen = problems(
            ["PUSHFAN_HUB_SECONDARY_KEY": "canary", "PUSHFAN_HUB_SECONDARY_KEY_FILE": "/run/s"], files: ["/run/s": "canary"])
        #expect(
            seen == [
                "PUSHFAN_HUB_SECONDARY_KEY_FILE: hub.secondary_key: "
                    + "both PUSHFAN_HUB_SECONDARY_KEY and PUSHFAN_HUB_SECONDARY_KEY_FILE are set; keep one"
            ])
    }

    @Test func secretFileMustBeText() throws {
        let error = #expect(throws: SettingsError.self) {
            try Settings.load(
                environment: ["PUSHFAN_HUB_SECONDARY_KEY_FILE": "/run/s"], hostName: "h", readFile: { _ in [0xFF, 0x41] })
        }
        #expect(error?.description.contains("the file is not UTF-8 text") == true)
    }

    @Test func hostWithoutAUsableNameAsksForOne() throws {
        let error = #expect(throws: SettingsError.self) { try Settings.load(environment: [:], hostName: "") }
        #expect(error?.description.hasPrefix("default: worker.id: \"\" is empty") == true)
        let both = #expect(throws: SettingsError.self) { try Settings.load(environment: ["PUSHFAN_FOO": "1"], hostName: "") }
        #expect(both?.problems.map(\.origin) == [.variable("PUSHFAN_FOO"), .builtIn])
    }

    static let leaks: [[String: String]] = [
        ["PUSHFAN_HUB_CONNECTION_STRING": "canary\u{1}"], ["PUSHFAN_HUB_SECONDARY_KEY": "canary\nx"],
        ["PUSHFAN_KAFKA_PROPERTIES": "sasl.password=canary,=canary"], ["PUSHFAN_KAFKA_PROPERTIES": "canary"],
        ["PUSHFAN_HUB_NAME": "Endpoint=sb://x/;SharedAccessKey=canary"], ["PUSHFAN_LISTEN": "http://u:canary@host"],
        ["PUSHFAN_HUB_PROXY": "ftp://u:canary@host"], ["PUSHFAN_HUB_PROXY": "http://u:canary/x@host"],
        ["PUSHFAN_HUB_CONNECTION_STRIN": "canary"],
    ]

    @Test(arguments: leaks) func noProblemShowsASecret(_ environment: [String: String]) {
        let seen = problems(environment)
        #expect(seen.count == 1)
        #expect(!seen.joined().contains("canary"))
    }

    @Test func noDescriptionShowsASecret() throws {
        let settings = try load(
            [
                "PUSHFAN_HUB_CONNECTION_STRING": "Endpoint=sb://x/;SharedAccessKey=canary", "PUSHFAN_HUB_SECONDARY_KEY": "canary",
                "PUSHFAN_HUB_PROXY": "http://u:canary@p:1", "https_proxy": "http://u:canary@p:1", "no_proxy": "canary",
            ],
            file: "kafka: {properties: {sasl.username: bob, sasl.password: canary, ssl.key.pem: canary}}\n")
        var dumped = ""
        dump(settings.kafka, to: &dumped)
        dump(settings.hub, to: &dumped)
        let endpoint = try HubEndpoint(parsing: "sb://x/")
        dump(settings.connections(to: endpoint), to: &dumped)
        #expect(!dumped.contains("canary"))
        #expect(!settings.describe().contains { $0.value.contains("canary") })
        let row = settings.describe().first { $0.key == "kafka.properties" }
        #expect(row?.value == "sasl.username=bob,sasl.password=[redacted],ssl.key.pem=[redacted]")
        #expect(settings.hub.connectionString?.secret.hasSuffix("canary") == true)
    }

    @Test func realFilesAreReadAndRefusedInPlainWords() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.yaml")
        try Data("listen: 127.0.0.1:0\n".utf8).write(to: file)
        let settings = try Settings.load(environment: ["PUSHFAN_CONFIG": file.path], hostName: "h")
        #expect(settings.listen.port == 0)
        for (path, reason) in [
            ("\(folder.path)/none", "No such file or directory"), (folder.path, "Is a directory"),
            ("/dev/zero", "it has more than 1048576 bytes"),
        ] {
            let error = #expect(throws: SettingsError.self) {
                try Settings.load(configPath: path, environment: [:], hostName: "h")
            }
            #expect(error?.description == "--config: the settings file \(path) cannot be read: \(reason)")
        }
    }
}
