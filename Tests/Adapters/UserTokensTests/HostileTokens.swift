import Crypto
import TestSupport
import Testing
import TokenIssuer

/// A token that must not sign anybody in, made with all that a stranger can know.
struct HostileToken: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () throws -> String

    init(_ name: String, make: @escaping @Sendable () throws -> String) { (testDescription, self.make) = (name, make) }

    /// One whose header is another than that of the key's owner, signed by the owner all the same.
    private init(_ name: String, header: String) {
        self.init(name) { try Issuers.known().rsa.token(goodClaims, header: header) }
    }

    /// One of these claims, signed by the owner of the key.
    private init(_ name: String, claims: String) { self.init(name) { try Issuers.known().rsa.token(claims) } }

    /// One with another signature by the ECDSA key's name.
    private init(_ name: String, signature: @escaping @Sendable (_ good: [UInt8]) -> [UInt8]) {
        self.init(name) {
            let text = TokenText.unsigned(header: #"{"alg":"ES256","kid":"ec"}"#, claims: goodClaims)
            return text + "." + TokenText.part(signature(try Issuers.known().ec.signature(of: text)))
        }
    }

    /// One with a code under a secret that everybody knows.
    private init(
        _ name: String, header: String = #"{"alg":"HS256","kid":"rsa"}"#, secret: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.init(name) {
            let text = TokenText.unsigned(header: header, claims: goodClaims)
            return text + "." + TokenText.part(try HMACSHA256.code(of: Array(text.utf8), key: secret()))
        }
    }

    static let all = withoutSignature + withPublicSecrets + withOthersKeys + withHeaders + withSignatures + withClaims + withForms

    private static let withoutSignature = ["none", "None", "NONE", "nOnE"].flatMap { word in
        [
            HostileToken("alg \(word), no signature") {
                TokenText.unsigned(header: #"{"alg":"\#(word)","kid":"rsa"}"#, claims: goodClaims) + "."
            },
            HostileToken("alg \(word), a right signature", header: #"{"alg":"\#(word)","kid":"rsa"}"#),
        ]
    }

    private static let withPublicSecrets = [
        HostileToken("HS256 with the PEM", secret: { try Array(Issuers.known().rsa.publicPEM().utf8) }),
        HostileToken("HS256 with the key of the set", secret: { try Array(Issuers.known().rsa.key().utf8) }),
        HostileToken("HS256 with the set", secret: { try Array(TokenIssuer.set(Issuers.known().rsa, Issuers.known().ec).utf8) }),
        HostileToken("HS256 with the modulus", secret: { try Issuers.known().rsa.numbers()[0].bytes }),
        HostileToken("HS256 without a secret", secret: { [] }),
        HostileToken(
            "an HMAC under RS256", header: #"{"alg":"RS256","kid":"rsa"}"#,
            secret: { try Array(Issuers.known().rsa.publicPEM().utf8) }),
        HostileToken(
            "an HMAC under ES256", header: #"{"alg":"ES256","kid":"ec"}"#, secret: { try Issuers.known().ec.numbers()[0].bytes }),
    ]

    private static let withOthersKeys =
        [
            HostileToken("a stranger's RSA key") { try Issuers.strangers().rsa.token(goodClaims) },
            HostileToken("a stranger's ECDSA key") { try Issuers.strangers().ec.token(goodClaims) },
            HostileToken("a stranger's key without a name") {
                try Issuers.strangers().rsa.token(goodClaims, header: #"{"alg":"RS256"}"#)
            },
            HostileToken("a stranger's key in the header") {
                let stranger = try Issuers.strangers().rsa
                return try stranger.token(goodClaims, header: #"{"alg":"RS256","kid":"rsa","jwk":\#(stranger.key())}"#)
            },
        ]
        + ["jku", "x5u"].map { member in
            HostileToken("a stranger's \(member)") {
                try Issuers.strangers().rsa.token(
                    goodClaims, header: #"{"alg":"RS256","kid":"rsa","\#(member)":"http://127.0.0.1:9/keys"}"#)
            }
        }

    private static let withHeaders = [
        HostileToken("the RSA key under ES256", header: #"{"alg":"ES256","kid":"rsa"}"#),
        HostileToken("the RSA key under the name of the other", header: #"{"alg":"ES256","kid":"ec"}"#),
        HostileToken("RS512", header: #"{"alg":"RS512","kid":"rsa"}"#),
        HostileToken("PS256", header: #"{"alg":"PS256","kid":"rsa"}"#),
        HostileToken("crit", header: #"{"alg":"RS256","kid":"rsa","crit":["exp"]}"#),
        HostileToken("b64", header: #"{"alg":"RS256","kid":"rsa","b64":false}"#),
        HostileToken("two algorithms", header: #"{"alg":"none","kid":"rsa","alg":"RS256"}"#),
    ]

    private static let withSignatures = [
        HostileToken("ECDSA as DER") {
            let text = TokenText.unsigned(header: #"{"alg":"ES256","kid":"ec"}"#, claims: goodClaims)
            return text + "." + TokenText.part(try Issuers.known().ec.libraryForm(of: text))
        },
        HostileToken("ECDSA, a byte less", signature: { $0.dropLast() }),
        HostileToken("ECDSA, a byte more", signature: { $0 + [0] }),
        HostileToken("ECDSA, nothing", signature: { _ in [] }),
        HostileToken("ECDSA, r = 0", signature: { [UInt8](repeating: 0, count: 32) + $0.suffix(32) }),
        HostileToken("ECDSA, s = 0", signature: { $0.prefix(32) + [UInt8](repeating: 0, count: 32) }),
        HostileToken("ECDSA, r = s = 0", signature: { _ in [UInt8](repeating: 0, count: 64) }),
        HostileToken("ECDSA, all ones", signature: { _ in [UInt8](repeating: 0xFF, count: 64) }),
        HostileToken("RSA, nothing") {
            TokenText.unsigned(header: #"{"alg":"RS256","kid":"rsa"}"#, claims: goodClaims) + "."
        },
        HostileToken("RSA, of other claims") {
            let (rsa, header) = (try Issuers.known().rsa, #"{"alg":"RS256","kid":"rsa"}"#)
            let other = TokenText.unsigned(header: header, claims: goodClaims.replacing("alice", with: "mallory"))
            return other + "." + TokenText.part(try rsa.signature(of: TokenText.unsigned(header: header, claims: goodClaims)))
        },
    ]

    private static let withClaims = [
        ("iss", "https://id.example", "https://evil.example"), ("aud", #""push""#, #""other""#),
        ("aud list", #""push""#, #"["a","b"]"#),
        ("exp", #""exp":1700000600,"#, ""), ("exp as text", "1700000600", #""1700000600""#), ("exp 1e400", "1700000600", "1e400"),
        ("exp -1", "1700000600", "-1"), ("old", "1700000600", "1600000000"), ("early", #""sub""#, #""nbf":1700000600,"sub""#),
        ("made later", #""sub""#, #""iat":1700000600,"sub""#), ("no user", #""sub""#, #""name""#), ("a colon", "alice", "ali:ce"),
        ("a number", #""alice""#, "7"), ("two users", #""sub""#, #""sub":"bob","sub""#),
        ("two ends", #""exp""#, #""exp":1,"exp""#),
    ].map { name, old, new in HostileToken("claims: \(name)", claims: goodClaims.replacing(old, with: new)) }

    private static let withForms = [
        HostileToken("a mebibyte", claims: goodClaims.replacing("alice", with: String(repeating: "a", count: 1 << 20))),
        HostileToken("a mebibyte of letters") { String(repeating: "a", count: 1 << 20) },
        HostileToken("a hundred thousand dots") { String(repeating: ".", count: 100_000) },
        HostileToken("sixteen thousand dots") { String(repeating: ".", count: 16_000) }, HostileToken("nothing") { "" },
        HostileToken("a line end behind it") { try Issuers.known().rsa.token(goodClaims) + "\n" },
        HostileToken("no UTF-8") {
            let text =
                TokenText.part(Array(#"{"alg":"RS256","kid":"rsa"}"#.utf8)) + "." + TokenText.part([0x7B, 0xC3, 0x28, 0x7D])
            return text + "." + TokenText.part(try Issuers.known().rsa.signature(of: text))
        },
    ]
}
