import Basics
import GatewayAPI
import HTTPServing

/// A key under which a call may be repeated: the header `Idempotency-Key`, an RFC 8941 string with its quotes, or bare.
struct IdempotencyKey: Sendable, Equatable {
    /// The key, without quotes and escapes.
    let text: String

    /// Reads the header, or fails with 400 `idempotency_key_invalid`. Returns nil without one.
    static func read(_ headers: HTTPFields) throws(APIProblem) -> IdempotencyKey? {
        guard headers.count(of: "Idempotency-Key") > 0 else { return nil }
        guard let key = headers.single("Idempotency-Key").flatMap({ IdempotencyKey($0) }) else { throw .idempotencyKeyInvalid }
        return key
    }

    /// Reads a value of the header; nil for what is no key.
    init?(_ value: String) {
        let bytes = Array(value.utf8)
        guard let key = bytes.first == UInt8(ascii: "\"") ? Self.unquoted(bytes) : bytes else { return nil }
        guard (1...APILimit.idempotencyKeyByteCount).contains(key.count), key.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        text = String(decoding: key, as: UTF8.self)
    }

    /// The id of a request that has none of its own: `k` and 32 hexadecimal digits. Whoever repeats the key gets the same id, at
    /// any gateway and with any key of the source. `tenant` is the request's, `index` its place in its batch, from 0.
    func requestID(tenant: String?, source: String, at index: Int? = nil) -> String {
        var bytes = Array((tenant ?? "").utf8) + [0] + Array(source.utf8) + [0] + Array(text.utf8)
        if let index { bytes += [0] + Array(String(index).utf8) }
        return "k" + String(decoding: SHA256.hexadecimalDigest(of: bytes).prefix(32), as: UTF8.self)
    }

    /// The content of an RFC 8941 string (section 3.3.3); nil for what is none.
    private static func unquoted(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2, bytes.last == UInt8(ascii: "\"") else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes[1..<(bytes.count - 1)] {
            let isSpecial = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            if isEscaped {
                guard isSpecial else { return nil }
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            } else if isSpecial {
                return nil
            }
            isEscaped = false
            content.append(byte)
        }
        return isEscaped ? nil : content
    }
}
