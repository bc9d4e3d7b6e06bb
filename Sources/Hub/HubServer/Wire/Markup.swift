import XML

/// One element of an XML text: its local name, namespace, attributes, text and children.
struct Markup {
    /// The deepest nesting of elements. Deeper texts are refused.
    static let maximumDepth = 32

    /// The name without its prefix.
    let name: String
    /// The URI of its namespace, or nil when it is in none.
    let namespace: String?
    /// Attribute values by name without prefix. Declarations of namespaces are none of them.
    let attributes: [String: String]
    /// The character data directly inside, CDATA included.
    fileprivate(set) var text = ""
    fileprivate(set) var children: [Markup] = []

    fileprivate init(name: String, namespace: String?, attributes: [String: String]) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
    }

    /// Reads an XML text and gives its root. Throws when it is not well formed, too deep, has a prefix that is not declared, or declares a
    /// document type (so that no entity is ever defined).
    static func root(of bytes: [UInt8], allowing leniency: XMLScanner.Leniency = []) throws(XMLFault) -> Markup {
        var reader = MarkupReader(bytes.span, allowing: leniency)
        return try reader.read()
    }

    /// As ``root(of:allowing:)``, but nil for all that is refused.
    static func read(_ bytes: [UInt8]) -> Markup? { try? root(of: bytes) }

    /// The first child called `name`.
    func child(_ name: String) -> Markup? { children.first { $0.name == name } }

    /// The first descendant, or this element, whose name satisfies `matches`.
    func first(where matches: (String) -> Bool) -> Markup? {
        if matches(name) { return self }
        for child in children {
            if let found = child.first(where: matches) { return found }
        }
        return nil
    }

    /// The text of the first child called `name` without surrounding blanks, or `nil` if absent, empty or nil by `i:nil`.
    func value(_ name: String) -> String? {
        guard let child = child(name), child.attributes["nil"] != "true" else { return nil }
        let trimmed = child.text.trimmingBlanks
        return trimmed.isEmpty ? nil : trimmed
    }
}

/// Builds the tree while the scanner reads.
private struct MarkupReader: ~Escapable {
    private var scanner: XMLScanner

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, allowing leniency: XMLScanner.Leniency) {
        scanner = XMLScanner(text, maximumDepth: Markup.maximumDepth, allowing: leniency)
    }

    mutating func read() throws(XMLFault) -> Markup {
        guard case .start(let name) = try scanner.next() else { throw XMLFault(.root, at: 0) }
        let root = try element(name, namespaces: ["xml": "http://www.w3.org/XML/1998/namespace"])
        _ = try scanner.next()
        return root
    }

    /// Reads the element whose start was read last, in which prefixes stand for these namespaces. The empty prefix is that of names without.
    private mutating func element(_ place: Range<Int>, namespaces outer: [String: String]) throws(XMLFault) -> Markup {
        var namespaces = outer
        var others: [(name: Range<Int>, value: String)] = []
        for number in 0..<scanner.attributeCount {
            let attribute = scanner.attribute(number)
            let name = try parts(of: attribute.name)
            var bytes: [UInt8] = []
            try scanner.append(attribute.value, to: &bytes)
            let value = String(decoding: bytes, as: UTF8.self)
            if name.prefix == "xmlns" {
                guard !value.isEmpty else { throw XMLFault(.prefix, at: attribute.name.lowerBound) }
                namespaces[name.local] = value
            } else if name.prefix.isEmpty, name.local == "xmlns" {
                namespaces[""] = value.isEmpty ? nil : value
            } else {
                others.append((attribute.name, value))
            }
        }
        var attributes: [String: String] = [:]
        var names: Set<[String]> = []
        for (place, value) in others {
            let name = try parts(of: place)
            let namespace = name.prefix.isEmpty ? "" : try self.namespace(of: name.prefix, at: place, in: namespaces)
            guard names.insert([namespace, name.local]).inserted else { throw XMLFault(.secondAttribute, at: place.lowerBound) }
            attributes[name.local] = value
        }
        let name = try parts(of: place)
        let namespace = name.prefix.isEmpty ? namespaces[""] : try self.namespace(of: name.prefix, at: place, in: namespaces)
        var element = Markup(name: name.local, namespace: namespace, attributes: attributes)
        var text: [UInt8] = []
        while true {
            switch try scanner.next() {
            case .start(let name): element.children.append(try self.element(name, namespaces: namespaces))
            case .text(let range): try scanner.append(range, to: &text)
            case .literal(let range): try scanner.append(range, isLiteral: true, to: &text)
            case .end, .finished:
                element.text = String(decoding: text, as: UTF8.self)
                return element
            }
        }
    }

    /// The prefix, empty when there is none, and the local name of a name with at most one colon.
    private func parts(of place: Range<Int>) throws(XMLFault) -> (prefix: String, local: String) {
        let name = String(decoding: place.map { scanner.text[$0] }, as: UTF8.self)
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { throw XMLFault(.prefix, at: place.lowerBound) }
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : ("", name)
    }

    private func namespace(of prefix: String, at place: Range<Int>, in namespaces: [String: String]) throws(XMLFault) -> String {
        guard let namespace = namespaces[prefix] else { throw XMLFault(.prefix, at: place.lowerBound) }
        return namespace
    }
}
