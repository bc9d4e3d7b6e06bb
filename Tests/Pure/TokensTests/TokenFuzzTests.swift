import TestSupport
import Testing
import Tokens

/// Bytes of strangers: whatever they are, they are read or refused.
struct TokenFuzzTests {
    private static let rules = TokenRules(issuer: "https://id.example", audiences: ["push"], scopesClaim: "scope")
    private static let pieces = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "d800", "alg", "RS256", "ES256", "kid", "iss", "aud", "exp", "sub",
        "keys", "kty",
        "RSA", "EC", "n", "e", "1", "-", "e400", ".", "null", "true", "\u{0}", "é", "https://id.example", "push", " ",
    ]

    private func mutated(_ text: [UInt8], with random: inout SeededRandom) -> [UInt8] {
        var bytes = text
        for _ in 0...random.below(4) {
            let place = random.below(bytes.count + 1)
            switch random.below(4) {
            case 0: bytes.insert(UInt8(random.below(256)), at: place)
            case 1: bytes.insert(contentsOf: Self.pieces[random.below(Self.pieces.count)].utf8, at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + random.below(8)))
            default: if place < bytes.count { bytes[place] ^= UInt8(1 << random.below(8)) }
            }
        }
        return bytes
    }

    @Test(arguments: 0..<20) func noTokenCrashesTheReader(seed: Int) {
        var random = SeededRandom(seed)
        let header = Array(#"{"alg":"RS256","kid":"a"}"#.utf8)
        let claims = Array(#"{"iss":"https://id.example","aud":["push"],"exp":1700000600,"sub":"alice","scope":"publish"}"#.utf8)
        for _ in 0..<500 {
            let parts = [mutated(header, with: &random), mutated(claims, with: &random), [1, 2, 3]].map { TokenText.part($0) }
            let whole = Array(parts.joined(separator: ".").utf8)
            for text in [whole, mutated(whole, with: &random)] {
                guard let token = try? JSONWebToken(text) else { continue }
                guard let bearer = try? Self.rules.bearer(of: token, at: present) else { continue }
                #expect(bearer.validity.contains(present))
                #expect(!bearer.user.isEmpty)
            }
        }
    }

    @Test(arguments: 0..<20) func noSetCrashesTheReader(seed: Int) {
        var random = SeededRandom(seed)
        let modulus = TokenText.part([UInt8](repeating: 0xFF, count: 256))
        let set = Array(#"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","kid":"a","use":"sig"},{"kty":"EC"}]}"#.utf8)
        for _ in 0..<500 {
            guard let keys = try? KeySet(mutated(set, with: &random)) else { continue }
            #expect(keys.keys.count <= 2)
        }
    }
}
