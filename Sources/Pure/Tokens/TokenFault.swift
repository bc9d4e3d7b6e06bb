/// The reason why a token does not sign its bearer in. No case repeats what the token says.
public enum TokenFault: Error, Sendable, Equatable, CaseIterable {
    /// It is no JSON Web Token in the compact form (RFC 7519, RFC 7515 section 7.1), or longer than 16 KiB.
    case malformed
    /// It is signed in another way than RS256 or ES256, or not at all.
    case algorithm
    /// Its header has an extension that must be understood (RFC 7515, section 4.1.11).
    case critical
    /// Another issuer made it.
    case issuer
    /// It is meant for others.
    case audience
    /// It does not say when it ends, or one of its times is none.
    case time
    /// It has ended.
    case expired
    /// It begins later, or was made later than now.
    case early
    /// The claim with the user is missing, or has no name that a user may have.
    case user
    /// The claim with the scopes is no text and no list of texts.
    case scopes
}
