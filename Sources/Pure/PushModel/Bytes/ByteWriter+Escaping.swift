import Basics

/// The replacement character U+FFFD, for what cannot be represented.
private let replacement: StaticString = "\u{FFFD}"

extension ByteWriter {
    /// Appends `text` as a JSON string with its quotes (RFC 8259, section 7). What is not UTF-8 becomes U+FFFD.
    public mutating func append(json text: Span<UInt8>) {
        if text.endOfPlainText(from: 0) == text.count { return append(quoting: text) }
        append("\"")
        append(jsonContent: text)
        append("\"")
    }

    /// Appends `text` as a JSON string with its quotes.
    public mutating func append(json text: String) { append(json: text.utf8Span.span) }

    /// Appends `text` escaped for the inside of a JSON string, without quotes.
    public mutating func append(jsonContent text: Span<UInt8>) {
        var unescaped = 0
        var index = text.endOfPlainText(from: 0)
        while index < text.count {
            let byte = text[index]
            let step = byte < 0x80 ? 0 : UTF8Scalars.length(at: index, in: text)
            if step == 0 {
                append(text.extracting(unescaped..<index))
                if byte < 0x80 { append(jsonEscapeOf: byte) } else { append(replacement) }
                unescaped = index + 1
            }
            index = text.endOfPlainText(from: index + max(step, 1))
        }
        append(text.extracting(unescaped..<index))
    }

    /// Appends `text` escaped for XML 1.0, valid both as an attribute's value and as text. What XML cannot hold becomes U+FFFD.
    ///
    /// Tabs and line ends become character references, because a parser turns them into blanks inside an attribute.
    public mutating func append(xml text: Span<UInt8>) {
        var plain = 0
        var index = 0
        while index < text.count {
            let step = UTF8Scalars.length(at: index, in: text)
            let escape = step == 0 ? replacement : Self.xmlEscape(at: index, length: step, in: text)
            if let escape {
                append(text.extracting(plain..<index))
                append(escape)
                index += Swift.max(step, 1)
                plain = index
            } else {
                index += step
            }
        }
        append(text.extracting(plain..<index))
    }

    private mutating func append(jsonEscapeOf byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append("u00")
            append(Hexadecimal.digit(byte >> 4))
            append(Hexadecimal.digit(byte & 15))
        }
    }

    private static func xmlEscape(at index: Int, length: Int, in text: Span<UInt8>) -> StaticString? {
        if length == 3 {
            // U+FFFE and U+FFFF are no characters of XML 1.0.
            let isNoncharacter = text[index] == 0xEF && text[index + 1] == 0xBF && text[index + 2] >= 0xBE
            return isNoncharacter ? replacement : nil
        }
        guard length == 1 else { return nil }
        switch text[index] {
        case UInt8(ascii: "&"): return "&amp;"
        case UInt8(ascii: "<"): return "&lt;"
        case UInt8(ascii: ">"): return "&gt;"
        case UInt8(ascii: "\""): return "&quot;"
        case UInt8(ascii: "'"): return "&apos;"
        case 0x09: return "&#9;"
        case 0x0A: return "&#10;"
        case 0x0D: return "&#13;"
        case 0x00..<0x20: return replacement
        default: return nil
        }
    }
}
