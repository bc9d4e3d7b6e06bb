import HTTPServing
import HubServer

extension PackedWriter {
    /// Adds a list of texts.
    mutating func append(_ texts: [String]) {
        append(texts) { $0.append($1) }
    }

    /// Adds a list of named values.
    mutating func append(_ pairs: [(name: String, value: String)]) {
        append(pairs) { (writer, pair) in
            writer.append(pair.name)
            writer.append(pair.value)
        }
    }

    /// Adds header fields in their order.
    mutating func append(_ fields: HTTPFields) { append(fields.all.map { ($0.name, $0.value) }) }
}

extension PackedReader {
    /// The next list of texts.
    mutating func texts() throws(RefusedCall) -> [String] {
        try list { (reader) throws(RefusedCall) in try reader.text() }
    }

    /// The next list of named values.
    mutating func pairs() throws(RefusedCall) -> [(name: String, value: String)] {
        try list { (reader) throws(RefusedCall) in (try reader.text(), try reader.text()) }
    }

    /// The next header fields.
    mutating func fields() throws(RefusedCall) -> HTTPFields {
        var fields = HTTPFields()
        for pair in try pairs() { fields.append(pair.name, value: pair.value) }
        return fields
    }
}

/// Template bodies that were read already. Many devices have the same.
struct TemplateBodies {
    private static let maximumCount = 256
    private var bodies: [[UInt8]: BodyTemplate] = [:]

    /// The body of a text that was read before it was written.
    mutating func body(of text: String) throws(RefusedCall) -> BodyTemplate {
        let bytes = Array(text.utf8)
        if let body = bodies[bytes] { return body }
        guard let body = try? InstallationReader.compiled(text) else { throw .unreadable }
        if bodies.count == Self.maximumCount { bodies = [:] }
        bodies[bytes] = body
        return body
    }
}
