import TestSupport
import Testing
import Tokens

@testable import UserTokens

struct RememberedTokensTests {
    private func bearer() throws -> TokenBearer {
        let text = TokenText.unsigned(
            header: #"{"alg":"RS256"}"#, claims: #"{"iss":"a","aud":"a","exp":1700000600,"sub":"alice"}"#)
        return try TokenRules(issuer: "a", audiences: ["a"]).bearer(
            of: JSONWebToken(Array("\(text).AQID".utf8)), at: 1_700_000_000)
    }

    @Test func noMoreThanTwiceTheLimitAreKnownAndThoseThatComeStay() throws {
        let bearer = try bearer()
        var remembered = RememberedTokens(limit: 10)
        for number in 0..<200 as Range<UInt8> {
            remembered.remember(bearer, as: [number])
            #expect(remembered.count <= 20)
            #expect(remembered.bearer([0]) == bearer)
        }
        #expect(remembered.bearer([199]) == bearer)
        #expect(remembered.bearer([100]) == nil)
        remembered.removeAll()
        #expect(remembered.count == 0)
        #expect(remembered.bearer([0]) == nil)
    }
}
