import PushModel

/// A template's body, read once: stretches of fixed bytes with expressions between them.
struct BodyTemplate: Sendable {
    private enum Segment: Sendable {
        case bytes([UInt8])
        case expression(TemplateExpression)
    }

    /// True if the body is XML, false if it is JSON.
    let isXML: Bool
    private let segments: [Segment]

    /// Reads a body, or throws its first fault. A body that begins with `<` is XML, any other JSON.
    init(_ text: String) throws(TemplateError) {
        let bytes = Array(text.utf8)
        let values: [ValueRange]
        isXML = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
        if isXML {
            guard Markup.isWellFormed(bytes) else { throw .notXML }
            values = XMLTemplateScanner.values(in: bytes)
        } else {
            var document = JSONDocument()
            do { try document.read(bytes.span) } catch { throw .notJSON(error.sentence) }
            values = JSONTemplateScanner.values(in: bytes)
        }
        segments = try Self.segments(of: bytes, values: values, isXML: isXML)
    }

    /// The body for a notification with these properties by lower-cased name.
    func rendered(_ properties: [String: String]) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        for segment in segments {
            switch segment {
            case .bytes(let bytes):
                writer.append(bytes.span)
            case .expression(let expression):
                append(expression.value(properties) ?? .text(""), to: &writer)
            }
        }
        return writer.bytes
    }

    private func append(_ value: TemplateExpression.Value, to writer: inout ByteWriter) {
        switch value {
        case .text(let text):
            let bytes = Array(text.utf8)
            if isXML { writer.append(xml: bytes.span) } else { writer.append(json: bytes.span) }
        case .number(let text):
            writer.append(text)
        }
    }

    private static func segments(
        of bytes: [UInt8], values: [ValueRange], isXML: Bool
    ) throws(TemplateError) -> [Segment] {
        var segments: [Segment] = []
        var position = 0
        for value in values {
            let expression = try TemplateExpression(parsing: value.text)
            if case .literal = expression { continue }
            if case .numeric = expression, isXML { throw .numericInXML }
            segments.append(.bytes(Array(bytes[position..<value.range.lowerBound])))
            segments.append(.expression(expression))
            position = value.range.upperBound
        }
        segments.append(.bytes(Array(bytes[position...])))
        return segments
    }
}

/// A value in a template's body: the bytes it takes, quotes included in JSON, and its text without escapes.
struct ValueRange {
    let range: Range<Int>
    let text: String
}

/// Finds the string values of a JSON text that is known to be valid. Object keys are no values.
enum JSONTemplateScanner {
    static func values(in bytes: [UInt8]) -> [ValueRange] {
        var values: [ValueRange] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let end = endOfString(bytes, from: index)
            let next = bytes[end...].first { $0 > 0x20 }
            if next != UInt8(ascii: ":") { values.append(ValueRange(range: index..<end, text: decoded(bytes[index..<end]))) }
            index = end
        }
        return values
    }

    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func decoded(_ literal: ArraySlice<UInt8>) -> String {
        var document = JSONDocument()
        guard (try? document.read(Array(literal).span)) != nil else { return "" }
        return document.string(document.text(of: document.root))
    }
}

/// Finds the attribute values and text nodes of an XML text that is known to be well formed.
enum XMLTemplateScanner {
    static func values(in bytes: [UInt8]) -> [ValueRange] {
        var values: [ValueRange] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "<") {
                let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                values.append(ValueRange(range: index..<end, text: decoded(bytes[index..<end])))
                index = end
            } else if let end = endOfOpaque(bytes, from: index) {
                index = end
            } else {
                index = readTag(bytes, from: index, into: &values)
            }
        }
        return values
    }

    /// The end of a comment, CDATA section, processing instruction or declaration that starts at `index`.
    private static func endOfOpaque(_ bytes: [UInt8], from index: Int) -> Int? {
        let kinds: [(open: String, close: String)] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")]
        for kind in kinds where bytes[index...].starts(with: kind.open.utf8) {
            let close = Array(kind.close.utf8)
            var position = index + kind.open.utf8.count
            while position < bytes.count {
                if bytes[position...].starts(with: close) { return position + close.count }
                position += 1
            }
            return bytes.count
        }
        return nil
    }

    private static func readTag(_ bytes: [UInt8], from start: Int, into values: inout [ValueRange]) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: ">") {
            let quote = bytes[index]
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                index += 1
                continue
            }
            let end = bytes[(index + 1)...].firstIndex(of: quote) ?? bytes.count
            values.append(ValueRange(range: (index + 1)..<end, text: decoded(bytes[(index + 1)..<end])))
            index = end + 1
        }
        return min(index + 1, bytes.count)
    }

    /// The text with the five predefined entities and character references resolved (XML 1.0, 4.1 and 4.6).
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            guard let semicolon = rest[ampersand...].firstIndex(of: ";"),
                let character = character(named: rest[rest.index(after: ampersand)..<semicolon])
            else {
                result += "&"
                rest = rest[rest.index(after: ampersand)...]
                continue
            }
            result.unicodeScalars.append(character)
            rest = rest[rest.index(after: semicolon)...]
        }
        return result + rest
    }

    private static func character(named name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHex = name.hasPrefix("#x") || name.hasPrefix("#X")
            guard name.hasPrefix("#") else { return nil }
            return UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
        }
    }
}
