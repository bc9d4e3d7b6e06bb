public import PushModel

/// Checks JSON against a JSON Schema, as far as the program's own schemas go: a keyword that it does not know is a violation, too.
public struct SchemaCheck {
    /// A violated keyword each, with its place.
    public private(set) var violations: [String] = []
    private let document: JSONDocument
    /// Whether members that are not named are violations even in objects that are open to those of later versions.
    private let isClosed: Bool
    private var patterns: [String: Regex<AnyRegexOutput>] = [:]

    /// Lists what `schema` forbids in `bytes`.
    public static func violations(of bytes: [UInt8], by schema: JSONTree, isClosed: Bool = false) -> [String] {
        var document = JSONDocument()
        do { try document.read(bytes.span) } catch { return ["this is no JSON: \(String(decoding: bytes, as: UTF8.self))"] }
        var check = SchemaCheck(document: document, isClosed: isClosed)
        check.check(document.root, schema)
        return check.violations
    }

    private init(document: JSONDocument, isClosed: Bool) {
        self.document = document
        self.isClosed = isClosed
    }

    private mutating func check(_ node: JSONDocument.Node, _ schema: JSONTree) {
        guard case .object(let keywords) = schema else { return require(false, "schema", node) }
        for keyword in keywords {
            switch keyword.name {
            case "$schema", "$id", "title", "description", "default", "deprecated": break
            case "type": require(types(keyword.value).contains { isOf($0, node) }, "type", node)
            case "const": require(isEqual(node, to: keyword.value), "const", node)
            case "enum": require(elements(keyword.value).contains { isEqual(node, to: $0) }, "enum", node)
            case "anyOf": require(elements(keyword.value).contains { fits(node, $0) }, "anyOf", node)
            case "allOf": require(elements(keyword.value).allSatisfy { fits(node, $0) }, "allOf", node)
            case "oneOf": checkChoice(node, elements(keyword.value))
            case "not": require(!fits(node, keyword.value), "not", node)
            case "properties", "additionalProperties", "required", "propertyNames", "minProperties", "maxProperties":
                if document.kind(of: node) == .object { checkObject(node, keyword, schema) }
            case "items", "minItems", "maxItems", "uniqueItems":
                if document.kind(of: node) == .array { checkArray(node, keyword) }
            case "minLength", "maxLength", "pattern", "format":
                if document.kind(of: node) == .string { checkText(text(node), keyword, node) }
            case "minimum": if let value = document.integer(at: node) { require(value >= number(keyword), "minimum", node) }
            case "maximum": if let value = document.integer(at: node) { require(value <= number(keyword), "maximum", node) }
            default: require(false, "the keyword \(keyword.name)", node)
            }
        }
    }

    private mutating func checkObject(_ node: JSONDocument.Node, _ keyword: JSONTree.Member, _ schema: JSONTree) {
        var members: [(name: String, key: JSONDocument.Node, value: JSONDocument.Node)] = []
        var cursor = document.children(of: node)
        while let (key, value) = cursor.next(in: document) { members.append((text(key), key, value)) }
        switch keyword.name {
        case "properties":
            let isOpen = !isClosed || schema["additionalProperties"] != nil
            for member in members {
                if let known = keyword.value[member.name] {
                    check(member.value, known)
                } else {
                    require(isOpen, "properties: \(member.name)", node)
                }
            }
        case "additionalProperties":
            for member in members where schema["properties"]?[member.name] == nil {
                if keyword.value == false { require(false, "additionalProperties: \(member.name)", node) }
                if keyword.value != false { check(member.value, keyword.value) }
            }
        case "required":
            for case .text(let name) in elements(keyword.value) {
                require(members.contains { $0.name == name }, "required: \(name)", node)
            }
        case "propertyNames": for member in members { check(member.key, keyword.value) }
        case "minProperties": require(members.count >= number(keyword), "minProperties", node)
        default: require(members.count <= number(keyword), "maxProperties", node)
        }
    }

    /// Of the choices one must fit, and the members that it does not name may be forbidden all the same.
    private mutating func checkChoice(_ node: JSONDocument.Node, _ choices: [JSONTree]) {
        let fitting = choices.filter { fits(node, $0) }
        require(fitting.count == 1, "oneOf", node)
        if let choice = fitting.first { check(node, choice) }
    }

    private mutating func checkArray(_ node: JSONDocument.Node, _ keyword: JSONTree.Member) {
        let count = document.childCount(of: node)
        var cursor = document.children(of: node)
        switch keyword.name {
        case "items": while let (_, element) = cursor.next(in: document) { check(element, keyword.value) }
        case "minItems": require(count >= number(keyword), "minItems", node)
        case "maxItems": require(count <= number(keyword), "maxItems", node)
        default:
            var seen: Set<[UInt8]> = []
            while let (_, element) = cursor.next(in: document) { seen.insert(Array(text(element).utf8)) }
            require(seen.count == count, "uniqueItems", node)
        }
    }

    private mutating func checkText(_ text: String, _ keyword: JSONTree.Member, _ node: JSONDocument.Node) {
        switch (keyword.name, keyword.value) {
        case ("minLength", _): require(text.unicodeScalars.count >= number(keyword), "minLength", node)
        case ("maxLength", _): require(text.unicodeScalars.count <= number(keyword), "maxLength", node)
        case ("pattern", .text(let pattern)):
            if patterns[pattern] == nil { patterns[pattern] = (try? Regex(pattern))?.matchingSemantics(.unicodeScalar) }
            require(patterns[pattern].map { text.wholeMatch(of: $0) != nil } ?? false, "pattern \(pattern)", node)
        case ("format", "date-time"): require(Timestamp(text.utf8Span.span) != nil, "format", node)
        default: require(false, "the keyword \(keyword.name)", node)
        }
    }

    // MARK: What keywords are made of.

    private mutating func require(_ holds: Bool, _ keyword: String, _ node: JSONDocument.Node) {
        if !holds { violations.append("\(document.pointer(to: node)): \(keyword)") }
    }

    private func fits(_ node: JSONDocument.Node, _ schema: JSONTree) -> Bool {
        var check = SchemaCheck(document: document, isClosed: false)
        check.check(node, schema)
        return check.violations.isEmpty
    }

    private func text(_ node: JSONDocument.Node) -> String { document.string(document.text(of: node)) }

    private func elements(_ value: JSONTree) -> [JSONTree] {
        if case .array(let elements) = value { elements } else { [] }
    }

    private func types(_ value: JSONTree) -> [JSONTree] {
        if case .array(let types) = value { types } else { [value] }
    }

    private func number(_ keyword: JSONTree.Member) -> Int64 {
        if case .number(let number) = keyword.value { number } else { .min }
    }

    private func isOf(_ type: JSONTree, _ node: JSONDocument.Node) -> Bool {
        switch document.kind(of: node) {
        case .object: type == "object"
        case .array: type == "array"
        case .string: type == "string"
        case .true, .false: type == "boolean"
        case .number: type == "number" || type == "integer" && document.integer(at: node) != nil
        case .null: type == "null"
        }
    }

    private func isEqual(_ node: JSONDocument.Node, to value: JSONTree) -> Bool {
        switch value {
        case .text(let expected): document.kind(of: node) == .string && text(node) == expected
        case .number(let expected): document.integer(at: node) == expected
        case .bool(let expected): document.kind(of: node) == (expected ? .true : .false)
        case .null: document.kind(of: node) == .null
        case .array, .object: false
        }
    }
}
