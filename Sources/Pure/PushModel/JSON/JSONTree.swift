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

    /// The most bytes of a line that could be several.
    private static let lineLength = 120

    /// The value as JSON with a line end behind it. Long values with parts inside have several lines, with two blanks for each level.
    public var json: [UInt8] {
        var json = ByteWriter(capacity: 32 << 10)
        append(to: &json, level: 0)
        json.append("\n")
        return json.bytes
    }

    /// The parts with their names, and the bracket before and behind them. Nil for a value without parts.
    private var inside: (opening: StaticString, parts: [(name: String?, value: JSONTree)], closing: StaticString)? {
        switch self {
        case .array(let elements): ("[", elements.map { (nil, $0) }, "]")
        case .object(let members): ("{", members.map { ($0.name, $0.value) }, "}")
        case .text, .number, .bool, .null: nil
        }
    }

    private func append(to json: inout ByteWriter, level: Int) {
        switch self {
        case .text(let text): return json.append(json: text)
        case .number(let number): return json.append(decimal: number)
        case .bool(let value): return json.append(value ? "true" : "false")
        case .null: return json.append("null")
        case .array, .object: break
        }
        guard let (opening, parts, closing) = inside else { return }
        var line = ByteWriter()
        append(toLine: &line)
        guard line.count > Self.lineLength, parts.contains(where: { $0.value.inside?.parts.isEmpty == false }) else {
            return json.append(line)
        }
        json.append(opening)
        for (index, part) in parts.enumerated() {
            json.append(index == 0 ? "\n" : ",\n")
            json.append(String(repeating: "  ", count: level + 1))
            if let name = part.name { json.append(name: name) }
            part.value.append(to: &json, level: level + 1)
        }
        json.append("\n")
        json.append(String(repeating: "  ", count: level))
        json.append(closing)
    }

    private func append(toLine json: inout ByteWriter) {
        guard let (opening, parts, closing) = inside else { return append(to: &json, level: 0) }
        json.append(opening)
        for (index, part) in parts.enumerated() {
            if index > 0 { json.append(", ") }
            if let name = part.name { json.append(name: name) }
            part.value.append(toLine: &json)
        }
        json.append(closing)
    }
}

extension ByteWriter {
    fileprivate mutating func append(name: String) {
        append(json: name)
        append(": ")
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
