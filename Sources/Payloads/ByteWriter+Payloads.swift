internal import PushModel

extension ByteWriter {
    /// Appends `"name":` as the next member of the JSON object that is being written, with a comma unless it is the first.
    mutating func append(key name: StaticString) {
        appendMemberSeparator()
        append(UInt8(ascii: "\""))
        append(name)
        append("\":")
    }

    /// Appends the member `name` with the string `text`, if there is one.
    mutating func append(key name: StaticString, _ text: JSONDocument.Text?, in document: JSONDocument) {
        guard let text else { return }
        append(key: name)
        append(json: document.span(text))
    }

    /// Appends the comma between two members. A brace is last only where an object was just opened: values end otherwise.
    mutating func appendMemberSeparator() {
        if bytes.last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
    }

    /// Appends one header line whose value is a literal.
    mutating func append(header name: StaticString, _ value: StaticString) {
        append(header: name)
        append(value)
        endLine()
    }

    /// Appends one header line whose value is a number.
    mutating func append(header name: StaticString, decimal value: Int64) {
        append(header: name)
        append(decimal: value)
        endLine()
    }

    /// Appends `Name: `; the value and `endLine` follow.
    mutating func append(header name: StaticString) {
        append(name)
        append(": ")
    }

    /// Ends a header line.
    mutating func endLine() {
        append("\r\n")
    }

    /// Appends `text` with everything but `A–Z a–z 0–9 - . _ ~ /` percent-encoded (RFC 3986, section 2.1).
    mutating func append(percentEncoded text: Span<UInt8>) {
        for index in 0..<text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                append(byte)
            default:
                append(UInt8(ascii: "%"))
                append(hex: byte, "0123456789ABCDEF")
            }
        }
    }

    /// Appends `value` as 16 lower-case hexadecimal digits.
    mutating func append(hex value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(hex: UInt8(truncatingIfNeeded: value >> UInt64(shift)), "0123456789abcdef")
        }
    }

    private mutating func append(hex byte: UInt8, _ digits: StaticString) {
        digits.withUTF8Buffer { table in
            unsafe append(table[Int(byte >> 4)])
            unsafe append(table[Int(byte & 15)])
        }
    }
}
