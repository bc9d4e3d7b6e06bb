import Observability
public import UserTokens

/// The settings of the tokens with which users sign in at the gateway.
public struct TokenSettings: Sendable {
    /// The issuer, as tokens have it in `iss`, or nil if none are taken.
    public let issuer: String?
    /// The audiences of which a token has one at least in `aud`.
    public let audiences: [String]
    /// The file of the issuer's keys, or the address at which they are.
    public let (keysFile, keysURL): (String?, String?)
    /// The file of the certificates to trust at that address, or nil for the system's.
    public let authorityFile: String?
    /// The time by which clocks may differ.
    public let clockSkew: Duration
    /// The claim with the user's name.
    public let userClaim: String
    /// The claim with what the user may do, or nil if each may do all.
    public let scopesClaim: String?
    /// The time after which keys are read again.
    public let refresh: Duration

    init(_ read: inout SettingReader) throws(SettingsError) {
        let claim = SettingType<String>.line("the name of a claim, at most 128 characters", atMost: 128)
        issuer = read.optional(
            "gateway.jwt.issuer", as: .line("text of at most 1024 characters, often a URL", atMost: 1024),
            summary: "The `iss` of the tokens with which users sign in; without it none are taken.")
        audiences =
            read.optional(
                "gateway.jwt.audience", as: .list(of: .line("text of at most 1024 characters", atMost: 1024)),
                summary: "What a token must have in `aud`: one of them.") ?? []
        keysFile = read.optional(
            "gateway.jwt.keys_file", as: .file("the path of a file"),
            summary: "The file of the issuer's public keys, a JWK set.")
        keysURL = read.optional(
            "gateway.jwt.keys_url", as: .keys,
            summary: "Where the issuer's public keys are, in place of a file; its discovery document has it as `jwks_uri`.")
        authorityFile = read.optional(
            "gateway.jwt.ca_file", as: .file("the path of a PEM file"),
            summary: "Certificates to trust at gateway.jwt.keys_url instead of the system's.")
        clockSkew = try read(
            "gateway.jwt.clock_skew", as: .duration(.zero ... .seconds(600)), default: "60s",
            summary: "How far the issuer's clock may be from the gateway's.")
        userClaim = try read(
            "gateway.jwt.user_claim", as: claim, default: "sub",
            summary: "The claim with the user's name; one that no user can choose, and that is never given to another.")
        scopesClaim = read.optional(
            "gateway.jwt.scopes_claim", as: claim,
            summary: "The claim with what the user may do, such as scope; without it each user may do all that users may.")
        refresh = try read(
            "gateway.jwt.refresh", as: .duration(.seconds(10) ... .seconds(86_400)), default: "10m",
            summary: "After which keys are read again; a key that is not listed any more counts no more then.")
    }
}

/// From settings to what checks tokens.
extension Settings {
    /// The configuration of what checks tokens, or nil if none are taken.
    ///
    /// - Throws: `SettingsError` naming every key that is missing or does not go with another.
    public func tokenConfiguration() throws(SettingsError) -> TokenVerifier.Configuration? {
        var problems: [SettingProblem] = []
        let configuration = tokens(noting: &problems)
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        return configuration
    }

    /// The configuration of what checks tokens, or nil if none are taken. A part without the others is a problem.
    func tokens(noting problems: inout [SettingProblem]) -> TokenVerifier.Configuration? {
        let (tokens, keys) = (gateway.tokens, "gateway.jwt.")
        guard let issuer = tokens.issuer else {
            let isUsed = values.definitions.contains { $0.name.hasPrefix(keys) && origin(of: $0.name) != .builtIn }
            if isUsed { problems.append(missing(keys + "issuer", expected: "the issuer, as tokens have it in `iss`")) }
            return nil
        }
        if tokens.audiences.isEmpty {
            problems.append(missing(keys + "audience", expected: "the name of this gateway, as tokens have it in `aud`"))
        }
        var configuration: TokenVerifier.Configuration
        switch (tokens.keysFile, tokens.keysURL) {
        case (let file?, nil): configuration = .init(issuer: issuer, audiences: tokens.audiences, source: .file(file))
        case (nil, let url?): configuration = .init(issuer: issuer, audiences: tokens.audiences, source: .url(url))
        case (nil, nil):
            problems.append(missing(keys + "keys_file", expected: "the path of a file, or gateway.jwt.keys_url"))
            return nil
        case (_?, _?):
            let message = "is set beside gateway.jwt.keys_file"
            problems.append(problem(keys + "keys_url", message: message, expected: "one of the two"))
            return nil
        }
        configuration.authorityFile = tokens.authorityFile
        configuration.clockSkew = tokens.clockSkew
        configuration.userClaim = tokens.userClaim
        configuration.scopesClaim = tokens.scopesClaim
        configuration.refresh = tokens.refresh
        configuration.environment = proxyVariables.secret
        return configuration
    }
}
