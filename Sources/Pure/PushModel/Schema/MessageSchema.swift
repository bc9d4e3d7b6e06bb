/// A form of message that publishers write or consumers read, with its JSON Schema (draft 2020-12).
public enum MessageSchema: String, Sendable, CaseIterable {
    /// A request on a topic of publishers, as a strict reader takes it.
    case request
    /// Any record of the results topic.
    case result
    /// A result of the kind `outcome` alone.
    case outcome

    /// Its `$id`, a URN.
    public var identifier: String { "urn:pushfan:schema:push.\(rawValue):1" }

    /// The schema with `$schema` and `$id`, for use by itself.
    public var document: JSONTree {
        let head: JSONTree = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .text(identifier),
        ]
        return head.adding(body)
    }

    /// The schema without them, for use inside another document. It has no `$ref`, and no keyword that draft 7 understands otherwise.
    public var body: JSONTree {
        switch self {
        case .request: RequestReader.schema
        case .result:
            (["oneOf": [ResultWriter.finalSchema, ResultWriter.outcomeSchema]] as JSONTree).named("Result")
        case .outcome: ResultWriter.outcomeSchema
        }
    }
}
