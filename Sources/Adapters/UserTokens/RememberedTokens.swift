import Tokens

/// The bearers of tokens whose signatures were right, so that each is verified once. Neither tokens nor signatures are kept.
///
/// The keys are digests of whole tokens, signatures included. One owner, not thread-safe.
struct RememberedTokens: Sendable {
    private let limit: Int
    private var young: [[UInt8]: TokenBearer] = [:]
    private var old: [[UInt8]: TokenBearer] = [:]

    /// Remembers no token, and later at most twice as many as `limit`.
    init(limit: Int = 10_000) { self.limit = limit }

    /// The number of tokens.
    var count: Int { young.count + old.count }

    /// The bearer of the token with a digest. Nil for one that has to be verified.
    mutating func bearer(_ digest: [UInt8]) -> TokenBearer? {
        if let bearer = young[digest] { return bearer }
        guard let bearer = old.removeValue(forKey: digest) else { return nil }
        remember(bearer, as: digest)
        return bearer
    }

    /// Remembers a bearer. Where there are too many, those are forgotten who have not come for long.
    mutating func remember(_ bearer: TokenBearer, as digest: [UInt8]) {
        if young.count >= limit { (old, young) = (young, [:]) }
        young[digest] = bearer
    }

    /// Forgets all.
    mutating func removeAll() { (young, old) = ([:], [:]) }
}
