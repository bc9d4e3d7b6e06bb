import Basics

/// Escapes text for one line of a log, so that no value can forge a line, a field or a terminal's control sequence.
enum TextEscaping {
    /// The most bytes of one value that are written.
    static let byteLimit = 1024

    /// Appends `text` as a JSON string with its quotes (RFC 8259 section 7).
    ///
    /// Beyond what JSON demands, DEL, the C1 controls, the two Unicode line separators and what turns the direction of writing are escaped:
    /// terminals and line readers act on them.
    static func appendJSON(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var room = byteLimit
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else {
                bytes.append(contentsOf: "…".utf8)
                break
            }
            append(scalar, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends `text` as it is when it is one plain word, otherwise as a JSON string.
    static func appendWord(_ text: String, to bytes: inout [UInt8]) {
        let isPlain = !text.isEmpty && text.utf8.count <= byteLimit && text.utf8.allSatisfy(isPlain)
        if isPlain { bytes.append(contentsOf: text.utf8) } else { appendJSON(text, to: &bytes) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "=")
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar.value {
        case 0x22: bytes.append(contentsOf: "\\\"".utf8)
        case 0x5C: bytes.append(contentsOf: "\\\\".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0x00..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
            appendEscape(scalar.value, to: &bytes)
        case 0x00..<0x7F: bytes.append(UInt8(scalar.value))
        default: if let units = UTF8.encode(scalar) { bytes.append(contentsOf: units) }
        }
    }

    /// Appends `\u` and four hexadecimal digits.
    private static func appendEscape(_ value: UInt32, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\\u".utf8)
        for shift in [12, 8, 4, 0] as [UInt32] {
            bytes.append(Hexadecimal.digit(UInt8((value >> shift) & 0xF)))
        }
    }
}
