import Basics
import Gateway
import KafkaCare
import PushModel
import Settings

extension Command {
    static let schema = Command(
        "schema", .publishers, "Print the JSON Schema of a request or a result, or describe topics and API",
        operands: "[" + Description.allCases.map(\.rawValue).joined(separator: "|") + "]", maximumOperands: 1,
        examples: ["pushfan schema", "pushfan schema request | less", "pushfan schema asyncapi"],
        groups: [.selection([FlagGroup.configFile])], readOn: "pushfan help schemas", run: SchemaCommand.run)
}

private enum SchemaCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let name = invocation.arguments.operands.first else {
            var table = Table("NAME", "DESCRIBES")
            for schema in Description.allCases { table.add(schema.rawValue, schema.summary) }
            for line in table.lines(invocation.streams.traits) { try invocation.streams.out(line) }
            return .done
        }
        guard let description = Description(rawValue: name) else {
            let nearest = Spelling.nearest(to: name.lowercased(), among: Description.allCases.map(\.rawValue))
            throw .usage(
                "there is no schema \(Sanitised.quoted(name))",
                hint: nearest.map { "did you mean '\($0)'?" } ?? "`pushfan schema` lists the names")
        }
        try invocation.streams.out(description.document(invocation).json)
        return .done
    }
}

/// The descriptions that `pushfan schema` can print.
private enum Description: String, CaseIterable {
    case request, result, outcome, asyncapi, openapi

    var summary: String {
        switch self {
        case .request: "a request, as `pushfan enqueue` takes it: JSON Schema 2020-12"
        case .result: "a record of the results topic, of any kind: JSON Schema 2020-12"
        case .outcome: "a result of the kind outcome: JSON Schema 2020-12"
        case .asyncapi: "the topics that others write or read, under the names in the settings: AsyncAPI 3.0"
        case .openapi: "the routes of the gateway, as it serves it at /v1/openapi.json: OpenAPI 3.1"
        }
    }

    func document(_ invocation: Invocation) throws(CommandFailure) -> JSONTree {
        switch self {
        case .request: MessageSchema.request.document
        case .result: MessageSchema.result.document
        case .outcome: MessageSchema.outcome.document
        case .asyncapi: try topics(invocation.settings()).document(version: Program.version)
        case .openapi: APIDescription.document
        }
    }

    private func topics(_ settings: Settings) -> TopicsDescription {
        TopicsDescription(settings.kafka.topics, resultsHaveHeaders: settings.worker.resultsHaveHeaders)
    }
}
