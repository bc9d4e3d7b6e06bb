import COpenSSL

/// The possible failures in this module. No case carries key material.
public enum CryptoError: Error, Equatable, Sendable {
    /// A call into OpenSSL failed. `reason` is the library's own text (`ERR_error_string_n(3)`).
    case openSSL(operation: String, reason: String)
    /// A certificate was asked for without any host.
    case noHosts
    /// The host at this index is neither a DNS name nor an IP address.
    case invalidHost(index: Int)
    /// A certificate's validity lies outside 1…3650 days.
    case invalidValidity(days: Int)

    /// Takes the newest entry of this thread's OpenSSL error queue and empties the queue.
    static func last(_ operation: String) -> CryptoError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard code != 0 else { return .openSSL(operation: operation, reason: "no reason given") }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return .openSSL(operation: operation, reason: String(decoding: bytes, as: UTF8.self))
    }
}

extension CryptoError: CustomStringConvertible {
    /// One plain sentence for an operator.
    public var description: String {
        switch self {
        case .openSSL(let operation, let reason): "OpenSSL could not \(operation): \(reason)"
        case .noHosts: "a certificate needs at least one host name or IP address"
        case .invalidHost(let index): "host number \(index + 1) is neither a DNS name nor an IP address"
        case .invalidValidity(let days): "a certificate cannot be valid for \(days) days; allowed are 1 to 3650"
        }
    }
}
