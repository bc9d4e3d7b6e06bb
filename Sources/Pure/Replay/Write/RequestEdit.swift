public import PushModel

/// A change to make in every request of a replay: `hub=other`, `options.max_attempts=8`, `message.title="New text"`.
public struct RequestEdit: Sendable, Equatable {
    /// The reason why a text is no edit.
    public struct Fault: Error, Sendable, Equatable {
        /// A statement of what is wrong with it, and of what is allowed.
        public let reason: String
    }

    /// The fields that may be changed, with those inside them. To whom a request goes, and who it is, stays what it was.
    public static let fields = [
        "hub", "priority", "collapse_key", "not_before", "message", "payloads", "template", "options", "labels",
    ]
    /// The most changes of one replay, all of which are looked for in each object of a request.
    public static let maximumCount = 64
    /// The most names of a path. No request has values deeper inside.
    public static let maximumDepth = JSONDocument.maximumDepth
    /// Fields whose contents are the publisher's alone. A lineage names them without their values.
    private static let confidential = ["message", "payloads", "template"]

    /// The names from the request down to the value.
    public let path: [String]
    /// The new value as JSON. Nil removes the field.
    public let json: [UInt8]?

    /// True if it changes what devices show, which is what a publisher says.
    public var changesContent: Bool { path.first.map(Self.confidential.contains) ?? false }

    /// Reads `field=value` or `field.inner=value`.
    ///
    /// - Parameter text: What was typed. A value that is a JSON number, object, array, `true`, `false` or a text in quotes stands for
    ///   itself, `null` removes the field, and everything else is a text.
    /// - Throws: `Fault`.
    public init(_ text: String) throws(Fault) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw Fault(reason: "expected FIELD=VALUE, such as options.max_attempts=8")
        }
        // To write a value, one function calls itself for each name.
        path = text[..<equals].split(separator: ".", maxSplits: Self.maximumDepth, omittingEmptySubsequences: false)
            .map(String.init)
        guard path.count <= Self.maximumDepth else {
            throw Fault(reason: "a request has no value behind more than \(Self.maximumDepth) names")
        }
        guard let field = path.first, Self.fields.contains(field), !path.contains("") else {
            throw Fault(reason: "this field cannot be changed; those that can are \(Self.fields.joined(separator: ", "))")
        }
        json = Self.value(String(text[text.index(after: equals)...]), inside: path)
    }

    private static func value(_ text: String, inside path: [String]) -> [UInt8]? {
        var document = JSONDocument()
        let bytes = Array(text.utf8)
        // Labels, templates and data hold texts only, whatever they look like.
        let holdsTexts = path.count > 1 && ["labels", "template"].contains(path[0]) || path.starts(with: ["message", "data"])
        let isJSON = (try? document.read(bytes.span)) != nil
        if isJSON, document.kind(of: document.root) == .null { return nil }
        if isJSON, document.kind(of: document.root) == .string || !holdsTexts { return bytes }
        return JSONObject.text(text)
    }

    /// The new value where that is text, or nil.
    public var text: String? {
        var document = JSONDocument()
        guard let json, (try? document.read(json.span)) != nil, document.kind(of: document.root) == .string else { return nil }
        return document.string(document.text(of: document.root))
    }

    /// The words of a lineage about the edit: the field, and its value where that may be shown. They have 128 characters at most.
    public var note: String {
        let name = path.joined(separator: ".")
        guard let field = path.first, !Self.confidential.contains(field) else { return Self.cut(name) }
        return Self.cut("\(name)=\(json.map { String(decoding: $0, as: UTF8.self) } ?? "null")")
    }

    private static func cut(_ text: String) -> String {
        text.unicodeScalars.count <= 128 ? text : String(text.unicodeScalars.prefix(127)) + "…"
    }
}

extension RequestEdit {
    /// The object that `document` is, with changes.
    ///
    /// - Parameters:
    ///   - edits: The changes.
    ///   - document: A request; what is no object becomes one.
    /// - Returns: The object as JSON.
    public static func apply(_ edits: [RequestEdit], to document: JSONDocument) -> [UInt8] {
        var members = ByteWriter()
        appendMembers(of: document.root, in: document, edits: edits, to: &members)
        return Array("{".utf8) + members.bytes.dropFirst() + Array("}".utf8)
    }

    /// Writes the members of an object, if it is there, comma in front of each, with the changes that concern it, and without
    /// those omitted. `depth` is the number of names that lead to the object.
    static func appendMembers(
        of node: JSONDocument.Node?, in document: borrowing JSONDocument, edits: [RequestEdit], depth: Int = 0,
        omitting omitted: [String] = [], to json: inout ByteWriter
    ) {
        var seen = omitted
        if let node {
            var members = document.children(of: node)
            while let (key, value) = members.next(in: document) {
                let name = document.string(document.text(of: key))
                guard !omitted.contains(name) else { continue }
                seen.append(name)
                append(name, value: value, in: document, edits: edits.filter { $0.path[depth] == name }, depth: depth, to: &json)
            }
        }
        for edit in edits where !seen.contains(edit.path[depth]) {
            let name = edit.path[depth]
            seen.append(name)
            append(name, value: nil, in: document, edits: edits.filter { $0.path[depth] == name }, depth: depth, to: &json)
        }
    }

    private static func append(
        _ name: String, value: JSONDocument.Node?, in document: borrowing JSONDocument, edits: [RequestEdit], depth: Int,
        to json: inout ByteWriter
    ) {
        let whole = edits.last { $0.path.count == depth + 1 }
        if let whole, whole.json == nil { return }
        json.append(",")
        json.append(json: name)
        json.append(":")
        if let bytes = whole?.json { return json.append(bytes.span) }
        if edits.isEmpty, let value { return json.append(verbatim: value, in: document) }
        var inner = ByteWriter()
        let object = value.flatMap { document.kind(of: $0) == .object ? $0 : nil }
        appendMembers(of: object, in: document, edits: edits, depth: depth + 1, to: &inner)
        json.append("{")
        if inner.count > 0 { json.append(inner.span.extracting(1..<inner.count)) }
        json.append("}")
    }
}
