import HubAuth
import Testing

struct SASTokenCacheTests {
    static let first = SASCredential(policy: "policy", key: SecretKey("first key"))
    static let second = SASCredential(policy: "policy", key: SecretKey("second key"))

    private func cache(secondary: SASCredential? = second, lifetime: Duration = .seconds(1000)) throws -> SASTokenCache {
        try SASTokenCache(audience: "http://h.example/hub/", primary: Self.first, secondary: secondary, lifetime: lifetime)
    }

    private func signs(_ token: SASToken, _ credential: SASCredential) throws -> Bool {
        let expected = try SASToken.sign(
            resource: "http://h.example/hub/", policy: credential.policy, key: credential.key, expiry: token.expiry)
        return token.headerValue == expected.headerValue
    }

    @Test func aTokenIsUsedFor90PercentOfItsLife() throws {
        var cache = try cache()
        let token = try cache.token(now: 5000)
        #expect(token.expiry == 6000)
        #expect(try signs(token, Self.first))
        #expect(try cache.token(now: 5899).serial == token.serial)
        let next = try cache.token(now: 5900)
        #expect(next.serial == token.serial + 1)
        #expect(next.expiry == 6900)
    }

    @Test func theCachedBytesAreHandedOutWithoutACopy() throws {
        var cache = try cache()
        let address = { (token: SASToken) in token.headerValue.withUnsafeBufferPointer { $0.baseAddress } }
        let (first, again) = (try cache.token(now: 0), try cache.token(now: 1))
        #expect(address(first) == address(again))
    }

    @Test func aClockThatIsSetBackRenewsTheToken() throws {
        var cache = try cache()
        _ = try cache.token(now: 5000)
        #expect(try cache.token(now: 4999).expiry == 5999)
    }

    @Test func theFirstRefusalSignsAnewWithTheSameKey() throws {
        var cache = try cache()
        let token = try cache.token(now: 100)
        #expect(cache.rejected(serial: token.serial) == .renewed)
        let fresh = try cache.token(now: 160)
        #expect(fresh.expiry == 1160)
        #expect(try signs(fresh, Self.first))
    }

    @Test func aFreshTokensRefusalSwitchesTheKeyAndThenIsFinal() throws {
        var cache = try cache()
        #expect(cache.rejected(serial: try cache.token(now: 1).serial) == .renewed)
        #expect(cache.rejected(serial: try cache.token(now: 2).serial) == .switched(to: .secondary))
        let other = try cache.token(now: 3)
        #expect(try signs(other, Self.second))
        #expect(cache.rejected(serial: other.serial) == .refused)
        #expect(!SASTokenCache.Verdict.refused.allowsRetry)
    }

    @Test func withOneKeyTheSecondRefusalIsFinal() throws {
        var cache = try cache(secondary: nil)
        #expect(cache.rejected(serial: try cache.token(now: 1).serial) == .renewed)
        #expect(cache.rejected(serial: try cache.token(now: 2).serial) == .refused)
        #expect(try signs(cache.token(now: 3), Self.first))
    }

    @Test func aSuccessForgetsRefusalsAndKeepsTheKey() throws {
        var cache = try cache()
        _ = cache.rejected(serial: try cache.token(now: 1).serial)
        _ = cache.rejected(serial: try cache.token(now: 2).serial)
        let token = try cache.token(now: 3)
        cache.accepted(serial: token.serial)
        #expect(cache.rejected(serial: token.serial) == .renewed)
        #expect(cache.rejected(serial: try cache.token(now: 4).serial) == .switched(to: .primary))
        #expect(try signs(cache.token(now: 5), Self.first))
    }

    @Test func manyCallsWithOneRefusedTokenCountAsOneRefusal() throws {
        var cache = try cache()
        let stale = try cache.token(now: 1).serial
        #expect(cache.rejected(serial: stale) == .renewed)
        for _ in 0..<32 { #expect(cache.rejected(serial: stale) == .superseded) }
        let fresh = try cache.token(now: 2)
        for _ in 0..<32 { #expect(cache.rejected(serial: stale) == .superseded) }
        #expect(try signs(fresh, Self.first))
        #expect(try cache.token(now: 3).serial == fresh.serial)
    }

    @Test func anOldTokensSuccessProvesNothing() throws {
        var cache = try cache()
        let stale = try cache.token(now: 1).serial
        _ = cache.rejected(serial: stale)
        let fresh = try cache.token(now: 2).serial
        cache.accepted(serial: stale)
        #expect(cache.rejected(serial: fresh) == .switched(to: .secondary))
    }

    @Test func whileAllKeysAreRefusedNothingIsRetriedAndTheKeysTakeTurns() throws {
        var cache = try cache()
        let stale = try cache.token(now: 1).serial
        _ = cache.rejected(serial: stale)
        _ = cache.rejected(serial: try cache.token(now: 2).serial)
        #expect(cache.rejected(serial: try cache.token(now: 3).serial) == .refused)
        #expect(cache.rejected(serial: stale) == .refused)
        for (turn, credential) in [Self.first, Self.second, Self.first].enumerated() {
            let token = try cache.token(now: 4 + Int64(turn))
            #expect(try signs(token, credential))
            #expect(cache.rejected(serial: token.serial) == .refused)
        }
        let token = try cache.token(now: 9)
        cache.accepted(serial: token.serial)
        #expect(cache.rejected(serial: token.serial) == .renewed)
    }

    /// The keys that are there, and whether each answer takes the token: in doubt from the first refusal on, refused when no key is left.
    @Test(
        arguments: [
            (true, [true], false, false), (true, [false], true, false), (true, [false, false], true, false),
            (true, [false, false, true], false, false), (true, [false, false, false], true, true),
            (true, [false, false, false, false], true, true), (true, [false, false, false, true], false, false),
            (false, [false], true, false), (false, [false, false], true, true), (false, [false, false, true], false, false),
        ])
    func onlyWhenEveryKeyIsRefusedAreAllRefused(hasTwo: Bool, answers: [Bool], isInDoubt: Bool, isRefused: Bool) throws {
        var cache = try cache(secondary: hasTwo ? Self.second : nil)
        #expect(!cache.isInDoubt && !cache.isRefused)
        for (second, isTaken) in answers.enumerated() {
            let serial = try cache.token(now: Int64(second)).serial
            if isTaken { cache.accepted(serial: serial) } else { _ = cache.rejected(serial: serial) }
        }
        #expect(cache.isInDoubt == isInDoubt && cache.isRefused == isRefused)
    }

    @Test(arguments: [Duration.seconds(299), .seconds(86401), .zero, .seconds(-1), .milliseconds(299_999)])
    func livesOutsideOfTheRangeAreRefused(_ lifetime: Duration) {
        #expect(throws: HubAuthError.tokenLifetime(seconds: lifetime.components.seconds)) { try cache(lifetime: lifetime) }
    }

    @Test(arguments: [Duration.seconds(300), .seconds(86400)])
    func livesAtTheEndsOfTheRangeAreTaken(_ lifetime: Duration) throws {
        var cache = try cache(lifetime: lifetime)
        #expect(try cache.token(now: 7).expiry == 7 + lifetime.components.seconds)
    }
}
