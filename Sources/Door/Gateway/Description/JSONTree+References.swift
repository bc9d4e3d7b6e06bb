import PushModel

/// Schemas with a title are written once, and others refer to them.
extension JSONTree {
    /// The keywords about the place where a schema stands.
    private static let annotations = ["description", "deprecated", "default"]

    private var schemaName: String? { if case .text(let name)? = self["title"] { name } else { nil } }

    /// The schema, with a reference in place of each that has a name. A sentence for readers stays where it was said.
    var referring: JSONTree {
        guard let name = schemaName else { return inside }
        let said = Self.annotations.compactMap { word in self[word].map { (word, $0) } }
        return .members([("$ref", .text("#/components/schemas/\(name)"))] + said)
    }

    /// The schema without its name and such sentences, with references in place of the schemas inside.
    var definition: JSONTree {
        guard case .object(let members) = self else { return self }
        return JSONTree.object(members.filter { $0.name != "title" && !Self.annotations.contains($0.name) }).inside
    }

    private var inside: JSONTree {
        switch self {
        case .array(let elements): .array(elements.map(\.referring))
        case .object(let members): .object(members.map { Member($0.name, value: $0.value.referring) })
        case .text, .number, .bool, .null: self
        }
    }

    /// All schemas with names, itself and those inside, one as often as it is met.
    var namedSchemas: [(name: String, schema: JSONTree)] {
        let own = schemaName.map { [(name: $0, schema: self)] } ?? []
        switch self {
        case .array(let elements): return own + elements.flatMap(\.namedSchemas)
        case .object(let members): return own + members.flatMap(\.value.namedSchemas)
        case .text, .number, .bool, .null: return own
        }
    }
}
