/// The reason why a token does not sign its bearer in. No case repeats what the token says.
public enum TokenFault: Error, Sendable, Equatable, CaseIterable {
    /// It is no JSON Web Token in the compact form (RFC 7519, RFC 7515 section 7.1), or longer than 16 KiB.
    case malformed
}
