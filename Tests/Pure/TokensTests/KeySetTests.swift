import TestSupport
import Testing
import Tokens

struct KeySetTests {
    private static let odd = [UInt8](repeating: 0xFF, count: 256)

    private static func rsa(
        _ modulus: [UInt8] = odd, exponent: [UInt8] = [1, 0, 1], more: String = ""
    ) -> String {
        #"{"kty":"RSA","n":"\#(TokenText.part(modulus))","e":"\#(TokenText.part(exponent))"\#(more)}"#
    }

    private static func p256(_ curve: String = "P-256", x: Int = 32, y: Int = 32, more: String = "") -> String {
        let (x, y) = (TokenText.part([UInt8](repeating: 1, count: x)), TokenText.part([UInt8](repeating: 2, count: y)))
        return #"{"kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"\#(more)}"#
    }

    private func set(_ keys: String...) throws(KeySetFault) -> KeySet {
        try KeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    @Test(arguments: [
        rsa(), rsa([0, 0] + odd), rsa([UInt8](repeating: 0xFF, count: 1024)), rsa(exponent: [3]), rsa([1] + odd),
        rsa(more: #","use":"sig""#), rsa(more: #","alg":"RS256""#), rsa(more: #","key_ops":["verify"],"x5c":["a"]"#), p256(),
        p256(more: #","alg":"ES256","use":"sig","key_ops":["sign","verify"]"#), rsa(more: #","use":null,"alg":null,"kid":null"#),
    ])
    func aKeyForSignaturesCounts(_ key: String) throws {
        let set = try set(key)
        #expect(set.keys.count == 1)
        #expect(set.skippedCount == 0)
    }

    @Test(arguments: [
        rsa(odd.dropLast()), rsa([0x7F] + odd.dropFirst()), rsa(odd.dropLast() + [0xFE]),
        rsa([1] + [UInt8](repeating: 255, count: 1024)),
        rsa([]), rsa(exponent: [1]), rsa(exponent: []), rsa(exponent: [0]), rsa(exponent: [2]), rsa(exponent: [1, 0, 0, 0, 1]),
        rsa(more: #","use":"enc""#), rsa(more: #","use":1"#), rsa(more: #","alg":"RS512""#), rsa(more: #","alg":"PS256""#),
        rsa(more: #","alg":"ES256""#), rsa(more: #","alg":["RS256"]"#), rsa(more: #","key_ops":["encrypt"]"#),
        rsa(more: #","key_ops":"verify""#), rsa(more: #","key_ops":[]"#), rsa(more: #","kid":7"#), rsa(more: #","d":"AQAB""#),
        p256("P-384"), p256("secp256k1"), p256(x: 31), p256(y: 33), p256(x: 0), p256(more: #","alg":"RS256""#),
        p256(more: #","d":"AQ""#), #"{"kty":"oct","k":"AQID"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AQ"}"#, #"{"kty":"rsa"}"#,
        #"{"kty":"RSA","n":1,"e":"AQAB"}"#, #"{"kty":"RSA","n":"+/==","e":"AQAB"}"#, "{}", "[]", "1", "null", #""RSA""#,
    ])
    func anyOtherKeyIsPassedOverAndCounted(_ key: String) throws {
        let set = try set(key, Self.rsa(more: #","kid":"good""#))
        #expect(set.keys.map(\.id) == ["good"])
        #expect(set.skippedCount == 1)
        #expect(try self.set(key).keys.isEmpty)
    }

    @Test func aSetWithoutKeysIsASet() throws {
        let set = try set()
        #expect(set.keys.isEmpty && set.skippedCount == 0)
        #expect(try set.places(for: token()).isEmpty)
    }

    @Test(
        arguments: [
            ("", .noKeySet), ("{}", .noKeySet), ("[]", .noKeySet), (#"{"keys":{}}"#, .noKeySet), (#"{"keys":null}"#, .noKeySet),
            (#"{"keys":[],"keys":[]}"#, .noKeySet),
            (#"{"keys":[{"kty":"RSA","kty":"EC"}]}"#, .noKeySet),
            (#"{"keys":["#, .noKeySet), ("\u{FEFF}{\"keys\":[]}", .noKeySet), ("-----BEGIN PUBLIC KEY-----", .noKeySet),
            (String(repeating: " ", count: 1 << 20 | 1), .tooLarge), (String(repeating: "[", count: 100_000), .noKeySet),
        ] as [(String, KeySetFault)])
    func whatIsNoSetIsRefused(_ text: String, expected: KeySetFault) {
        #expect(throws: expected) { try KeySet(Array(text.utf8)) }
        #expect(!expected.description.isEmpty)
    }

    @Test func noMoreThanAHundredKeysCount() throws {
        let keys = (0..<150).map { Self.p256(more: #","kid":"\#($0)""#) }.joined(separator: ",")
        let set = try set(keys)
        #expect(set.keys.count == 100)
        #expect(set.skippedCount == 50)
    }

    @Test(
        arguments: [
            (#"{"alg":"RS256","kid":"a"}"#, [0]), (#"{"alg":"ES256","kid":"a"}"#, [3]), (#"{"alg":"RS256","kid":"A"}"#, []),
            (#"{"alg":"RS256","kid":"b"}"#, [1]), (#"{"alg":"RS256"}"#, [0, 1, 2]), (#"{"alg":"ES256"}"#, [3]),
            (#"{"alg":"RS256","kid":""}"#, []), (#"{"alg":"RS256","kid":null}"#, [0, 1, 2]),
        ] as [(String, [Int])])
    func aTokenIsTriedWithTheKeysThatItCanMean(_ header: String, places: [Int]) throws {
        let set = try set(
            Self.rsa(more: #","kid":"a""#), Self.rsa(more: #","kid":"b""#), Self.rsa(), Self.p256(more: #","kid":"a""#))
        #expect(try Array(set.places(for: token(header: header))) == places)
    }

    @Test func aKeyIsKnownByItsNameWhateverItIsFor() throws {
        let set = try set(Self.rsa(more: #","kid":"a""#), Self.rsa())
        #expect(try set.hasKey(of: token(header: #"{"alg":"ES256","kid":"a"}"#)))
        #expect(try !set.hasKey(of: token(header: #"{"alg":"RS256","kid":"b"}"#)))
        #expect(try !set.hasKey(of: token()))
    }

    @Test func aTokenWithoutANameIsTriedWithNoMoreThanFourKeys() throws {
        let set = try set(Self.rsa(), Self.rsa(), Self.rsa(), Self.rsa(), Self.rsa())
        #expect(try set.places(for: token()).count == 4)
    }
}
