import Foundation
import Keys
import TestSupport
import Testing
import TokenIssuer
import UserTokens

@Suite(.tags(.threads, .c)) struct TokenVerifierTests {
    private let stage: Stage
    private let keys: String

    init() throws {
        stage = try Stage()
        keys = try TokenIssuer.set(Issuers.known().rsa, Issuers.known().ec)
    }

    private func bearer(_ token: String) -> String { "Bearer \(token)" }

    @Test func theIssuersTokensSignTheirUsersIn() throws {
        let verifier = try stage.verifier(keys)
        #expect(verifier.state == .healthy)
        #expect(verifier.keyCount == 2)
        for issuer in [try Issuers.known().rsa, try Issuers.known().ec] {
            let token = try issuer.token(goodClaims)
            for _ in 0..<2 { #expect(verifier.check(bearer(token)) == user("alice")) }
        }
        let unnamed = try Issuers.known().rsa.token(goodClaims, header: #"{"alg":"RS256","typ":"JWT"}"#)
        #expect(verifier.check(bearer(unnamed)) == user("alice"))
    }

    @Test func aTokenHasTheScopesOfItsClaimAndWordsThatAreNonePassOver() throws {
        let verifier = try stage.verifier(keys, scopesClaim: "scope")
        let issuer = try Issuers.known().rsa
        let token = try issuer.token(goodClaims)
        for _ in 0..<2 { #expect(verifier.check(bearer(token)) == .user(name: "alice", scopes: [.publish, .register])) }
        let list = try issuer.token(goodClaims.replacing(#""publish nothing register""#, with: #"["register:handles","x"]"#))
        #expect(verifier.check(bearer(list)) == .user(name: "alice", scopes: [.handles]))
        let without = try issuer.token(goodClaims.replacing(#""scope""#, with: #""scp""#))
        #expect(verifier.check(bearer(without)) == .user(name: "alice", scopes: []))
    }

    @Test func theSchemeIsBearerInAnyCaseAndBlanksDoNotMatter() throws {
        let verifier = try stage.verifier(keys)
        let token = try Issuers.known().ec.token(goodClaims)
        for form in ["Bearer \(token)", "bearer \(token)", "BEARER   \(token)  ", "  Bearer \(token)"] {
            #expect(verifier.check(form) == user("alice"))
        }
        for form in [
            nil, "", token, "Bearer", "Bearer ", "Bearer\(token)", "Basic \(token)", "Bearer \(token) \(token)",
            "Bearer\t\(token)",
        ] {
            #expect(verifier.check(form) == .refused)
        }
    }

    @Test(arguments: HostileToken.all) func aHostileTokenIsRefusedEachTime(_ hostile: HostileToken) throws {
        let verifier = try stage.verifier(keys)
        let token = try hostile.make()
        for _ in 0..<2 { #expect(verifier.check(bearer(token)) == .refused) }
        let good = try Issuers.known().rsa.token(goodClaims)
        #expect(verifier.check(bearer(good)) == user("alice"), "others still sign in")
    }

    @Test func aRememberedTokenEndsWithItsTime() throws {
        let verifier = try stage.verifier(keys)
        let token = try Issuers.known().ec.token(goodClaims)
        #expect(verifier.check(bearer(token)) == user("alice"))
        stage.wallClock.withLock { $0 = 1_700_000_659_999 }
        #expect(verifier.check(bearer(token)) == user("alice"))
        stage.wallClock.withLock { $0 = 1_700_000_660_000 }
        #expect(verifier.check(bearer(token)) == .refused)
        stage.wallClock.withLock { $0 = 1_700_000_000_000 }
        #expect(verifier.check(bearer(token)) == user("alice"), "the clock was wrong for a while")
    }

    @Test func oneChangedCharacterOfARememberedTokenIsSeen() throws {
        let verifier = try stage.verifier(keys)
        let token = try Issuers.known().ec.token(goodClaims)
        #expect(verifier.check(bearer(token)) == user("alice"))
        for place in stride(from: 0, to: token.utf8.count, by: 7) {
            var bytes = Array(token.utf8)
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            // A change of the header may name another key, about which the gateway would have to ask first.
            if case .user = verifier.check(bearer(String(decoding: bytes, as: UTF8.self))) { Issue.record("place \(place)") }
        }
    }

    @Test(arguments: 0..<20) func noBytesOfAStrangerCrashOrSignIn(seed: Int) throws {
        var random = SeededRandom(seed)
        let verifier = try stage.verifier(keys)
        let good = Array("Bearer \(try Issuers.known().rsa.token(goodClaims))".utf8)
        for _ in 0..<100 {
            var bytes = good
            for _ in 0...random.below(3) {
                let place = "Bearer ".utf8.count + random.below(bytes.count - "Bearer ".utf8.count)
                switch random.below(3) {
                case 0: bytes.insert(UInt8(random.below(256)), at: place)
                case 1: bytes.removeSubrange(place..<min(bytes.count - 1, place + 1 + random.below(20)))
                default: bytes[place] ^= UInt8(1 << random.below(8))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard case .user = verifier.check(text), !text.utf8.elementsEqual(good) else { continue }
            // Blanks around a token do not matter.
            #expect(
                text.split(separator: " ").map { String($0) }
                    == String(decoding: good, as: UTF8.self).split(separator: " ").map { String($0) })
        }
    }

    @Test func aKeyWithATooShortModulusIsPassedOver() throws {
        let weak = try Issuers.weak()
        let verifier = try stage.verifier(TokenIssuer.set(weak, Issuers.known().ec))
        #expect(verifier.keyCount == 1)
        let outcome = try verifier.check(bearer(weak.token(goodClaims)))
        if case .user = outcome { Issue.record("1,024 bits signed in") }
        #expect(throws: TokenVerifier.Problem.self) { try stage.verifier(TokenIssuer.set(weak)) }
    }

    @Test func severalThreadsMayAskAtOnce() throws {
        let verifier = try stage.verifier(keys)
        let tokens = try (0..<8).map { try Issuers.known().ec.token(goodClaims.replacing("alice", with: "user\($0)")) }
        let wrong = Box(0)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let outcome = verifier.check("Bearer \(tokens[number % 8])")
            if outcome != user("user\(number % 8)") { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func nothingOfATokenIsInTheLog() throws {
        let verifier = try stage.verifier(keys)
        for hostile in HostileToken.all { _ = try verifier.check(bearer(hostile.make())) }
        #expect(stage.lines.withLock { $0 }.isEmpty)
    }
}
