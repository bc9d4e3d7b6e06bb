import TestSupport
import Testing
import TokenIssuer
import UserTokens

struct TokenSettingsTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test(
        arguments: [
            "", "keys.json", "ftp://id.example/keys", "http://id.example/keys", "http://10.0.0.1/keys",
            "http://127.0.0.1.example/keys",
            "http://localhost.example/", "https://name:secret@id.example/keys", "https:///keys", "https://id.example:0/keys",
            "https://id.example:99999/keys", "https://id.example/a b", "https://id.example/\r\nX: y",
            "https://id.example/schlüssel",
            "HTTPS//id.example",
        ])
    func anAddressThatMustNotBeAskedIsRefused(_ address: String) throws {
        #expect(throws: TokenVerifier.Problem.address) { try stage.verifier(Stage.configuration(.url(address))) }
    }

    @Test(arguments: [
        "https://id.example/.well-known/jwks.json", "http://127.0.0.1:9/keys", "http://localhost/", "http://[::1]:9/",
    ])
    func anAddressIsNotAskedBeforeTheStart(_ address: String) throws {
        let verifier = try stage.verifier(Stage.configuration(.url(address)))
        #expect(verifier.state == .stale(since: 1_700_000_000_000))
        #expect(verifier.keyCount == 0)
        #expect(try verifier.check("Bearer \(Issuers.known().ec.token(goodClaims))") == .unavailable(1000))
        #expect(verifier.check("Bearer a.b.c") == .refused)
        verifier.stop()
    }

    @Test func aFileOfAuthoritiesMustExist() throws {
        var configuration = Stage.configuration(.url("https://id.example/keys"))
        configuration.authorityFile = stage.folder.path("none.pem")
        let problem = #expect(throws: TokenVerifier.Problem.self) { try stage.verifier(configuration) }
        #expect(problem?.description.contains("none.pem") == true)
    }

    @Test(arguments: [("", ["push"]), ("a", []), ("a", [""]), ("a", ["push", ""])] as [(String, [String])])
    func issuerAndAudienceAreNeeded(_ issuer: String, audiences: [String]) throws {
        let configuration = TokenVerifier.Configuration(issuer: issuer, audiences: audiences, source: .url("https://id.example/"))
        #expect(throws: TokenVerifier.Problem.expectations) { try stage.verifier(configuration) }
    }

    @Test(arguments: ["", "{}", #"{"keys":[]}"#, "-----BEGIN PUBLIC KEY-----", #"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#])
    func aFileWithoutAKeyIsRefusedAtTheStart(_ text: String) throws {
        let problem = #expect(throws: TokenVerifier.Problem.self) { try stage.verifier(text) }
        #expect(problem?.description.contains("keys.json' is not right") == true)
        #expect(problem?.description.contains("c2VjcmV0") == false)
    }

    @Test func aMissingFileIsNamed() throws {
        let path = stage.folder.path("none.json")
        #expect(throws: TokenVerifier.Problem.file(path: path, reason: "does not exist")) {
            try stage.verifier(Stage.configuration(.file(path)))
        }
    }
}
