import Console
import Kafka
import Settings

/// The settings of a worker that is measured: the user's own, but for what connects it to the bench.
struct WorkerEnvironment {
    private var variables: [String: String]

    /// The user's settings from environment, file and flags.
    init(_ invocation: Invocation) {
        variables = invocation.surroundings.environment
        if let path = invocation.arguments.configPath { variables["PUSHFAN_CONFIG"] = path }
        for flag in invocation.arguments.settings { set(flag.key, flag.value) }
        for key in ["hub.secondary_key", "hub.proxy", "hub.ca_file", "hub.name", "listen"] { set(key, nil) }
        for key in ["kafka.topics.requests", "kafka.topics.results", "kafka.topics.deadletter"] { set(key, nil) }
    }

    /// Connects the worker to the bench.
    mutating func connect(to broker: BenchBroker, _ topics: BenchBroker.Topics, hub connectionString: String, name: String) {
        set("kafka.bootstrap_servers", broker.kafka.bootstrapServers)
        if broker.isEmbedded {
            set("kafka.properties", broker.kafka.properties.map { "\($0.key)=\($0.value)" }.joined(separator: ","))
            set("kafka.delivery_guarantee", "at_least_once")
            set("kafka.session_timeout", "6s")
        }
        set("kafka.group_id", name)
        set("kafka.topics.requests", topics.requests)
        set("kafka.topics.results", topics.results)
        set("kafka.topics.deadletter", topics.deadLetters)
        set("worker.id", name)
        set("hub.name", BenchHub.name)
        set("hub.connection_string", connectionString)
    }

    /// Gives a setting a value by its variable, which any file that held it before then yields to; nil takes it away.
    mutating func set(_ key: String, _ value: String?) {
        let variable = SettingsSchema.all.first { $0.name == key }?.variable ?? key
        variables[variable + "_FILE"] = nil
        variables[variable] = value
    }

    /// The variables that have nothing to do with settings.
    var plain: [String: String] { variables.filter { !$0.key.hasPrefix("PUSHFAN_") } }

    /// What a process that is started gets.
    var all: [String: String] { variables }

    /// What the variables mean.
    func settings() throws(CommandFailure) -> Settings {
        do throws(SettingsError) {
            return try Settings.load(environment: variables)
        } catch {
            throw CommandFailure(.configuration, error.description)
        }
    }
}
