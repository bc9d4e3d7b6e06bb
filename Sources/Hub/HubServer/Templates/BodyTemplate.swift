import PushModel
import XML

/// A template's body, read once: stretches of fixed bytes with expressions between them.
package struct BodyTemplate: Sendable {
    private enum Segment: Sendable {
        case bytes([UInt8])
        case expression(TemplateExpression)
    }

    /// True if the body is XML, false if it is JSON.
    package let isXML: Bool
    private let segments: [Segment]

    /// Reads a body, or throws its first fault. A body that begins with `<` is XML, any other JSON.
    init(_ text: String) throws(TemplateError) {
        let bytes = Array(text.utf8)
        let values: [ValueRange]
        isXML = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
        if isXML {
            do throws(XMLFault) {
                // The text came inside another one: its own bytes are whatever that one's are.
                _ = try Markup.root(of: bytes, allowing: .anyEncoding)
                values = try XMLTemplateScanner.values(in: bytes)
            } catch {
                throw .notXML(error.sentence)
            }
        } else {
            var document = JSONDocument()
            do { try document.read(bytes.span) } catch { throw .notJSON(error.sentence) }
            values = JSONTemplateScanner.values(in: bytes)
        }
        segments = try Self.segments(of: bytes, values: values, isXML: isXML)
    }

    /// Bytes that no push service takes. A body that has reached so many is cut, and refused by its size.
    private static let maximumByteCount = 64 << 10

    /// The body for a notification with these properties by lower-cased name.
    package func rendered(_ properties: [String: String]) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        for segment in segments {
            guard writer.count <= Self.maximumByteCount else { break }
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

/// Finds the attribute values and text nodes of an XML text.
enum XMLTemplateScanner {
    static func values(in bytes: [UInt8]) throws(XMLFault) -> [ValueRange] {
        var scanner = XMLScanner(bytes.span, allowing: .anyEncoding)
        var values: [ValueRange] = []
        while true {
            switch try scanner.next() {
            case .start:
                for number in 0..<scanner.attributeCount {
                    values.append(try value(scanner.attribute(number).value, in: scanner))
                }
            case .text(let range): values.append(try value(range, in: scanner))
            case .end, .literal: break
            case .finished: return values
            }
        }
    }

    private static func value(_ range: Range<Int>, in scanner: borrowing XMLScanner) throws(XMLFault) -> ValueRange {
        var bytes: [UInt8] = []
        try scanner.append(range, to: &bytes)
        return ValueRange(range: range, text: String(decoding: bytes, as: UTF8.self))
    }
}
