import Console
import Delivery
import Kafka
import Settings

/// The settings of a worker that is measured: the user's own, but for what connects it to the bench.
struct WorkerEnvironment {
    private var variables: [String: String]
    /// The user's flags that count; kept as flags, so that a fault is reported by the name that the user gave.
    private var flags: [SettingFlag]

    /// The user's settings from environment, file and flags.
    init(_ invocation: Invocation) {
        variables = invocation.surroundings.environment
        if let path = invocation.arguments.configPath { variables["PUSHFAN_CONFIG"] = path }
        flags = invocation.arguments.settings
        for key in ["hub.secondary_key", "hub.proxy", "hub.ca_file", "hub.name", "hub.connection_string", "listen"] {
            set(key, to: nil)
        }
        for key in SettingsSchema.all.map(\.name) where key.hasPrefix("kafka.topics.") { set(key, to: nil) }
    }

    mutating func connect(
        to broker: BenchBroker, topics: Topics, hub connectionString: String, name: String
    ) {
        set("kafka.bootstrap_servers", to: broker.kafka.bootstrapServers)
        if broker.isEmbedded {
            set("kafka.properties", to: broker.kafka.properties.map { "\($0.key)=\($0.value)" }.joined(separator: ","))
            set("kafka.delivery_guarantee", to: "at_least_once")
            set("kafka.session_timeout", to: "6s")
        }
        set("kafka.group_id", to: name)
        // The bench wrote it all, however long ago.
        set("kafka.start", to: "beginning")
        set("kafka.topics.requests", to: topics.requests)
        set("kafka.topics.results", to: topics.results)
        set("kafka.topics.deadletter", to: topics.deadLetters)
        set("worker.id", to: name)
        set("hub.name", to: BenchHub.name)
        set("hub.connection_string", to: connectionString)
        // The bench's hub is on this machine, and a proxy before it would be measured, too. A `*` counts only where it stands alone.
        let exempt = ["no_proxy", "NO_PROXY"].compactMap { variables[$0] }.first { !$0.isEmpty }
        if exempt != "*" { variables["no_proxy"] = "127.0.0.1" + (exempt.map { ",\($0)" } ?? "") }
    }

    /// Gives a setting a value by its variable, which any flag or file that held it before then yields to; nil takes it away.
    mutating func set(_ key: String, to value: String?) {
        flags.removeAll { $0.key == key }
        Self.put(value, into: &variables, as: key)
    }

    private static func put(_ value: String?, into variables: inout [String: String], as key: String) {
        let variable = SettingsSchema.all.first { $0.name == key }?.variable ?? key
        variables[variable + "_FILE"] = nil
        variables[variable] = value
    }

    /// The variables that have nothing to do with settings.
    var plain: [String: String] { variables.filter { !$0.key.hasPrefix("PUSHFAN_") } }

    /// What a process that is started gets.
    var all: [String: String] {
        flags.reduce(into: variables) { variables, flag in Self.put(flag.value, into: &variables, as: flag.key) }
    }

    /// What flags and variables mean.
    func settings() throws(CommandFailure) -> Settings {
        do throws(SettingsError) {
            return try Settings.load(flags: flags, environment: variables)
        } catch {
            throw CommandFailure(
                .configuration, error.problems.map(\.description).joined(separator: "\n"),
                hint: "`pushfan help settings` lists them")
        }
    }
}
