import Basics

/// Writes the head of an HTTP/1.1 request. Nothing that could start a second line or request gets in (RFC 9112, section 11.1).
///
/// Call `begin`, then `field` as often as needed, then `end`, and append the body. A refused part leaves the bytes as they were.
public enum RequestHead {
    /// A part that was refused. It does not say the value, which may be a secret.
    public enum Fault: String, Error, Hashable, Sendable {
        /// The method is not a token (RFC 9110, section 9.1).
        case invalidMethod
        /// The target does not start with `/`, or is not visible ASCII (RFC 9112, section 3.2.1).
        case invalidTarget
        /// The host is empty or not visible ASCII (RFC 9110, section 7.2).
        case invalidHost
        /// The field's name is not a token, or is one that this writer writes itself.
        case invalidFieldName
        /// The field's value has a control character, or whitespace at an end.
        case invalidFieldValue
    }

    /// Appends the request line and the Host field.
    ///
    /// - Parameters:
    ///   - method: A token such as `POST`.
    ///   - target: Path and query, percent-encoded.
    ///   - host: Host with the port where it is not the scheme's own.
    ///   - bytes: The request so far.
    /// - Throws: `Fault.invalidMethod`, `invalidTarget` or `invalidHost`.
    public static func begin(
        method: String, target: some Collection<UInt8>, host: String, into bytes: inout [UInt8]
    ) throws(Fault) {
        guard isToken(method) else { throw .invalidMethod }
        guard target.first == 0x2F, target.allSatisfy(ByteClass.isVisible) else { throw .invalidTarget }
        guard !host.utf8.isEmpty, host.utf8.allSatisfy(ByteClass.isVisible) else { throw .invalidHost }
        bytes.append(contentsOf: method.utf8)
        bytes.append(ByteClass.space)
        bytes.append(contentsOf: target)
        bytes.append(contentsOf: " HTTP/1.1\r\nHost: ".utf8)
        bytes.append(contentsOf: host.utf8)
        endLine(&bytes)
    }

    /// Appends one field.
    ///
    /// - Parameters:
    ///   - name: A token; not `Host`, `Content-Length` or `Transfer-Encoding`.
    ///   - value: Visible characters, bytes above ASCII, and single spaces or tabs within; may be empty.
    ///   - bytes: The request so far.
    /// - Throws: `Fault.invalidFieldName` or `invalidFieldValue`.
    public static func field(_ name: String, value: some Collection<UInt8>, into bytes: inout [UInt8]) throws(Fault) {
        guard isToken(name), !isReserved(name) else { throw .invalidFieldName }
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        bytes.append(ByteClass.colon)
        bytes.append(ByteClass.space)
        let first = bytes.count
        bytes.append(contentsOf: value)
        guard isValue(bytes.span.extracting(first..<bytes.count)) else {
            bytes.removeSubrange(start...)
            throw .invalidFieldValue
        }
        endLine(&bytes)
    }

    /// Appends one field whose value is a string.
    ///
    /// - Parameters:
    ///   - name: As above.
    ///   - value: As above.
    ///   - bytes: The request so far.
    /// - Throws: `Fault.invalidFieldName` or `invalidFieldValue`.
    public static func field(_ name: String, value: String, into bytes: inout [UInt8]) throws(Fault) {
        try field(name, value: value.utf8, into: &bytes)
    }

    /// Appends Content-Length and the empty line that ends the head.
    ///
    /// - Parameters:
    ///   - contentLength: Bytes of the body that follows; nil for a request that has none and says nothing of it, such as GET.
    ///   - bytes: The request so far.
    public static func end(contentLength: Int?, into bytes: inout [UInt8]) {
        if let contentLength {
            bytes.append(contentsOf: "Content-Length: ".utf8)
            appendDecimal(max(0, contentLength), to: &bytes)
            endLine(&bytes)
        }
        endLine(&bytes)
    }

    private static func endLine(_ bytes: inout [UInt8]) {
        bytes.append(ByteClass.carriageReturn)
        bytes.append(ByteClass.lineFeed)
    }

    private static func appendDecimal(_ number: Int, to bytes: inout [UInt8]) {
        if number >= 10 { appendDecimal(number / 10, to: &bytes) }
        bytes.append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }

    private static func isToken(_ text: String) -> Bool {
        !text.utf8.isEmpty && text.utf8.allSatisfy(ByteClass.isToken)
    }

    private static func isValue(_ value: Span<UInt8>) -> Bool {
        if value.isEmpty { return true }
        guard !ByteClass.isBlank(value[0]), !ByteClass.isBlank(value[value.count - 1]) else { return false }
        for index in value.indices where !ByteClass.isText(value[index]) { return false }
        return true
    }

    private static func isReserved(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: isEqual(name, to: "host")
        case 14: isEqual(name, to: "content-length")
        case 17: isEqual(name, to: "transfer-encoding")
        default: false
        }
    }

    private static func isEqual(_ name: String, to lowercase: String) -> Bool {
        name.utf8.elementsEqual(lowercase.utf8) { $0.lowercased == $1 }
    }
}
