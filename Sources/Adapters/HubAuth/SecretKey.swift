public import Basics
import Crypto

/// The text of a `SharedAccessKey`, which no description, dump or interpolation shows.
///
/// The protocol uses the key as opaque text: its UTF-8 bytes are the HMAC key, and base64 in it is not decoded.
public struct SecretKey: Sendable {
    let bytes: [UInt8]

    /// Keeps the UTF-8 bytes of a key as the connection string gives it.
    public init(_ text: String) { bytes = Array(text.utf8) }
}

extension SecretKey: Equatable {
    /// Compares in constant time.
    public static func == (left: SecretKey, right: SecretKey) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }
}

extension SecretKey: Concealed {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
}
