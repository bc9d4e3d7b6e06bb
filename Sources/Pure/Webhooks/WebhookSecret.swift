public import Basics

/// A secret of Standard Webhooks 1.0: `whsec_` and 24 to 64 bytes in base64.
public struct WebhookSecret: Sendable, Hashable, Concealed {
    private static let prefix = "whsec_"

    /// The bytes of the key.
    public let key: [UInt8]

    /// Reads a secret, or returns nil for a text that is none.
    public init?(_ text: String) {
        guard text.utf8.count <= 128, text.hasPrefix(Self.prefix),
            let key = Base64.decode(Array(text.utf8.dropFirst(Self.prefix.utf8.count))), (24...64).contains(key.count)
        else { return nil }
        self.key = key
    }

    /// The words for any secret.
    public var description: String { "a secret" }
}
