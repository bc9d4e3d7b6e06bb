/// The pieces of a JSON Schema (draft 2020-12), as far as messages need them. None uses `$ref`, so that each can stand in another document.
public enum JSONSchema {
    /// A text.
    ///
    /// - Parameters:
    ///   - lengths: In Unicode scalars; nil for any.
    ///   - pattern: A regular expression (ECMA-262); nil for any.
    /// - Returns: The schema.
    public static func text(_ lengths: ClosedRange<Int>? = nil, pattern: String? = nil) -> JSONTree {
        var members: [(String, JSONTree)] = [("type", "string")]
        if let lengths {
            if lengths.lowerBound > 0 { members.append(("minLength", .number(Int64(lengths.lowerBound)))) }
            members.append(("maxLength", .number(Int64(lengths.upperBound))))
        }
        if let pattern { members.append(("pattern", .text(pattern))) }
        return .members(members)
    }

    static func text(_ lengths: ClosedRange<Int>, of allowed: CharacterClass) -> JSONTree {
        text(lengths, pattern: allowed.pattern)
    }

    /// A whole number.
    public static func integer(_ range: ClosedRange<Int64>) -> JSONTree {
        ["type": "integer", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
    }

    /// The version of requests and results.
    static let version: JSONTree = ["type": "integer", "const": 1]

    /// A whole number that is not negative.
    public static let count: JSONTree = ["type": "integer", "minimum": 0]

    /// Numbers that are not negative, by words.
    public static let counts = map(of: count).named("Counts")

    /// True or false.
    public static let boolean: JSONTree = ["type": "boolean"]

    /// The code of an error in a result.
    public static let errorCode = words(ErrorCode.allCases.map(\.rawValue)).named("ErrorCode")

    /// A moment (RFC 3339).
    public static let moment: JSONTree = ["type": "string", "format": "date-time"]

    /// One of a few words.
    public static func words(_ words: [String]) -> JSONTree { ["type": "string", "enum": .texts(words)] }

    /// A list.
    ///
    /// - Parameters:
    ///   - element: What each element is.
    ///   - counts: How many there may be; nil for any number.
    ///   - isDistinct: Whether no two may be equal.
    /// - Returns: The schema.
    public static func list(of element: JSONTree, count counts: ClosedRange<Int>? = nil, isDistinct: Bool = false) -> JSONTree {
        var members: [(String, JSONTree)] = [("type", "array"), ("items", element)]
        if let counts {
            if counts.lowerBound > 0 { members.append(("minItems", .number(Int64(counts.lowerBound)))) }
            members.append(("maxItems", .number(Int64(counts.upperBound))))
        }
        if isDistinct { members.append(("uniqueItems", true)) }
        return .members(members)
    }

    /// An object of known members.
    ///
    /// - Parameters:
    ///   - properties: The members.
    ///   - required: The names of those that must be there.
    ///   - isOpen: Whether others may be there, too.
    /// - Returns: The schema.
    public static func object(_ properties: [(String, JSONTree)], required: [String] = [], isOpen: Bool = false) -> JSONTree {
        var members: [(String, JSONTree)] = [("type", "object"), ("properties", .members(properties))]
        if !required.isEmpty { members.append(("required", .texts(required))) }
        if !isOpen { members.append(("additionalProperties", false)) }
        return .members(members)
    }

    /// An object of known members that others write. One that is not required may be null, which says that it is not set.
    ///
    /// - Parameters:
    ///   - properties: The members.
    ///   - required: The names of those that must be there.
    ///   - isOpen: True if others may be there, too.
    /// - Returns: The schema.
    public static func input(_ properties: [(String, JSONTree)], required: [String] = [], isOpen: Bool = false) -> JSONTree {
        object(
            properties.map { ($0, required.contains($0) ? $1 : $1.orNull) }, required: required, isOpen: isOpen)
    }

    /// A condition on a value. Programs that generate types make some of `anyOf` and `oneOf`, and pass over `not`. So it stands behind two.
    static func condition(_ condition: JSONTree) -> JSONTree { ["not": ["not": condition]] }

    /// Says that an object has the member `name`, and that it is set.
    static func isSet(_ name: String) -> JSONTree {
        let value: JSONTree = ["not": ["type": "null"]]
        return ["required": [.text(name)], "properties": .members([(name, value)])]
    }

    /// An object whose names are not fixed.
    ///
    /// - Parameters:
    ///   - value: What each value is.
    ///   - counts: How many members there may be; nil for any number.
    ///   - names: What each name is; nil for any.
    /// - Returns: The schema.
    public static func map(of value: JSONTree, count counts: ClosedRange<Int>? = nil, names: JSONTree? = nil) -> JSONTree {
        var members: [(String, JSONTree)] = [("type", "object"), ("additionalProperties", value)]
        if let counts {
            if counts.lowerBound > 0 { members.append(("minProperties", .number(Int64(counts.lowerBound)))) }
            members.append(("maxProperties", .number(Int64(counts.upperBound))))
        }
        if let names { members.append(("propertyNames", names)) }
        return .members(members)
    }

    /// An object of texts. As an `input`, null says of each that it is not set.
    static func map(
        _ limits: RequestLimits.Map, names: CharacterClass? = nil, values: CharacterClass? = nil, isInput: Bool = true
    ) -> JSONTree {
        let name = names.map { text(1...limits.nameLength, of: $0) } ?? ["maxLength": .number(Int64(limits.nameLength))]
        let value = text(0...limits.valueLength, pattern: values?.patternOrEmpty)
        return map(of: isInput ? value.orNull : value, count: limits.members, names: name)
    }
}

extension JSONTree {
    /// The schema under a name, by which programs that generate types call it. No other schema has it.
    public func named(_ name: String) -> JSONTree { (["title": .text(name)] as JSONTree).adding(self) }

    /// The schema with a sentence for readers.
    public func described(_ text: String) -> JSONTree { adding(["description": .text(text)]) }

    /// The schema of a member that a later version lacks, with a sentence that names what to read in its place.
    public func deprecated(_ text: String) -> JSONTree { described(text).adding(["deprecated": true]) }

    /// The schema of what may be null, too.
    var orNull: JSONTree {
        guard case .object(let members) = self else { return self }
        guard self["type"] != nil, self["const"] == nil, self["enum"] == nil, self["title"] == nil else {
            return ["anyOf": [self, ["type": "null"]]]
        }
        return .object(
            members.map { member in
                switch (member.name, member.value) {
                case ("type", .array(let types)): Member("type", value: .array(types + ["null"]))
                case ("type", let type): Member("type", value: [type, "null"])
                default: member
                }
            })
    }

    /// The schema with the value that counts where there is none.
    func withDefault(_ value: JSONTree) -> JSONTree { adding(["default": value]) }
}
