/// Decides as a hub does whether an `Authorization` header allows an operation.
///
/// Every client's spelling is accepted: pairs in any order, hex digits in any case. The audience is the requested
/// URI or a prefix of it at a `/`, whatever its scheme, port and query. The signature is checked over `sr` and `se` as
/// they stand in the header.
public struct SASVerifier: Sendable {
    private let policies: [SASPolicy]
    private let comparesHost: Bool
    private let allowedClockSkew: Int64

    /// Sets up a verifier.
    ///
    /// - Parameters:
    ///   - policies: The hub's policies.
    ///   - comparesHost: Whether the audience's host must be the request's. Default no, since an emulator is reached
    ///     under many names.
    ///   - allowedClockSkew: Seconds that a token may be past its expiry, 0 or more. Default 0.
    public init(policies: [SASPolicy], comparesHost: Bool = false, allowedClockSkew: Int64 = 0) {
        self.policies = policies
        self.comparesHost = comparesHost
        self.allowedClockSkew = allowedClockSkew
    }

    /// Checks a header.
    ///
    /// - Parameters:
    ///   - authorization: The header's value as received; nil when the request has none.
    ///   - host: The request's `Host`, with or without port.
    ///   - path: The request's path as received, not decoded; a query is ignored.
    ///   - rights: The operation's rights, of which the policy needs one.
    ///   - now: Seconds since 1970, UTC.
    /// - Returns: The policy that signed.
    /// - Throws: `SASRefusal`, the first reason in the order of its cases.
    @discardableResult
    public func verify(
        authorization: String?, host: String, path: String, anyOf rights: SASRights, now: Int64
    ) throws(SASRefusal) -> SASPolicy {
        let token = try PresentedToken(parsing: authorization)
        guard let policy = policies.first(where: { token.isIssued(by: $0.name) }) else { throw .unknownPolicy }
        guard policy.keys.contains(where: token.isSigned(with:)) else { throw .invalidSignature }
        guard let expiry = token.expirySeconds, expiry > now.subtractingReportingOverflow(allowedClockSkew).partialValue
        else { throw .expiredToken }
        guard token.covers(host: comparesHost ? host : nil, path: path) else { throw .invalidAudience }
        guard !policy.rights.isDisjoint(with: rights) else { throw .claimMissing(anyOf: rights) }
        return policy
    }
}
