import KafkaCare
import Settings

extension Command {
    static let topicsACLs = Command(
        "topics acls", .operators, "Print the rights in Kafka that a user needs",
        examples: [
            "pushfan topics acls --role worker", "pushfan topics acls --role publisher --with wait --principal User:shop",
            "pushfan topics acls --role reader --kafka.group_id shop -o ndjson",
        ],
        groups: [
            .selection([
                .role(), .with,
                Flag("principal", "NAME", "The user in Kafka's words", default: ACLsCommand.nobody),
            ]),
            FlagGroup(
                "Output",
                Flag(
                    "output", ACLsCommand.formats.joined(separator: "|"), "How the data looks", letter: "o",
                    default: ACLsCommand.formats.first, choices: ACLsCommand.formats)),
            .kafka(
                topics: ["requests", "results", "deadletter", "control", "shares", "replays"],
                and: FlagGroup.group),
        ],
        readOn: "pushfan help operations, doctor", run: ACLsCommand.run)
}

private enum ACLsCommand {
    static let nobody = "User:NAME"
    static let formats = ["commands"] + OutputFormat.common.map(\.rawValue)

    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        guard let role = arguments.accessRole else {
            let roles = AccessRole.allCases.map { "  \($0.rawValue.padding(to: 12))\($0.programs)" }
            throw .usage("--role is missing", hint: "it is one of:\n" + roles.joined(separator: "\n"))
        }
        let settings = try invocation.settings()
        let rights = AccessRights(of: role, by: try invocation.accessTerms(of: role, in: settings))
        let format = arguments.value("output").flatMap(OutputFormat.init(rawValue:))
        guard let format else {
            let brokers = settings.kafka.bootstrapServers.joined(separator: ",")
            for command in rights.commands(brokers: brokers, principal: arguments.value("principal") ?? nobody) {
                try invocation.streams.out(command)
            }
            return .done
        }
        var table = Table("RESOURCE", "NAME", "PATTERN", "OPERATIONS")
        for entry in rights.entries {
            table.add([
                "resource": entry.resource.rawValue, "name": entry.name, "pattern": entry.isPrefix ? "prefixed" : "literal",
                "operations": entry.operations.map(\.rawValue),
            ])
        }
        try invocation.streams.out(format, table, table.objects)
        return .done
    }
}
