/// A policy's name with one of its keys: what signs a token.
public struct SASCredential: Sendable, Equatable {
    /// The policy's name (`SharedAccessKeyName`), which is not a secret.
    public let policy: String
    /// The policy's key.
    public let key: SecretKey

    /// Joins a name and a key.
    ///
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - key: Its primary or secondary key.
    public init(policy: String, key: SecretKey) {
        self.policy = policy
        self.key = key
    }
}
