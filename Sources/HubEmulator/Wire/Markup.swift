import Foundation
import FoundationXML

/// One element of an XML text: its local name, attributes, text and children.
final class Markup {
    /// The deepest nesting of elements. Deeper texts are refused.
    static let maximumDepth = 32

    /// The name without its prefix.
    let name: String
    /// The URI of its namespace, if it is in one.
    let namespace: String?
    /// Attribute values by name without prefix.
    let attributes: [String: String]
    /// The character data directly inside, CDATA included.
    fileprivate(set) var text = ""
    fileprivate(set) var children: [Markup] = []

    fileprivate init(name: String, namespace: String?, attributes: [String: String]) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
    }

    /// Reads an XML text and gives its root, or `nil` when it is not well formed, too deep, or declares a document type (so that
    /// no entity is ever defined).
    static func read(_ bytes: [UInt8]) -> Markup? {
        let document = withoutDeclaration(bytes)
        guard !containsDocumentType(document) else { return nil }
        let parser = XMLParser(data: Data(document))
        parser.shouldResolveExternalEntities = false
        parser.shouldProcessNamespaces = true
        let builder = MarkupBuilder()
        parser.delegate = builder
        guard parser.parse(), !builder.isTooDeep, builder.isClosed else { return nil }
        return builder.root
    }

    /// True if `bytes` is an XML text that ``read(_:)`` accepts.
    static func isWellFormed(_ bytes: [UInt8]) -> Bool { read(bytes) != nil }

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
        let trimmed = child.text.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// Cuts the XML declaration off: clients declare UTF-16 or ISO-8859-1 for what they send as UTF-8.
    private static func withoutDeclaration(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        rest = rest.drop { $0 <= 0x20 }
        guard rest.starts(with: "<?xml ".utf8), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return Array(rest) }
        return Array(rest[(end + 1)...].drop { $0 <= 0x20 })
    }

    private static func containsDocumentType(_ bytes: [UInt8]) -> Bool {
        let mark = Array("<!DOCTYPE".utf8)
        var index = bytes.startIndex
        while let found = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            if bytes[found...].starts(with: mark) { return true }
            index = found + 1
        }
        return false
    }
}

/// Builds the tree while the parser reads.
private final class MarkupBuilder: NSObject, XMLParserDelegate {
    var root: Markup?
    var isTooDeep = false
    private var open: [Markup] = []
    var isClosed: Bool { open.isEmpty }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        var local: [String: String] = [:]
        for (name, value) in attributes { local[Self.localName(name)] = value }
        let element = Markup(name: Self.localName(elementName), namespace: namespaceURI, attributes: local)
        if let parent = open.last {
            parent.children.append(element)
        } else {
            root = element
        }
        open.append(element)
        if open.count > Markup.maximumDepth {
            isTooDeep = true
            parser.abortParsing()
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        if !open.isEmpty { open.removeLast() }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { open.last?.text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        open.last?.text += String(decoding: block, as: UTF8.self)
    }

    private static func localName(_ name: String) -> String {
        name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }
}
