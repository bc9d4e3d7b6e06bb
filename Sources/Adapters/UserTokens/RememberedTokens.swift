import Keys
import Tokens

/// The bearers of tokens whose signatures were right, so that each is verified once. Neither tokens nor signatures are kept.
///
/// The keys are digests of whole tokens, signatures included. One owner, not thread-safe.
struct RememberedTokens: Sendable {
    /// The bearer of a token, in few bytes however many the token has.
    struct Bearer: Sendable, Equatable {
        let user: String
        /// The scopes, or nil where no claim has them. Words that are no scope are left out.
        let scopes: Set<Scope>?
        /// The seconds since 1970 in which the token counts.
        let validity: Range<Int64>

        init(_ bearer: TokenBearer) {
            user = bearer.user
            scopes = bearer.scopes.map { Set($0.compactMap { Scope(rawValue: $0) }) }
            validity = bearer.validity
        }
    }

    private let limit: Int
    private var young: [[UInt8]: Bearer] = [:]
    private var old: [[UInt8]: Bearer] = [:]

    /// Remembers no token, and later at most twice as many as `limit`.
    init(limit: Int = 10_000) { self.limit = limit }

    /// The number of tokens.
    var count: Int { young.count + old.count }

    /// The bearer of the token with a digest. Nil for one that has to be judged. One that does not count at this second is forgotten.
    mutating func bearer(_ digest: [UInt8], at seconds: Int64) -> Bearer? {
        guard let bearer = young[digest] ?? old[digest] else { return nil }
        guard bearer.validity.contains(seconds) else {
            (young[digest], old[digest]) = (nil, nil)
            return nil
        }
        if old.removeValue(forKey: digest) != nil { remember(bearer, as: digest) }
        return bearer
    }

    /// Remembers a bearer. Where there are too many, those are forgotten who have not come for long.
    mutating func remember(_ bearer: Bearer, as digest: [UInt8]) {
        if young.count >= limit { (old, young) = (young, [:]) }
        young[digest] = bearer
    }

    /// Forgets all.
    mutating func removeAll() { (young, old) = ([:], [:]) }
}
