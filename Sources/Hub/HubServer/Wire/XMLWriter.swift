import PushModel

/// Writes XML elements. Every text and attribute is escaped.
struct XMLWriter {
    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    static let atom = "http://www.w3.org/2005/Atom"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    private var writer = ByteWriter(capacity: 512)

    var bytes: [UInt8] { writer.bytes }

    /// A text with the declaration of its encoding, which is not always its own, before the content.
    static func document(encoding: String = "utf-8", writing content: (inout XMLWriter) -> Void) -> [UInt8] {
        var writer = XMLWriter()
        writer.writer.append("<?xml version=\"1.0\" encoding=\"\(encoding)\"?>")
        content(&writer)
        return writer.bytes
    }

    /// Writes an element, closed at once without content.
    mutating func element(
        _ name: String, attributes: [(name: String, value: String)] = [], content: ((inout XMLWriter) -> Void)? = nil
    ) {
        writer.append("<")
        writer.append(name)
        for attribute in attributes {
            writer.append(" ")
            writer.append(attribute.name)
            writer.append("=\"")
            writer.append(xml: Array(attribute.value.utf8).span)
            writer.append("\"")
        }
        guard let content else {
            writer.append(" />")
            return
        }
        writer.append(">")
        content(&self)
        writer.append("</")
        writer.append(name)
        writer.append(">")
    }

    /// Writes an element that holds text.
    mutating func element(_ name: String, attributes: [(name: String, value: String)] = [], text: String) {
        element(name, attributes: attributes) { $0.writer.append(xmlText: text) }
    }

    /// Writes an element whose text is a CDATA section. A `]]>` inside is split over two sections.
    mutating func element(_ name: String, cdata text: String) {
        element(name) { inner in
            inner.writer.append("<![CDATA[")
            let pieces = text.split(separator: "]]>", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                if index > 0 { inner.writer.append("]]]]><![CDATA[>") }
                inner.writer.append(String(piece))
            }
            inner.writer.append("]]>")
        }
    }
}

extension ByteWriter {
    /// Appends text between tags: like an attribute's value, but with its quotes as they are, as the service writes it.
    mutating func append(xmlText text: String) {
        let bytes = Array(text.utf8)
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            append(xml: bytes.span.extracting(start..<index))
            append(byte)
            start = index + 1
        }
        append(xml: bytes.span.extracting(start..<bytes.count))
    }
}
