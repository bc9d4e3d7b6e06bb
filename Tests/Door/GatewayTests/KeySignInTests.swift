@testable import PublishAPI
@testable import GatewayAPI
import Basics
import EventLoop
import Foundation
import HTTPServing
import Keys
import Synchronization
import TestSupport
import Testing

/// A keys file that is gone when nobody holds it any more.
final class KeysOnDisk: Sendable {
    let path = NSTemporaryDirectory() + "pushfan-gateway-keys-\(UUID().uuidString)"

    init(_ keys: NewKey...) throws { try put(keys.map(\.key)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Puts another file in its place.
    func put(_ keys: [APIKey]) throws {
        var file = KeysFile()
        for key in keys { try file.add(key) }
        try put(file.bytes)
    }

    /// Puts other bytes in its place.
    func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) }
}

/// A new key that may publish.
func newKey(_ change: (inout KeyTerms) -> Void = { _ in }) throws -> NewKey {
    var terms = KeyTerms([.publish])
    change(&terms)
    return try NewKey(terms, at: 1000)
}

@Suite(.tags(.threads)) struct KeySignInTests {
    /// A sign-in in the second 1500, with what it reports to.
    private struct Stage {
        let keys: KeysOnDisk
        let test = TestServices()
        let signIn: KeySignIn

        init(_ keys: KeysOnDisk) throws {
            self.keys = keys
            let source = try KeySource(keys.path, now: test.clock.now) { _ in }
            signIn = KeySignIn(source, services: test.services, wallClock: { 1500 })
        }

        func check(_ key: String, from address: String = "10.0.0.1") -> KeyOutcome {
            signIn.check("Bearer \(key)", from: NumericAddress(address))
        }

        func counted(_ outcome: String, _ count: Int) -> Bool {
            test.metrics.contains("pushfan_gateway_key_checks_total{outcome=\"\(outcome)\"} \(count)\n")
        }
    }

    @Test func aRightKeySaysWhoPublishes() throws {
        let (plain, full) = (
            try newKey(),
            try newKey {
                $0.scopes = [.publish, .broadcast]
                $0.tenant = "acme"
                $0.source = "/shop"
            }
        )
        let stage = try Stage(KeysOnDisk(plain, full))
        let id = plain.key.id
        #expect(
            stage.check(plain.text)
                == .signedIn(Publisher(keyID: id, tenant: nil, source: "/pushfan/keys/\(id)", scopes: [.publish])))
        #expect(
            stage.check(full.text)
                == .signedIn(
                    Publisher(keyID: full.key.id, tenant: "acme", source: "/shop", scopes: [.publish, .broadcast])))
        #expect(stage.counted("accepted", 2))
        #expect(stage.test.metrics.contains("pushfan_gateway_key_last_used_seconds{key=\"\(id)\"} 1500\n"))
    }

    @Test func whatIsNoKeyIsRefusedAndCostsNothing() throws {
        let stage = try Stage(KeysOnDisk(newKey()))
        for _ in 0..<10 {
            for value in [nil, "", "Bearer", "Bearer abc", basic("a", "b")] {
                #expect(stage.signIn.check(value, from: NumericAddress("10.0.0.1")) == .refused)
            }
        }
        #expect(stage.check(try newKey().text) == .refused)
    }

    @Test func aKeyThatHasEndedIsRefusedAndCostsNothing() throws {
        let (expired, revoked) = (try newKey { $0.expiresAt = 1500 }, try newKey())
        let keys = try KeysOnDisk(expired)
        var file = KeysFile()
        try file.add(expired.key)
        try file.add(revoked.key)
        _ = file.revoke(revoked.key.id, at: 1200)
        try keys.put(file.bytes)
        let stage = try Stage(keys)
        for _ in 0..<10 { for key in [expired, revoked] { #expect(stage.check(key.text) == .refused) } }
        #expect(stage.counted("ended", 20))
    }

    @Test func wrongKeysCostTheirSenderAndARightOneIsNeverHeld() throws {
        let right = try newKey()
        let stage = try Stage(KeysOnDisk(right))
        for _ in 0..<4 { #expect(stage.check(try newKey().text) == .refused) }
        let wrong = try newKey().text
        #expect(stage.check(wrong) == .held(1000))
        #expect(stage.check("pf_\(right.key.id)_" + wrong.suffix(43)) == .held(1000))
        guard case .signedIn = stage.check(right.text) else {
            Issue.record("a right key was held")
            return
        }
        #expect(stage.check(wrong, from: "10.0.0.2") == .refused, "another address")
        stage.test.clock.advance(seconds: 1)
        #expect(stage.check(wrong) == .refused)
        #expect(stage.check(wrong) == .held(2000))
        #expect(stage.counted("held", 3) && stage.counted("refused", 6))
    }

    @Test func aKeyThatWasJustMadeIsRightAtOnceAlsoWhereOthersWereWrong() throws {
        let (old, new) = (try newKey(), try newKey())
        let stage = try Stage(KeysOnDisk(old))
        for _ in 0..<5 { _ = stage.check(try newKey().text) }
        try stage.keys.put([old.key, new.key])
        stage.test.clock.advance(seconds: 1)
        #expect(stage.check(new.text) == .signedIn(Publisher(new.key)))
        #expect(stage.counted("accepted", 1) && stage.counted("refused", 4) && stage.counted("held", 1))
    }

    @Test func aRevokedKeyIsNotFoundRightByALook() throws {
        let one = try newKey()
        let stage = try Stage(KeysOnDisk(one))
        var file = KeysFile()
        try file.add(one.key)
        _ = file.revoke(one.key.id, at: 1200)
        try stage.keys.put(file.bytes)
        stage.test.clock.advance(seconds: 2)
        for _ in 0..<5 { #expect(stage.check(one.text) == .refused) }
        #expect(stage.counted("ended", 5))
    }

    @Test func anAnswerDoesNotSayWhichIdsThereAre() throws {
        let right = try newKey()
        for id in [right.key.id, "00000000"] {
            let stage = try Stage(KeysOnDisk(right))
            let outcomes = try (0..<6).map { _ in stage.check("pf_\(id)_" + (try newKey().text.suffix(43))) }
            #expect(outcomes == [.refused, .refused, .refused, .refused, .held(1000), .held(1000)])
        }
    }

    @Test func aRateLimitsItsKeyAlone() throws {
        let (slow, other) = (try newKey { $0.rate = 2 }, try newKey())
        let stage = try Stage(KeysOnDisk(slow, other))
        let signedIn = KeyOutcome.signedIn(Publisher(slow.key))
        for _ in 0..<4 { #expect(stage.check(slow.text) == signedIn) }
        #expect(stage.check(slow.text) == .limited(500, burst: 4))
        #expect(stage.check(other.text) == .signedIn(Publisher(other.key)))
        stage.test.clock.advance(seconds: 1)
        #expect((0..<3).map { _ in stage.check(slow.text) } == [signedIn, signedIn, .limited(500, burst: 4)])
        #expect(stage.counted("limited", 2))
        #expect(stage.test.services.limited.take().values.reduce(0, +) == 2, "a sign of trouble of the key's tenant or source")
    }

    @Test func theRequestsOfABatchCountAsCalls() throws {
        let slow = try newKey { $0.rate = 2 }
        let stage = try Stage(KeysOnDisk(slow))
        let publisher = Publisher(slow.key)
        #expect(stage.check(slow.text) == .signedIn(publisher))
        #expect(stage.signIn.check(5, of: publisher) == .beyond(4))
        #expect(stage.signIn.check(4, of: publisher) == .allowed)
        #expect(stage.check(slow.text) == .limited(500, burst: 4))
        #expect(stage.signIn.check(2, of: publisher) == .limited(1000))
        #expect(stage.counted("limited", 3))
    }

    @Test func aKeyThatIsRevokedWhileItIsUsedIsRefusedTwoSecondsLaterAndItsSeriesGoes() throws {
        let (one, two) = (try newKey(), try newKey())
        let stage = try Stage(KeysOnDisk(one, two))
        for key in [one, two] { #expect(stage.check(key.text) == .signedIn(Publisher(key.key))) }
        try stage.keys.put([two.key])
        stage.test.clock.advance(seconds: 2)
        #expect(stage.check(one.text) == .refused)
        #expect(stage.check(two.text) == .signedIn(Publisher(two.key)))
        #expect(!stage.test.metrics.contains("key=\"\(one.key.id)\"") && stage.test.metrics.contains("key=\"\(two.key.id)\""))
    }

    @Test func aKeysFileThatCannotBeUsedIsNamedAtTheStart() throws {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        let services = TestServices().services
        #expect(try KeySignIn.make(configuration, services: services) == nil)
        configuration.keysFile = "/no/such/file"
        let error = #expect(throws: GatewayFailure.self) { try KeySignIn.make(configuration, services: services) }
        #expect(error == .configuration("gateway.keys_file: '/no/such/file' does not exist"))
    }

    @Test func refusalsAreProblemsWithAChallengeOrATime() {
        for refused in [APIProblem.keyMissing, .keyMalformed, .keyWrong].map({ APIAnswer($0) }) {
            #expect(refused.status == 401 && refused.headers["WWW-Authenticate"] == #"Bearer realm="pushfan""#)
        }
        for (problem, code) in [
            (APIProblem.tooManyWrongKeys(after: 1500), "too_many_sign_ins"), (.rateLimited(after: 1500), "rate_limited"),
        ] {
            let answer = APIAnswer(problem)
            #expect(answer.status == 429 && answer.headers["Retry-After"] == "2")
            #expect(String(decoding: answer.body, as: UTF8.self).contains("\"code\":\"\(code)\""))
        }
    }

    @Test func noSecretReachesLogsMetricsOrDescriptions() throws {
        let (right, wrong) = (try newKey(), try newKey())
        let keys = try KeysOnDisk(right)
        let test = TestServices()
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        configuration.keysFile = keys.path
        let signIn = try #require(try KeySignIn.make(configuration, services: test.services))
        var said = ""
        func note(_ outcome: KeyOutcome) { dump(outcome, to: &said) }
        for key in [right, wrong] { note(signIn.check("Bearer \(key.text)", from: nil)) }
        try keys.put(Array("\(right.text)\n".utf8))
        test.clock.advance(seconds: 2)
        note(signIn.check("Bearer \(right.text)", from: nil))
        #expect(test.log.text.contains("the keys file cannot be used") && test.log.text.contains("line 1: "))
        for key in [right, wrong] {
            for text in [said, test.log.text, test.metrics, "\(signIn)"] { #expect(!text.contains(key.text.suffix(43))) }
        }
        #expect(said.contains(right.key.id))
    }
}

@Suite struct KeyUsesTests {
    private func key(_ rate: Int?) throws -> APIKey { try newKey { $0.rate = rate }.key }

    @Test(arguments: [(1, 2, 1000), (2, 4, 500), (3, 6, 334), (1000, 2000, 1)] as [(Int, Int, Int64)])
    func aKeyHasTwiceItsRateAtOnceAndThenWaits(rate: Int, burst: Int, wait: Int64) throws {
        var uses = KeyUses()
        let key = try key(rate)
        for _ in 0..<burst { #expect(uses.take(key, now: .at(0)) == 0) }
        #expect(uses.take(key, now: .at(0)) == wait)
        #expect(uses.take(key, now: .at(0)) == wait, "who is refused pays nothing")
        #expect(uses.take(key, now: .at(wait * 1_000_000)) == 0)
    }

    @Test func overAMinuteThereAreNoMoreCallsThanTheRateAndOneBurst() throws {
        var uses = KeyUses()
        let key = try key(7)
        var count = 0
        for millisecond: Int64 in 0..<60_000 {
            let now = MonotonicTime.at(millisecond * 1_000_000)
            if uses.take(key, now: now) == 0 { count += 1 }
        }
        #expect((7 * 60 + 13...7 * 60 + 14).contains(count))
    }

    @Test func aKeyWithoutARateNeverWaits() throws {
        var uses = KeyUses()
        let key = try key(nil)
        #expect((0..<10_000).allSatisfy { _ in uses.take(key, now: .at(0)) == 0 })
    }

    @Test func aBatchThatWaitsAsLongAsItIsAskedToIsAllowed() throws {
        var uses = KeyUses()
        let key = try key(2)
        let millisecond: Int64 = 1_000_000
        #expect(uses.take(key, now: .at(0)) == 0)
        #expect(uses.take(4, of: key.id, now: .at(0)) == .allowed)
        #expect(uses.take(key, now: .at(500 * millisecond)) == 0)
        #expect(uses.take(3, of: key.id, now: .at(500 * millisecond)) == .limited(1500))
        #expect(uses.take(key, now: .at(2000 * millisecond)) == 0)
        #expect(uses.take(3, of: key.id, now: .at(2000 * millisecond)) == .allowed)
        #expect(uses.take(5, of: key.id, now: .at(90_000 * millisecond)) == .beyond(4))
    }

    @Test func batchesOfAKeyWithoutARateAreAllowed() throws {
        var uses = KeyUses()
        let key = try key(nil)
        #expect(uses.take(key, now: .at(0)) == 0)
        #expect((0..<100).allSatisfy { _ in uses.take(1000, of: key.id, now: .at(0)) == .allowed })
    }

    @Test func keysThatAreGoneAreForgotten() throws {
        var uses = KeyUses()
        let keys = try (0..<3).map { _ in try key(1) }
        var file = KeysFile()
        for key in keys {
            try file.add(key)
            _ = uses.take(key, now: .at(0))
        }
        #expect(uses.forgetAll(but: try KnownKeys(file, generation: 1)) == [] && uses.count == 3)
        _ = file.revoke(keys[1].id, at: 1)
        #expect(uses.forgetAll(but: try KnownKeys(file, generation: 1)) == [], "the same reading")
        #expect(uses.forgetAll(but: try KnownKeys(file, generation: 2)) == [keys[1].id] && uses.count == 2)
    }
}
