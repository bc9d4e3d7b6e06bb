internal import Basics
internal import PushModel

/// The bearer of a token, as its claims say.
public struct TokenBearer: Sendable, Equatable {
    /// The user's name.
    public let user: String
    /// The words of the scopes' claim, or nil where no claim has scopes.
    public let scopes: Set<String>?
    /// The seconds since 1970 in which the token counts.
    public let validity: Range<Int64>
    /// The second in which the token was made, or nil where it does not say so.
    public let issued: Int64?
}

/// The claims that a token must have (RFC 7519, section 4.1).
public struct TokenRules: Sendable, Equatable {
    /// The issuer, compared byte by byte.
    public let issuer: String
    /// The audiences, of which the token must name one.
    public let audiences: [String]
    /// The seconds by which the issuer's clock may differ, at most a day.
    public let clockSkew: Int64
    /// The claim with the user's name.
    public let userClaim: String
    /// The claim with the scopes, or nil where users have no scopes. A token without the claim has no scope then.
    public let scopesClaim: String?

    /// Rules with all of their parts.
    ///
    /// - Parameters:
    ///   - issuer: See `issuer`.
    ///   - audiences: See `audiences`.
    ///   - clockSkew: See `clockSkew`. Default 60.
    ///   - userClaim: See `userClaim`. Default `sub`.
    ///   - scopesClaim: See `scopesClaim`. Default none.
    public init(
        issuer: String, audiences: [String], clockSkew: Int64 = 60, userClaim: String = "sub", scopesClaim: String? = nil
    ) {
        (self.issuer, self.audiences, self.clockSkew) = (issuer, audiences, max(0, min(clockSkew, 86_400)))
        (self.userClaim, self.scopesClaim) = (userClaim, scopesClaim)
    }

    /// Judges the claims of a token, whose signature is another matter.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - seconds: The present, in seconds since 1970.
    /// - Returns: The bearer.
    /// - Throws: The first fault.
    public func bearer(of token: JSONWebToken, at seconds: Int64) throws(TokenFault) -> TokenBearer {
        let claims = token.claims
        guard let name = text("iss", in: claims), Self.isSame(name, as: issuer) else { throw .issuer }
        guard names(in: claims).contains(where: { name in audiences.contains { Self.isSame($0, as: name) } }) else {
            throw .audience
        }
        let validity = try validity(in: claims)
        guard seconds < validity.upperBound else { throw .expired }
        guard seconds >= validity.lowerBound else { throw .early }
        guard let user = text(userClaim, in: claims), UserName.isLegal(user) else { throw .user }
        return TokenBearer(user: user, scopes: try scopes(in: claims), validity: validity, issued: try time("iat", in: claims))
    }

    private func text(_ name: String, in claims: JSONDocument) -> String? {
        claims.claim(name).flatMap { claims.content(of: $0) }
    }

    /// The audiences that a token names: one text, or a list.
    private func names(in claims: JSONDocument) -> [String] {
        guard let value = claims.claim("aud") else { return [] }
        return claims.content(of: value).map { [$0] } ?? claims.texts(at: value) ?? []
    }

    private func validity(in claims: JSONDocument) throws(TokenFault) -> Range<Int64> {
        guard let end = try time("exp", in: claims) else { throw .time }
        let begin = max(try time("nbf", in: claims) ?? 0, try time("iat", in: claims) ?? 0)
        guard begin - clockSkew < end + clockSkew else { throw .expired }
        return begin - clockSkew..<end + clockSkew
    }

    private func time(_ name: String, in claims: JSONDocument) throws(TokenFault) -> Int64? {
        guard let value = claims.claim(name) else { return nil }
        guard let seconds = claims.seconds(at: value) else { throw .time }
        return seconds
    }

    private func scopes(in claims: JSONDocument) throws(TokenFault) -> Set<String>? {
        guard let scopesClaim else { return nil }
        guard let value = claims.claim(scopesClaim) else { return [] }
        if let text = claims.content(of: value) { return Set(text.split(separator: " ").map { String($0) }) }
        guard let texts = claims.texts(at: value) else { throw .scopes }
        return Set(texts)
    }

    /// Compares bytes, because Swift's texts are equal when their letters are, however these are composed.
    private static func isSame(_ text: String, as other: String) -> Bool { text.utf8.elementsEqual(other.utf8) }
}
