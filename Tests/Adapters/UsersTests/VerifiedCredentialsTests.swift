import Basics
import TestSupport
import Testing
import Users

@Suite(.tags(.c)) struct VerifiedCredentialsTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private let alice = header("alice", "secret")
    private let bob = header("bob", "secret")

    @Test func aHeaderIsRememberedWhileItIsUsedEachHour() {
        var verified = VerifiedCredentials(key: Self.key)
        #expect(verified.name(of: alice, generation: 1, now: second(0)) == nil)
        verified.remember(alice, name: "alice", generation: 1, now: second(0))
        for moment in [0, 3600, 7199] as [Int64] {
            #expect(verified.name(of: alice, generation: 1, now: second(moment)) == (moment == 3600 ? nil : "alice"))
            #expect(verified.name(of: bob, generation: 1, now: second(moment)) == nil)
            if moment == 3600 { verified.remember(alice, name: "alice", generation: 1, now: second(moment)) }
        }
        #expect(verified.name(of: alice, generation: 1, now: second(7199 + 3600)) == nil)
    }

    @Test func aHeaderIsRememberedForADayHoweverOftenItIsUsed() {
        var verified = VerifiedCredentials(key: Self.key)
        verified.remember(alice, name: "alice", generation: 1, now: second(0))
        for moment in stride(from: 3000, to: 86_400, by: 3000) as StrideTo<Int64> {
            #expect(verified.name(of: alice, generation: 1, now: second(moment)) == "alice")
        }
        #expect(verified.name(of: alice, generation: 1, now: second(86_400)) == nil)
        #expect(verified.count == 0)
    }

    @Test func onlyTheSameHeaderIsKnown() {
        var verified = VerifiedCredentials(key: Self.key)
        verified.remember(alice, name: "alice", generation: 1, now: second(0))
        for other in [alice + " ", String(alice.dropLast()), alice.lowercased(), "", header("alice", "Secret")] {
            #expect(verified.name(of: other, generation: 1, now: second(1)) == nil)
        }
    }

    @Test func otherUsersForgetAll() {
        var verified = VerifiedCredentials(key: Self.key)
        verified.remember(alice, name: "alice", generation: 1, now: second(0))
        verified.remember(bob, name: "bob", generation: 1, now: second(0))
        #expect(verified.name(of: bob, generation: 2, now: second(1)) == nil)
        #expect(verified.count == 0)
        #expect(verified.name(of: alice, generation: 2, now: second(1)) == nil)
        // A check that began before the file was read again.
        verified.remember(alice, name: "alice", generation: 1, now: second(2))
        #expect(verified.count == 0)
        #expect(verified.name(of: alice, generation: 1, now: second(2)) == nil)
        #expect(verified.name(of: alice, generation: 2, now: second(2)) == nil)
        verified.remember(alice, name: "alice", generation: 2, now: second(3))
        #expect(verified.name(of: alice, generation: 2, now: second(4)) == "alice")
        #expect(verified.name(of: alice, generation: 1, now: second(4)) == nil)
    }

    @Test func theOldestIsForgottenWhereThereAreTooMany() {
        var verified = VerifiedCredentials(key: Self.key, limit: 3)
        for number in 0..<100 {
            let name = "user-\(number)"
            verified.remember(header(name, "x"), name: name, generation: 1, now: second(0))
            #expect(verified.count == min(number + 1, 3))
        }
        for number in 95..<100 {
            let name = "user-\(number)"
            let known = verified.name(of: header(name, "x"), generation: 1, now: second(1))
            #expect(known == (number >= 97 ? name : nil))
        }
    }

    @Test func oneUserDoesNotPushOthersOut() {
        var verified = VerifiedCredentials(key: Self.key, limit: 20)
        verified.remember(header("alice", "x"), name: "alice", generation: 1, now: second(0))
        for number in 0..<100 {
            verified.remember(header("greedy", "\(number)"), name: "greedy", generation: 1, now: second(1))
            #expect(verified.count == min(number + 2, 17))
        }
        #expect(verified.name(of: header("alice", "x"), generation: 1, now: second(2)) == "alice")
        for (number, isKnown) in [(83, false), (84, true), (99, true)] {
            #expect((verified.name(of: header("greedy", "\(number)"), generation: 1, now: second(2)) != nil) == isKnown)
        }
    }

    @Test(arguments: [1, 2, 3]) func whatIsKnownIsWhatWasVerifiedThatDayAndUsedThatHour(seed: Int) {
        var random = SeededRandom(seed)
        var verified = VerifiedCredentials(key: Self.key)
        var moments: [String: (verified: Int64, used: Int64)] = [:]
        var generation = 1
        for step in 0..<Int64(10_000) {
            let now = step * 60
            let name = "user-\(random.below(40))"
            if random.below(2000) == 0 {
                generation += 1
                moments = [:]
            }
            let isKnown = moments[name].map { now - $0.used < 3600 && now - $0.verified < 86_400 } ?? false
            let found = verified.name(of: header(name, "x"), generation: generation, now: second(now))
            #expect(found == (isKnown ? name : nil))
            if isKnown { moments[name]?.used = now }
            if !isKnown, random.below(2) == 0 {
                verified.remember(header(name, "x"), name: name, generation: generation, now: second(now))
                moments[name] = (now, now)
            }
            #expect(verified.count <= 40)
        }
    }

    @Test func neitherHeaderNorKeyIsKept() {
        var verified = VerifiedCredentials(key: Self.key)
        verified.remember(alice, name: "alice", generation: 1, now: second(0))
        var dumped = ""
        dump(verified, to: &dumped)
        #expect(dumped.contains("headers: 1") && !dumped.contains("alice") && !dumped.contains("7"))
    }
}
