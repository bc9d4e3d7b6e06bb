public import Keys

/// Says who the bearer of a JSON Web Token is (RFC 7519). Any thread may ask, and none waits.
public final class TokenVerifier: Sendable {
    /// An answer about a token.
    public enum Outcome: Sendable, Equatable {
        /// The token is right. Without scopes its user may do all that a user may.
        case user(name: String, scopes: Set<Scope>?)
        /// It is no token, or one that does not count.
        case refused
        /// No key was read yet. Another try makes sense after so many milliseconds.
        case unavailable(Int64)
    }
}
