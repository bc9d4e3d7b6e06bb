/// A JSON value that code makes, such as a schema; members keep their order. What is read is a `JSONDocument`.
public enum JSONTree: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case bool(Bool)
    case array([JSONTree])
    case object([Member])
    case null

    /// A member of an object.
    public struct Member: Sendable, Equatable {
        /// Its name; the caller gives none twice.
        public var name: String
        /// Its value.
        public var value: JSONTree

        /// A member of this name.
        public init(_ name: String, value: JSONTree) {
            self.name = name
            self.value = value
        }
    }

    /// An object with these members, in this order.
    public static func members(_ members: [(String, JSONTree)]) -> JSONTree { .object(members.map { Member($0, value: $1) }) }

    /// An array of texts.
    public static func texts(_ texts: [String]) -> JSONTree { .array(texts.map { .text($0) }) }

    /// The member `name` of an object; nil where there is none.
    public subscript(_ name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The object with the members of another one behind its own; anything but two objects stays as it is.
    public func adding(_ other: JSONTree) -> JSONTree {
        guard case .object(let mine) = self, case .object(let more) = other else { return self }
        return .object(mine + more)
    }

    /// The value as JSON on several lines, two blanks for each level and a line end behind it.
    public var json: [UInt8] {
        var json = ByteWriter(capacity: 32 << 10)
        append(to: &json, level: 0)
        json.append("\n")
        return json.bytes
    }

    private func append(to json: inout ByteWriter, level: Int) {
        switch self {
        case .text(let text): json.append(json: text)
        case .number(let number): json.append(decimal: number)
        case .bool(let value): json.append(value ? "true" : "false")
        case .null: json.append("null")
        case .array(let elements):
            Self.append("[", parts: elements, closing: "]", to: &json, level: level) { $0.append(to: &$1, level: level + 1) }
        case .object(let members):
            Self.append("{", parts: members, closing: "}", to: &json, level: level) {
                $1.append(json: $0.name)
                $1.append(": ")
                $0.value.append(to: &$1, level: level + 1)
            }
        }
    }

    private static func append<Part>(
        _ opening: StaticString, parts: [Part], closing: StaticString, to json: inout ByteWriter, level: Int,
        append: (Part, inout ByteWriter) -> Void
    ) {
        json.append(opening)
        for (index, part) in parts.enumerated() {
            json.append(index == 0 ? "\n" : ",\n")
            json.append(String(repeating: "  ", count: level + 1))
            append(part, &json)
        }
        if !parts.isEmpty {
            json.append("\n")
            json.append(String(repeating: "  ", count: level))
        }
        json.append(closing)
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .number(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
    /// An object with the members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONTree)...) { self = .members(elements) }
}
