import Console
import Delivery
import Kafka
import Observability
import Settings
import Synchronization
import Testing

@testable import Bench

@Suite struct WorkerEnvironmentTests {
    private final class Found: Sendable {
        let environment = Mutex<WorkerEnvironment?>(nil)
    }

    /// The environment that a command line and variables make.
    private func environment(_ line: String, _ variables: [String: String]) throws -> WorkerEnvironment {
        let found = Found()
        let command = Command("probe", .operators, "Looks", examples: [], readOn: "") { (invocation) throws(CommandFailure) in
            found.environment.withLock { $0 = WorkerEnvironment(invocation) }
            return .done
        }
        let streams = Streams(write: { _ in true }, writeError: { _ in }, readInput: { () throws(CommandFailure) in [] })
        let surroundings = Surroundings(streams: streams, environment: variables, now: { 0 })
        _ = Program(commands: [command]).run(["probe"] + line.split(separator: " ").map(String.init), surroundings)
        return try #require(found.environment.withLock { $0 })
    }

    private let topics = BenchBroker.topics("r")
    private let broker = BenchBroker.existing(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), run: "t")
    private let connection = "Endpoint=http://127.0.0.1:2/;SharedAccessKeyName=n;SharedAccessKey=a2V5"

    @Test func theUsersOwnSettingsCountAndFlagsBeatVariables() throws {
        var environment = try environment(
            "--worker.max_in_flight 7",
            ["PUSHFAN_WORKER_MAX_IN_FLIGHT": "9", "PUSHFAN_LOG_LEVEL": "error", "PUSHFAN_WORKER_COMMIT_INTERVAL": "99ms"])
        environment.connect(to: broker, topics: topics, hub: connection, name: "w")
        let settings = try environment.settings()
        #expect(settings.worker.maxInFlight == 7)
        #expect(settings.worker.commitInterval == .milliseconds(99))
        #expect(environment.all["PUSHFAN_LOG_LEVEL"] == "error")
    }

    @Test func whatConnectsTheWorkerIsTheBenchs() throws {
        var environment = try environment(
            "",
            [
                "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": "production:9092", "PUSHFAN_KAFKA_TOPICS_RESULTS": "production",
                "PUSHFAN_HUB_NAME": "production", "PUSHFAN_HUB_CONNECTION_STRING_FILE": "/run/secrets/hub",
                "PUSHFAN_WORKER_ID": "production", "PUSHFAN_KAFKA_GROUP_ID": "production", "PUSHFAN_LISTEN": "0.0.0.0:80",
            ])
        environment.connect(to: broker, topics: topics, hub: connection, name: "w")
        #expect(!environment.all.values.contains { $0.contains("production") })
        let settings = try environment.settings()
        #expect(settings.kafka.bootstrapServers == ["127.0.0.1:1"])
        #expect(settings.kafka.topics.requests == "r.requests")
        #expect(settings.worker.id == "w")
        #expect(settings.hub.connectionString?.secret == connection)
        #expect(environment.all["PUSHFAN_LISTEN"] == nil)
    }

    @Test func aSecretFileGivesWayToTheBenchsOwnHub() throws {
        var environment = try environment("", ["PUSHFAN_HUB_CONNECTION_STRING_FILE": "/run/secrets/hub"])
        environment.connect(to: broker, topics: topics, hub: connection, name: "w")
        #expect(environment.all["PUSHFAN_HUB_CONNECTION_STRING_FILE"] == nil)
    }

    @Test(
        arguments: [
            ([:], "127.0.0.1"), (["no_proxy": ""], "127.0.0.1"), (["no_proxy": "a.example"], "127.0.0.1,a.example"),
            (["NO_PROXY": "b.example"], "127.0.0.1,b.example"), (["no_proxy": "a", "NO_PROXY": "b"], "127.0.0.1,a"),
            (["no_proxy": "*"], "*"), (["NO_PROXY": "*"], nil),
        ] as [([String: String], String?)])
    func aProxyIsNotBetweenTheWorkerAndTheBenchsHub(exempt: [String: String], list: String?) throws {
        var environment = try environment("", exempt.merging(["http_proxy": "http://proxy.example:1"]) { $1 })
        environment.connect(to: broker, topics: topics, hub: connection, name: "w")
        #expect(environment.all["no_proxy"] == list)
        // Other programs, and calls to other hosts, go as before.
        #expect(environment.all["http_proxy"] == "http://proxy.example:1")
        #expect(environment.all["NO_PROXY"] == exempt["NO_PROXY"])
    }

    @Test func aFlagReachesTheWorkerAsAVariableInPlaceOfItsFile() throws {
        let environment = try environment("--worker.max_in_flight 7", ["PUSHFAN_WORKER_MAX_IN_FLIGHT_FILE": "/run/limit"])
        #expect(environment.all["PUSHFAN_WORKER_MAX_IN_FLIGHT"] == "7")
        #expect(environment.all["PUSHFAN_WORKER_MAX_IN_FLIGHT_FILE"] == nil)
    }

    @Test func aFlagThatConnectsTheWorkerGivesWayToTheBenchs() throws {
        var environment = try environment("--kafka.topics.results production --hub.name production", [:])
        environment.connect(to: broker, topics: topics, hub: connection, name: "w")
        #expect(!environment.all.values.contains { $0.contains("production") })
        #expect(try environment.settings().kafka.topics.results == "r.results")
    }

    @Test func otherProgramsGetNoSetting() throws {
        let environment = try environment("", ["PUSHFAN_LOG_LEVEL": "error", "PATH": "/bin"])
        #expect(environment.plain == ["PATH": "/bin"])
    }
}
