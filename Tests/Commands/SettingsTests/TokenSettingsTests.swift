import GatewayAPI
import Settings
import Testing
import UserTokens

/// The settings of the tokens with which users sign in.
@Suite struct TokenSettingsTests {
    private static let base = [
        "PUSHFAN_HUB_CONNECTION_STRING": "Endpoint=sb://h.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=k",
        "PUSHFAN_HUB_NAME": "shop",
    ]

    private func gateway(_ jwt: [String: String], file: String? = nil) throws -> GatewayConfiguration {
        let variables = jwt.map { ("PUSHFAN_GATEWAY_JWT_" + $0.key, $0.value) }
        return try load(Self.base.merging(variables) { $1 }, file: file).gatewayConfiguration(version: "1")
    }

    @Test func tokensAloneAreAWayToSignIn() throws {
        let configuration = try gateway(["ISSUER": "https://login.example.com/", "AUDIENCE": "a,b", "KEYS_FILE": "/run/jwks"])
        let tokens = try #require(configuration.tokens)
        #expect(configuration.usersFile == nil && configuration.keysFile == nil)
        #expect(tokens.issuer == "https://login.example.com/" && tokens.audiences == ["a", "b"])
        #expect(tokens.source == .file("/run/jwks") && tokens.authorityFile == nil)
        #expect(tokens.clockSkew == .seconds(60) && tokens.refresh == .seconds(600))
        #expect(tokens.userClaim == "sub" && tokens.scopesClaim == nil)
    }

    @Test func everySettingReachesTheGateway() throws {
        let configuration = try gateway(
            [:],
            file: """
                gateway:
                  device_rate: 50
                  jwt:
                    issuer: me
                    audience: [a]
                    keys_url: https://login.example.com/keys
                    ca_file: /run/ca.pem
                    clock_skew: 0s
                    user_claim: upn
                    scopes_claim: scp
                    refresh: 1h
                """)
        let tokens = try #require(configuration.tokens)
        #expect(configuration.deviceRate == 50)
        #expect(tokens.source == .url("https://login.example.com/keys") && tokens.authorityFile == "/run/ca.pem")
        #expect(tokens.clockSkew == .zero && tokens.userClaim == "upn" && tokens.scopesClaim == "scp")
        #expect(tokens.refresh == .seconds(3600))
    }

    @Test func withoutAnIssuerNoTokenIsTaken() throws {
        #expect(
            try load(Self.base.merging(["PUSHFAN_GATEWAY_DEMO_AUTH": "true"]) { $1 })
                .gatewayConfiguration(version: "1").tokens == nil)
        #expect(try load().gateway.deviceRate == 200)
    }

    static let halves: [(variables: [String: String], problems: [String])] = [
        (["ISSUER": "me", "KEYS_FILE": "/run/jwks"], ["gateway.jwt.audience: is not set"]),
        (["ISSUER": "me", "AUDIENCE": "a"], ["gateway.jwt.keys_file: is not set"]),
        (["ISSUER": "me"], ["gateway.jwt.audience: is not set", "gateway.jwt.keys_file: is not set"]),
        (
            ["ISSUER": "me", "AUDIENCE": "a", "KEYS_FILE": "/run/jwks", "KEYS_URL": "https://a/keys"],
            ["gateway.jwt.keys_url: is set beside gateway.jwt.keys_file"]
        ),
        (["AUDIENCE": "a"], ["gateway.users_file: is not set", "gateway.jwt.issuer: is not set"]),
        (["CLOCK_SKEW": "5s"], ["gateway.users_file: is not set", "gateway.jwt.issuer: is not set"]),
    ]

    @Test(arguments: halves) func aPartWithoutTheOthersIsNamed(variables: [String: String], expected: [String]) throws {
        let error = try #require(throws: SettingsError.self) { try gateway(variables) }
        let found = error.problems.map(\.description)
        #expect(found.count == expected.count, "\(found)")
        for (found, expected) in zip(found, expected) { #expect(found.contains(expected)) }
    }

    static let wrong: [(variable: String, value: String, fault: String)] = [
        ("KEYS_URL", "http://login.example.com/keys", "does not begin with https://"),
        ("KEYS_URL", "http://127.0.0.1.example.com/keys", "does not begin with https://"),
        ("KEYS_URL", "ftp://login.example.com/keys", "is no such URL"), ("KEYS_URL", "login.example.com", "is no such URL"),
        ("KEYS_URL", "https://a b/keys", "is no such URL"), ("KEYS_URL", "https://canary@host/keys", "is no such URL"),
        ("CLOCK_SKEW", "11m", "is out of range"), ("REFRESH", "9s", "is out of range"), ("REFRESH", "25h", "is out of range"),
        ("AUDIENCE", "a,a", "names \"a\" twice"), ("USER_CLAIM", String(repeating: "a", count: 129), "is too long"),
    ]

    @Test(arguments: wrong) func whatIsNoValueIsNamed(variable: String, value: String, fault: String) {
        let found = problems(["PUSHFAN_GATEWAY_JWT_\(variable)": value])
        #expect(found.count == 1 && found[0].contains(fault) && !found[0].contains("canary"), "\(found)")
    }

    @Test(arguments: ["http://127.0.0.1:8081/keys", "http://localhost/keys", "http://[::1]:8081/keys", "https://a/keys?p=1"])
    func keysMayComeFromThisMachineInClearText(url: String) {
        #expect(problems(["PUSHFAN_GATEWAY_JWT_KEYS_URL": url]).isEmpty)
    }
}
