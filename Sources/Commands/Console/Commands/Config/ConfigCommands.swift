import HubAuth
import HubServer
import HubService
import Observability
import Settings

extension Command {
    static let configCheck = Command(
        "config check", .operators, "Check the settings and name every problem", operands: "[FILE]", maximumOperands: 1,
        examples: [
            "pushfan config check pushfan.yaml", "PUSHFAN_WORKER_MAX_IN_FLIGHT=128 pushfan config check",
            "pushfan config check --hub.request_timeout 10s", "pushfan config check --for worker",
            "pushfan config check --for hub /etc/pushfan/hub.yaml",
        ],
        groups: [
            .selection([
                FlagGroup.configFile,
                Flag(
                    "for", "PROGRAM", "Look for the files alone that it reads; for hub, FILE is the file of hubs",
                    choices: FileReader.allCases.map(\.rawValue)),
                Flag("hubs-file", "FILE", "Check this file of hubs, as --for hub FILE does"),
            ])
        ], readOn: "pushfan help settings", run: ConfigCommands.check)

    static let configShow = Command(
        "config show", .operators, "Show every setting that counts, secrets hidden",
        examples: [
            "pushfan config show", "pushfan config show --origin --config pushfan.yaml", "pushfan config show -o ndjson",
        ],
        groups: [
            .selection([FlagGroup.configFile]),
            .output(and: [Flag("origin", nil, "Say where each value came from")]),
        ],
        readOn: "pushfan help settings", run: ConfigCommands.show)
}

private enum ConfigCommands {
    static func check(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let file = invocation.arguments.operands.first
        let reader = invocation.arguments.value("for").flatMap(FileReader.init(rawValue:))
        let hubsFile = invocation.arguments.value("hubs-file")
        if let file = hubsFile ?? (reader == .hub ? file : nil) { return try checkHubs(in: file, for: invocation) }
        if file != nil && invocation.arguments.configPath != nil {
            throw .usage("name the file once: as the argument or with --config")
        }
        let settings = try invocation.settings(configPath: file)
        var problems = settings.fileProblems(of: reader).map(\.description)
        for hub in settings.allHubs {
            for warning in hubProblems(hub, &problems) { invocation.streams.note("note: \(warning)") }
        }
        if settings.allHubs.count > 1, settings.defaultHub == nil {
            invocation.streams.note("note: default_hub is not set; requests that name no hub are refused")
        }
        guard problems.isEmpty else { throw CommandFailure(.configuration, problems.joined(separator: "\n")) }
        let named = file ?? invocation.arguments.configPath ?? invocation.surroundings.environment["PUSHFAN_CONFIG"]
        let subject = named.map { $0.isEmpty ? "the settings" : Sanitised.line($0) } ?? "the settings"
        try invocation.streams.out("\(subject): ok")
        return .done
    }

    /// Checks a file of hubs, and the files of keys that it names.
    private static func checkHubs(in file: String, for invocation: Invocation) throws(CommandFailure) -> ExitCode {
        _ = try invocation.settings()
        for hub in try HubArguments.hubs(inFile: file).hubs {
            if hub.policies.contains(where: { $0.key == HubsConfiguration.exampleKey }) {
                let remedy = "make another with `openssl rand -base64 32`"
                invocation.streams.note("note: the hub \(hub.name) has the key of the example, which everybody knows; \(remedy)")
            }
            guard hub.handleKeyFile == nil else { continue }
            invocation.streams.note("note: the hub \(hub.name) keeps handles of devices in plain text; it has no handle_key_file")
        }
        try invocation.streams.out("\(Sanitised.line(file)): ok")
        return .done
    }

    /// Finds the faults that only the reader of connection strings can find. Returns notes on values that are not wrong.
    private static func hubProblems(_ hub: HubSettings, _ problems: inout [String]) -> [String] {
        var notes: [String] = []
        if let text = hub.connectionString {
            do {
                notes += try ConnectionString(parsing: text.secret).warnings
            } catch {
                problems.append("\(hub.path("connection_string")): \(error)")
            }
        } else {
            notes.append("\(hub.path("connection_string")) is not set; a worker needs it")
        }
        if let name = hub.name {
            do { _ = try HubName(name) } catch { problems.append("\(hub.path("name")): \(error)") }
        } else {
            notes.append("hub.name is not set; a worker needs it")
        }
        return notes
    }

    static func show(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let rows = try invocation.settings().describe()
        let showsOrigin = invocation.arguments.has("origin")
        var table = showsOrigin ? Table("KEY", "VALUE", "ORIGIN") : Table("KEY", "VALUE")
        for row in rows {
            if showsOrigin {
                table.add(["key": row.key, "value": row.value, "origin": row.origin.description])
            } else {
                table.add(["key": row.key, "value": row.value])
            }
        }
        try invocation.out(table)
        return .done
    }
}
