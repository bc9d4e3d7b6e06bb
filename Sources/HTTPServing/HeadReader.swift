import Basics

/// Collects a request's header fields and notices what a safe server must not serve.
///
/// libmicrohttpd serves requests with two lengths, and with both a length and a transfer coding. Behind a proxy that reads them
/// the other way, a request can be smuggled in so (RFC 9112, 6.3 and 11.2).
struct HeadReader {
    private(set) var fields = HTTPFields(capacity: 12)
    private(set) var byteCount = 0
    private(set) var contentLength: Int?
    private var lengthCount = 0
    private var codingCount = 0
    private var hasForbiddenCharacter = false

    /// True if the head must be refused with 400.
    var isUnsafe: Bool {
        hasForbiddenCharacter || lengthCount > 1 || codingCount > 1 || (lengthCount > 0 && codingCount > 0)
    }

    var announcesBody: Bool { codingCount > 0 || lengthCount > 0 && contentLength != 0 }

    /// Takes one field as the library gives it.
    mutating func addField(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        byteCount += name.count + value.count + 4
        if !name.allSatisfy(Self.isTokenCharacter) || value.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) {
            hasForbiddenCharacter = true
        }
        let key = String(decoding: name, as: UTF8.self)
        let text = String(decoding: value, as: UTF8.self)
        fields.append(key, value: text)
        if key.equalsIgnoringCase("content-length") {
            lengthCount += 1
            contentLength = Int(text)
        } else if key.equalsIgnoringCase("transfer-encoding") {
            codingCount += 1
        }
    }

    /// True for the characters of names (RFC 9110, 5.6.2). A blank before the colon is read differently by every server.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || "!#$%&'*+.^_`|~".utf8.contains(byte)
    }
}
