import Keys
import TestSupport
import Testing
import Tokens

@testable import UserTokens

struct RememberedTokensTests {
    private static let present: Int64 = 1_700_000_000

    private func bearer(scopes: String = "") throws -> RememberedTokens.Bearer {
        let text = TokenText.unsigned(
            header: #"{"alg":"RS256"}"#,
            claims: #"{"iss":"a","aud":"a","exp":1700000600,"sub":"alice","scope":"\#(scopes)"}"#)
        let rules = TokenRules(issuer: "a", audiences: ["a"], scopesClaim: "scope")
        return RememberedTokens.Bearer(try rules.bearer(of: JSONWebToken(Array("\(text).AQID".utf8)), at: Self.present))
    }

    @Test func noMoreThanTwiceTheLimitAreKnownAndThoseThatComeStay() throws {
        let bearer = try bearer()
        var remembered = RememberedTokens(limit: 10)
        for number in 0..<200 as Range<UInt8> {
            remembered.remember(bearer, as: [number])
            #expect(remembered.count <= 20)
            #expect(remembered.bearer([0], at: Self.present) == bearer)
        }
        #expect(remembered.bearer([199], at: Self.present) == bearer)
        #expect(remembered.bearer([100], at: Self.present) == nil)
        remembered.removeAll()
        #expect(remembered.count == 0)
        #expect(remembered.bearer([0], at: Self.present) == nil)
    }

    @Test func oneThatHasEndedIsForgotten() throws {
        let bearer = try bearer()
        var remembered = RememberedTokens(limit: 1)
        for number in 0..<2 as Range<UInt8> { remembered.remember(bearer, as: [number]) }
        #expect(remembered.count == 2)
        for number in 0..<2 as Range<UInt8> {
            #expect(remembered.bearer([number], at: bearer.validity.upperBound) == nil)
        }
        #expect(remembered.count == 0)
    }

    @Test func ofTheScopesNoneButThoseOfThisProgramAreKept() throws {
        let words = (0..<300).map { "word\($0)" }.joined(separator: " ")
        #expect(try bearer(scopes: words + " publish " + words).scopes == [.publish])
    }
}
