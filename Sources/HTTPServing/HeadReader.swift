/// Collects a request's header fields and notices what a safe server must not serve.
///
/// libmicrohttpd serves requests with two lengths, and with both a length and a transfer coding; behind a proxy that reads them
/// the other way, that smuggles a request in (RFC 9112, 6.3 and 11.2).
struct HeadReader {
    private(set) var fields = HTTPFields(capacity: 12)
    private(set) var byteCount = 0
    private(set) var contentLength: Int?
    private var lengthCount = 0
    private var codingCount = 0
    private var hasControlCharacter = false

    /// Whether the head must be refused with 400.
    var isUnsafe: Bool {
        hasControlCharacter || lengthCount > 1 || codingCount > 1 || (lengthCount > 0 && codingCount > 0)
    }

    /// Takes one field as the library gives it.
    mutating func found(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        byteCount += name.count + value.count + 4
        if name.contains(where: Self.isControl) || value.contains(where: { Self.isControl($0) && $0 != 9 }) {
            hasControlCharacter = true
        }
        let key = String(decoding: name, as: UTF8.self)
        let text = String(decoding: value, as: UTF8.self)
        fields.append(key, text)
        if key.equalsIgnoringCase("content-length") {
            lengthCount += 1
            contentLength = Int(text)
        } else if key.equalsIgnoringCase("transfer-encoding") {
            codingCount += 1
        }
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 32 || byte == 127 }
}
