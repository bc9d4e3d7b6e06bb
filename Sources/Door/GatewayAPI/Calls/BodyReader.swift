package import HTTPServing
package import PushModel

/// Reads a body's object strictly: a member that is unknown, or of another type, is a fault, and all faults, up to 32, are answered at once. One that
/// is null is not set.
package struct BodyReader {
    private let document: JSONDocument
    private var members: [(name: String, node: JSONDocument.Node)] = []
    package private(set) var faults: [RequestFault] = []

    /// Reads the body of a call that may have these members. None is an empty object.
    ///
    /// - Throws: 400, 413 and 415 for what is no JSON.
    package init(_ call: HTTPServerRequest, atMost limit: Int = JSONBody.maximumByteCount, members names: [String])
        throws(APIProblem)
    {
        guard !call.body.isEmpty else {
            document = JSONDocument()
            return
        }
        document = try JSONBody.read(call.body, contentType: call.headers.single("Content-Type"), atMost: limit)
        guard document.kind(of: document.root) == .object else {
            fault("", "The body must be an object.")
            try check()
            return
        }
        let document = document
        var (found, unknown): ([(String, JSONDocument.Node)], [RequestFault]) = ([], [])
        let words = "There is no such member. Known are: \(names.joined(separator: ", "))."
        document.forEachMember(of: document.root) { name, value in
            if let known = names.first(where: { document.isEqual(name, to: $0) }) {
                if document.kind(of: value) != .null { found.append((known, value)) }
            } else {
                unknown.note(RequestFault(.schemaInvalid, at: document.pointer(to: value), message: words))
            }
        }
        members = found
        faults += unknown
    }

    /// Adds a fault of a member.
    package mutating func fault(_ name: String, _ message: String) {
        faults.note(RequestFault(.schemaInvalid, at: name.isEmpty ? "" : "/" + name, message: message))
    }

    /// A text, or nil where there is none.
    package mutating func text(_ name: String, count: ClosedRange<Int> = 0...4096) -> String? {
        guard let node = node(name, .string, "a string") else { return nil }
        let text = document.string(document.text(of: node))
        guard count.contains(text.unicodeScalars.count) else {
            fault(name, "It must have \(count.lowerBound) to \(count.upperBound) characters.")
            return nil
        }
        return text
    }

    /// The reason of a replay, or nil where there is none. A blank one is a fault.
    package mutating func reason() -> String? {
        guard let text = text("reason", count: 1...512) else { return nil }
        if text.allSatisfy(\.isWhitespace) { fault("reason", "It must say something.") }
        return text
    }

    /// True for a member that is there, whatever it is.
    package func has(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// One of some words, or nil where there is none.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String, as type: Word.Type) -> Word? {
        guard let text = text(name) else { return nil }
        if let word = Word(rawValue: text) { return word }
        fault(name, "It must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        return nil
    }

    /// A list of texts, empty where there is none.
    package mutating func texts(_ name: String, atMost limit: Int = 1000) -> [String] {
        guard let node = node(name, .array, "a list of strings") else { return [] }
        let document = document
        var (texts, isRight) = ([String](), true)
        document.forEachElement(of: node) { element in
            if document.kind(of: element) == .string {
                texts.append(document.string(document.text(of: element)))
            } else {
                isRight = false
            }
        }
        guard isRight, texts.count <= limit else {
            fault(name, "It must be a list of at most \(limit) strings.")
            return []
        }
        return texts
    }

    /// A whole number, or nil where there is none.
    package mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        guard let node = node(name, .number, "a whole number") else { return nil }
        if let number = document.integer(at: node), range.contains(number) { return number }
        fault(name, "It must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        return nil
    }

    /// True or false, and false where there is none.
    package mutating func flag(_ name: String) -> Bool {
        guard let node = members.first(where: { $0.name == name })?.node else { return false }
        let kind = document.kind(of: node)
        return self.node(name, kind == .false ? .false : .true, "true or false") != nil && kind == .true
    }

    /// The JSON of a member that is an object, or nil where there is none.
    package mutating func object(_ name: String) -> [UInt8]? {
        node(name, .object, "an object").map { Array(document.string(document.text(of: $0)).utf8) }
    }

    /// The JSON of a member as it stands, or nil where there is none.
    package func raw(_ name: String) -> [UInt8]? {
        members.first { $0.name == name }.map { Array(document.string(document.text(of: $0.node)).utf8) }
    }

    /// Fails with 422 and every fault, if there is one.
    package func check() throws(APIProblem) {
        guard faults.isEmpty else {
            throw APIProblem(
                422, code: .invalidRequest, detail: "The body is not what this call takes; errors names each fault.",
                faults: faults)
        }
    }

    private mutating func node(_ name: String, _ kind: JSONDocument.Kind, _ words: String) -> JSONDocument.Node? {
        let found = members.filter { $0.name == name }
        guard let node = found.first?.node else { return nil }
        guard found.count == 1 else {
            fault(name, "It is there more than once.")
            return nil
        }
        guard document.kind(of: node) == kind else {
            fault(name, "It must be \(words).")
            return nil
        }
        return node
    }
}
