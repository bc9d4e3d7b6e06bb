import TestSupport
import Testing
import Tokens

struct JSONWebTokenTests {
    private static let claims = #"{"iss":"a"}"#

    private func fault(_ text: String) -> TokenFault? {
        do throws(TokenFault) { _ = try JSONWebToken(Array(text.utf8)) } catch { return error }
        return nil
    }

    @Test(arguments: ["RS256", "ES256"]) func aTokenIsTakenApart(_ algorithm: String) throws {
        let text = TokenText.unsigned(header: #"{"kid":"../../etc/passwd","alg":"\#(algorithm)"}"#, claims: Self.claims)
        let token = try JSONWebToken(Array("\(text).AQID".utf8))
        #expect(token.algorithm.rawValue == algorithm)
        #expect(token.keyID == "../../etc/passwd")
        #expect(token.signedBytes == Array(text.utf8))
        #expect(token.signature == [1, 2, 3])
        #expect("\(token)" == "JSONWebToken(redacted)")
    }

    @Test(
        arguments: [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS384", "RS512", "PS256", "ES384", "ES256K", "EdDSA",
            "rs256", "RS256 ", "RSA1_5", "dir",
        ])
    func noOtherAlgorithmCounts(_ algorithm: String) {
        let text = TokenText.unsigned(header: #"{"alg":"\#(algorithm)"}"#, claims: Self.claims)
        #expect(fault(text + ".AQID") == .algorithm)
        #expect(fault(text + ".") == .algorithm)
    }

    @Test(
        arguments: [
            (#"{}"#, .algorithm), (#"{"alg":null}"#, .algorithm), (#"{"alg":["RS256"]}"#, .algorithm),
            (#"{"alg":1}"#, .algorithm),
            (#"{"alg":"RS256","crit":["exp"]}"#, .critical), (#"{"alg":"RS256","crit":[]}"#, .critical),
            (#"{"alg":"RS256","crit":null}"#, .critical), (#"{"alg":"RS256","crit":["b64"],"b64":false}"#, .critical),
            (#"{"alg":"RS256","b64":false}"#, .critical), (#"{"alg":"RS256","b64":true}"#, .critical),
            (#"{"alg":"RS256","kid":1}"#, .malformed), (#"{"alg":"RS256","alg":"none"}"#, .malformed),
            (#"{"alg":"none","alg":"RS256"}"#, .malformed), (#"{"alg":"RS256","x":{"y":1,"y":2}}"#, .malformed),
            (#"["RS256"]"#, .malformed), (#""RS256""#, .malformed), (#"{"alg":"RS256""#, .malformed), ("", .malformed),
            ("{\"alg\":\"RS256\"}\n{}", .malformed), (#"{"alg":"RS256","kid":"\ud800"}"#, .malformed),
        ] as [(String, TokenFault)])
    func aHeaderThatIsNotUnderstoodIsRefused(_ header: String, expected: TokenFault) {
        #expect(fault(TokenText.unsigned(header: header, claims: Self.claims) + ".AQID") == expected)
    }

    @Test(arguments: ["jwk", "jku", "x5u", "x5c", "x5t", "typ", "cty"]) func keysInTheHeaderAreNotLookedAt(_ member: String)
        throws
    {
        let header = #"{"alg":"RS256","\#(member)":{"kty":"RSA"}}"#
        let token = try token(Self.claims, header: header)
        #expect(token.keyID == nil)
    }

    @Test func whatIsNoCompactFormIsRefused() {
        let good = TokenText.unsigned(header: #"{"alg":"RS256"}"#, claims: Self.claims)
        let (header, claims) = (String(good.prefix { $0 != "." }), String(good.drop { $0 != "." }.dropFirst()))
        let others = [
            "", ".", "..", "...", "a.b.c", header, good, "\(good).AQID.", ".\(good).AQID", "\(good).AQID.AQID.AQID", "\(good).A",
            "\(good).AQ==", "\(good).AR", "\(good).A+Q", "\(good).A/Q", "\(good).AQID ", " \(good).AQID", "\(good).AQ\u{0}D",
            "\(good).ÄÖÜ", "\(header)=.\(claims).AQID", "\(header)..AQID", ".\(claims).AQID", "\(header)\n.\(claims).AQID",
            String(repeating: ".", count: 100_000), String(repeating: ".", count: 16_000), String(repeating: "a", count: 1 << 20),
            "\(header).\(TokenText.part([0x7B, 0xFF, 0x7D])).AQID", "\(header).\(TokenText.part(Array("[]".utf8))).AQID",
            "\(TokenText.part([0xEF, 0xBB, 0xBF])).\(claims).AQID",
        ]
        for other in others { #expect(fault(other) == .malformed, "\(other.prefix(80))") }
    }

    @Test func aTokenOfSixteenKibibytesIsReadAndALongerOneIsNot() {
        let text = TokenText.unsigned(header: #"{"alg":"RS256"}"#, claims: Self.claims) + "."
        // A signature of 4n characters leaves the length to the characters in front of it.
        let room = JSONWebToken.maximumByteCount - text.utf8.count
        #expect(fault(text + String(repeating: "A", count: room / 4 * 4)) == nil)
        #expect(fault(text + String(repeating: "A", count: room / 4 * 4 + 4)) == .malformed)
    }

    @Test func deepObjectsAreRefusedWithoutACrash() {
        let deep = #"{"a":"# + String(repeating: "[", count: 8000)
        #expect(fault(TokenText.unsigned(header: #"{"alg":"RS256"}"#, claims: deep) + ".AQID") == .malformed)
    }
}
