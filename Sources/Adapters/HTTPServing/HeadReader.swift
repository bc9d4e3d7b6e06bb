import Basics
import CMicroHTTPD
import Glibc

/// Collects a request's header fields and notices what a safe server must not serve.
///
/// libmicrohttpd serves requests with two lengths, with both a length and a transfer coding, and with two hosts. It ends a line at a
/// bare line feed and a value at a NUL, and joins folded fields. Behind a proxy that reads them the other way, a request can be
/// smuggled in so (RFC 9112, 2.2, 5.2, 6.3 and 11.2). After a coding that it does not know it waits for ever.
struct HeadReader {
    /// True if the library leaves every piece of a head where it came. Later ones also cut off the blanks behind a value, and refuse
    /// by themselves what this makes visible.
    private static let leavesPieces = String(cString: MHD_get_version()).hasPrefix("0.9.")

    private(set) var fields = HTTPFields(capacity: 12)
    private(set) var byteCount = 0
    private(set) var contentLength: Int?
    private var lengthCount = 0
    private var codingCount = 0
    private var hostCount = 0
    private var isMalformed: Bool
    private let isHTTP10: Bool
    private let start: UInt
    /// The address of the next field, if nothing but a CRLF is between it and the piece before.
    private var next: UInt

    /// Begins with the request line: method, target and version as they stand in the library's buffer.
    init(method: UnsafePointer<CChar>, targetByteCount: Int, version: UnsafePointer<CChar>) {
        let name = UnsafeRawBufferPointer(start: method, count: strlen(method))
        let versionAddress = UInt(bitPattern: version)
        start = UInt(bitPattern: method)
        next = versionAddress + UInt(strlen(version)) + 2
        isHTTP10 = strcmp(version, "HTTP/1.0") == 0
        isMalformed = name.isEmpty || !name.allSatisfy(Self.isTokenCharacter)
        expect(versionAddress, at: start + UInt(name.count + targetByteCount + 2))
    }

    /// True if the head, of so many bytes as it came, must be refused with 400.
    mutating func isUnsafe(headByteCount: Int) -> Bool {
        expect(start + UInt(clamping: headByteCount), at: next + 2)
        return isMalformed || lengthCount > 1 || codingCount > 1 || hostCount > 1 || (lengthCount > 0 && codingCount > 0)
    }

    var announcesBody: Bool { codingCount > 0 || lengthCount > 0 && contentLength != 0 }

    /// Takes one field as the library gives it.
    mutating func addField(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        byteCount += name.count + value.count + 4
        expect(UInt(bitPattern: name.baseAddress), at: next)
        next = UInt(bitPattern: value.baseAddress) + UInt(value.count) + 2
        if name.isEmpty || !name.allSatisfy(Self.isTokenCharacter) || value.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) {
            isMalformed = true
        }
        let key = String(decoding: name, as: UTF8.self)
        // Blanks behind a value are none of it (RFC 9112, 5).
        let end = value.lastIndex { $0 != 32 && $0 != 9 }.map { $0 + 1 } ?? 0
        let text = String(decoding: value[..<end], as: UTF8.self)
        fields.append(key, value: text)
        if key.equalsIgnoringCase("content-length") {
            lengthCount += 1
            contentLength = Int(text)
        } else if key.equalsIgnoringCase("transfer-encoding") {
            codingCount += 1
            // HTTP/1.0 has no codings (RFC 9112, 6.1), and the library knows this one without blanks only.
            if isHTTP10 || end < value.count || !text.equalsIgnoringCase("chunked") { isMalformed = true }
        } else if key.equalsIgnoringCase("host") {
            hostCount += 1
            if !text.utf8.allSatisfy(Self.isHostCharacter) { isMalformed = true }
        }
    }

    /// Notes a piece that does not begin where it should: something that was not given lies before it, or less than a CRLF.
    private mutating func expect(_ address: UInt, at expected: UInt) {
        if Self.leavesPieces, address != expected { isMalformed = true }
    }

    /// True for the characters of names (RFC 9110, 5.6.2). A blank before the colon is read differently by every server.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-!#$%&'*+.^_`|~".utf8.contains(byte)
    }

    /// True for the characters of a host and its port (RFC 3986, 3.2.2).
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }
}
