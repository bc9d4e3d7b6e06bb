internal import Basics
internal import PushModel

/// Names are literals, of which in line nothing is left but a few moves. Hence the small steps are always in line.
extension ByteWriter {
    /// Appends the member `name` with the string `text`, if there is one.
    @inline(__always) mutating func append(key name: StaticString, value text: JSONDocument.Text?, in document: JSONDocument) {
        guard let text else { return }
        append(key: name)
        append(json: document.span(text))
    }

    /// Appends the comma between two members. A brace is last only where an object was just opened: values end otherwise.
    mutating func appendMemberSeparator() {
        if last != UInt8(ascii: "{") { append(",") }
    }

    /// Appends one header line whose value is a literal.
    @inline(__always) mutating func append(header name: StaticString, value: StaticString) {
        append(header: name)
        append(value)
        endLine()
    }

    /// Appends one header line whose value is a number.
    @inline(__always) mutating func append(header name: StaticString, decimal value: Int64) {
        append(header: name)
        append(decimal: value)
        endLine()
    }

    /// Appends `Name: `. The value and `endLine` follow.
    @inline(__always) mutating func append(header name: StaticString) {
        append(name)
        append(": ")
    }

    /// Ends a header line.
    @inline(__always) mutating func endLine() { append("\r\n") }

    /// Appends `text` with everything but `A–Z a–z 0–9 - . _ ~ /` percent-encoded (RFC 3986, section 2.1).
    mutating func append(percentEncoded text: Span<UInt8>) {
        for index in text.indices {
            let byte = text[index]
            if byte.isUnreserved || byte == UInt8(ascii: "/") {
                append(byte)
            } else {
                let (percent, high, low) = PercentEncoding.escape(byte)
                append(percent)
                append(high)
                append(low)
            }
        }
    }
}
