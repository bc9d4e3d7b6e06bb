import TestSupport
import Testing
import Tokens

struct TokenRulesTests {
    private static let rules = TokenRules(issuer: "https://id.example", audiences: ["push", "push2"], scopesClaim: "scope")

    /// The good claims with some of them in another form. Nil takes one out.
    private func claims(_ others: [String: String?]) -> String {
        var members = [
            "iss": #""https://id.example""#, "aud": #""push""#, "exp": "1700000600", "nbf": "1700000000", "iat": "1700000000",
            "sub": #""alice""#,
        ]
        for (name, value) in others { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
    }

    private func fault(_ others: [String: String?], rules: TokenRules = rules, at seconds: Int64 = present) throws -> TokenFault?
    {
        let token = try token(claims(others))
        do throws(TokenFault) { _ = try rules.bearer(of: token, at: seconds) } catch { return error }
        return nil
    }

    @Test func goodClaimsNameTheirBearer() throws {
        let bearer = try Self.rules.bearer(of: token(claims(["scope": #""publish  register x""#])), at: present)
        #expect(bearer.user == "alice")
        #expect(bearer.scopes == ["publish", "register", "x"])
        #expect(bearer.validity == 1_699_999_940..<1_700_000_660)
        #expect(bearer.issued == 1_700_000_000)
        #expect(try Self.rules.bearer(of: token(claims(["iat": nil])), at: present).issued == nil)
    }

    @Test(
        arguments: [
            ("iss", nil, .issuer), ("iss", #""https://id.example/""#, .issuer), ("iss", #""HTTPS://id.example""#, .issuer),
            ("iss", #"["https://id.example"]"#, .issuer), ("iss", "null", .issuer), ("iss", #""""#, .issuer),
            ("aud", nil, .audience), ("aud", #""Push""#, .audience), ("aud", "[]", .audience), ("aud", #"["a","b"]"#, .audience),
            ("aud", #"["push",1]"#, .audience), ("aud", #"{"push":1}"#, .audience), ("aud", "1", .audience),
            ("exp", nil, .time), ("exp", "null", .time), ("exp", #""1700000600""#, .time), ("exp", "1e400", .time),
            ("exp", "-1", .time), ("exp", "-1e400", .time), ("exp", "253402300800", .time), ("exp", "[1700000600]", .time),
            ("exp", "99999999999999999999", .time), ("exp", "true", .time),
            ("nbf", #""1700000000""#, .time), ("nbf", "-1", .time), ("iat", "1e99", .time), ("iat", "{}", .time),
            ("exp", "0", .expired), ("exp", "1e0", .expired), ("exp", "1699999940", .expired), ("nbf", "1700000061", .early),
            ("iat", "1700000061", .early), ("nbf", "1800000000", .expired), ("iat", "253402300799", .expired),
            ("sub", nil, .user), ("sub", "1", .user), ("sub", #""""#, .user), ("sub", #""a:b""#, .user), ("sub", #"" a""#, .user),
            ("sub", #""a\u0000b""#, .user), ("sub", #""a\nb""#, .user), ("sub", #"["alice"]"#, .user),
            ("sub", #"""# + String(repeating: "a", count: 256) + #"""#, .user),
            ("scope", "1", .scopes), ("scope", #"["publish",1]"#, .scopes), ("scope", "{}", .scopes), ("scope", "true", .scopes),
        ] as [(String, String?, TokenFault)])
    func aClaimThatIsNotRightIsRefused(_ name: String, value: String?, expected: TokenFault) throws {
        #expect(try fault([name: value]) == expected)
    }

    @Test(
        arguments: [
            ("aud", #"["other","push2"]"#), ("aud", #"["push"]"#), ("exp", "1700000600.9"), ("exp", "1.7000006e9"), ("nbf", nil),
            ("iat", nil), ("nbf", "null"), ("nbf", "1700000060"), ("iat", "1700000060"), ("exp", "1699999941"),
            ("sub", #""älïce""#),
            ("sub", #""a\/b""#), ("exp", "253402300799"), ("nbf", "0"),
        ] as [(String, String?)])
    func otherFormsOfTheSameCount(_ name: String, value: String?) throws {
        #expect(try fault([name: value]) == nil)
    }

    @Test func aTokenCountsFromItsBeginningToItsEndAndTheSkewOnBothSides() throws {
        #expect(try fault([:], at: 1_699_999_939) == .early)
        #expect(try fault([:], at: 1_699_999_940) == nil)
        #expect(try fault([:], at: 1_700_000_659) == nil)
        #expect(try fault([:], at: 1_700_000_660) == .expired)
        let strict = TokenRules(issuer: "https://id.example", audiences: ["push"], clockSkew: 0)
        #expect(try fault([:], rules: strict, at: 1_699_999_999) == .early)
        #expect(try fault([:], rules: strict, at: 1_700_000_599) == nil)
        #expect(try fault([:], rules: strict, at: 1_700_000_600) == .expired)
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, .max - 1, .max]) func noClockAndNoSkewIsTooFarAway(_ number: Int64) throws {
        let rules = TokenRules(issuer: "https://id.example", audiences: ["push"], clockSkew: number)
        #expect((0...86_400).contains(rules.clockSkew))
        for seconds in [Int64.min, present, .max] { _ = try fault([:], rules: rules, at: seconds) }
        #expect(try fault([:], at: number) != nil)
    }

    @Test(
        arguments: [
            (nil, []), ("null", []), (#""""#, []), (#""publish""#, ["publish"]), (#"["publish","a b"]"#, ["publish", "a b"]),
            ("[]", []),
        ] as [(String?, Set<String>)])
    func aTokenHasTheScopesThatItsClaimHas(_ value: String?, scopes: Set<String>) throws {
        #expect(try Self.rules.bearer(of: token(claims(["scope": value])), at: present).scopes == scopes)
    }

    @Test func withoutAClaimForThemNoTokenHasScopes() throws {
        let rules = TokenRules(issuer: "https://id.example", audiences: ["push"])
        #expect(try rules.bearer(of: token(claims(["scope": #""publish""#])), at: present).scopes == nil)
    }

    @Test func theUserIsInTheClaimThatIsNamed() throws {
        let rules = TokenRules(issuer: "https://id.example", audiences: ["push"], userClaim: "https://example.com/user")
        let bearer = try rules.bearer(of: token(claims(["https://example.com/user": #""bob""#])), at: present)
        #expect(bearer.user == "bob")
        #expect(try fault([:], rules: rules) == .user)
    }

    @Test func namesAreComparedByTheirBytes() throws {
        // Swift's texts are equal here: one letter is composed, the other is not.
        let rules = TokenRules(issuer: "\u{E9}", audiences: ["\u{E9}"])
        #expect(try fault(["iss": "\"e\u{301}\"", "aud": "\"\u{E9}\""], rules: rules) == .issuer)
        #expect(try fault(["iss": "\"\u{E9}\"", "aud": "\"e\u{301}\""], rules: rules) == .audience)
        #expect(try fault(["iss": "\"\u{E9}\"", "aud": "\"\u{E9}\""], rules: rules) == nil)
    }
}
