import Basics
import TestSupport
import Testing
import Users

/// The network of an address as text.
func network(_ address: String) -> ClientNetwork { ClientNetwork(NumericAddress(address)) }

@Suite struct SignInLimitsTests {
    /// Somebody from `10.0.0.HOST`; names of users begin with `user`.
    private func attempt(_ host: String, _ name: String) -> SignInLimits.Attempt {
        SignInLimits.Attempt(
            from: network(host.contains(":") ? host : "10.0.0.\(host)"), as: name, isUser: name.hasPrefix("user"))
    }

    /// Limits that know some failures, all of them at second 0, and who signed in before.
    private func limits(_ failures: [(String, String, Int)], signedIn: [(String, String)] = []) -> SignInLimits {
        var limits = SignInLimits()
        for (host, name) in signedIn { limits.noteSuccess(of: attempt(host, name)) }
        for (host, name, count) in failures {
            for _ in 0..<count { limits.noteFailure(of: attempt(host, name), now: second(0)) }
        }
        return limits
    }

    static let wait1 = SignInLimits.Decision.wait(milliseconds: 1000)

    @Test(
        arguments: [
            ([], "1", "user1", .check(.expected)), ([], "1", "x", .check(.stranger)),
            ([("1", "x", 3)], "1", "x", .check(.stranger)), ([("1", "x", 4)], "1", "x", wait1),
            ([("1", "x", 4)], "1", "y", wait1), ([("1", "x", 5)], "1", "y", .wait(milliseconds: 2000)),
            // Another address is not held, unless it failed itself and the name is the same.
            ([("1", "x", 9)], "2", "x", .check(.stranger)), ([("1", "x", 4), ("2", "y", 3)], "2", "x", wait1),
            ([("1", "x", 4), ("2", "y", 3)], "2", "z", .check(.stranger)),
            // Users do not wait for guesses at names that nobody has.
            ([("1", "x", 100)], "1", "user1", .check(.expected)),
            ([("1", "user1", 1)], "1", "user1", .check(.user)), ([("1", "user1", 1)], "1", "user2", .check(.user)),
            ([("1", "user1", 4)], "1", "user1", wait1), ([("1", "user1", 4)], "1", "user2", .check(.user)),
            // Guesses at a name do not hold its owner at an address that did not fail.
            ([("1", "user1", 100)], "2", "user1", .check(.expected)),
            ([("1", "user1", 100), ("2", "user1", 2)], "2", "user1", .check(.user)),
            ([("1", "user1", 1), ("2", "user2", 3), ("1", "user1", 3)], "2", "user1", wait1),
            // Many guesses at users hold the users of that address for a short time.
            ([("1", "user1", 20)], "1", "user2", .check(.user)),
            ([("1", "user1", 21)], "1", "user2", wait1), ([("1", "user1", 99)], "1", "user2", .wait(milliseconds: 30_000)),
            ([("1", "user1", 21)], "2", "user2", .check(.expected)),
        ] as [([(String, String, Int)], String, String, SignInLimits.Decision)])
    func failuresHoldWhoeverFailed(
        failures: [(String, String, Int)], host: String, name: String, decision: SignInLimits.Decision
    ) {
        #expect(limits(failures).decision(on: attempt(host, name), now: second(0)) == decision)
    }

    @Test(
        arguments: [
            ([("2", "user1", 100)], "1", "user1", .check(.expected)), ([("1", "x", 100)], "1", "user1", .check(.expected)),
            ([("1", "user2", 100)], "1", "user1", .check(.expected)), ([("1", "user1", 3)], "1", "user1", .check(.user)),
            ([("1", "user1", 4)], "1", "user1", wait1), ([("1", "user1", 100)], "1", "user2", .check(.expected)),
            ([("1", "user1", 100)], "2", "user1", .check(.expected)), ([("1", "user1", 100)], "1", "x", .check(.stranger)),
        ] as [([(String, String, Int)], String, String, SignInLimits.Decision)])
    func whoSignedInFromAnAddressHasAWayThere(
        failures: [(String, String, Int)], host: String, name: String, decision: SignInLimits.Decision
    ) {
        let limits = limits(failures, signedIn: [("1", "user1")])
        #expect(limits.decision(on: attempt(host, name), now: second(0)) == decision)
    }

    @Test func aRightPasswordTakesBackNoFailure() {
        var limits = limits([("1", "x", 5)])
        limits.noteSuccess(of: attempt("1", "user1"))
        #expect(limits.decision(on: attempt("1", "x"), now: second(0)) == .wait(milliseconds: 2000))
    }

    @Test func theHostsOfAnIPv6NetworkAreOne() {
        let limits = limits([("2001:db8:0:1::1", "x", 4)])
        #expect(limits.decision(on: attempt("2001:db8:0:1:ffff::2", "y"), now: second(0)) == Self.wait1)
        #expect(limits.decision(on: attempt("2001:db8:0:2::1", "y"), now: second(0)) == .check(.stranger))
        #expect(network("::ffff:10.0.0.1") == network("10.0.0.1") && network("10.0.0.1") != network("10.0.0.2"))
    }

    @Test(arguments: [("x", 23), ("user1", 23)]) func anAddressThatTriesEverySecondHasFewChecksInAnHour(name: String, count: Int)
    {
        var limits = SignInLimits()
        var checked = 0
        for now in 0..<Int64(3600) {
            guard case .check = limits.decision(on: attempt("1", name), now: second(now)) else { continue }
            checked += 1
            limits.noteFailure(of: attempt("1", name), now: second(now))
        }
        #expect(checked == count)
        #expect(limits.decision(on: attempt("1", name), now: second(3514 + 3600)) != Self.wait1, "an hour later nothing counts")
    }

    @Test(arguments: [1, 2, 3]) func whateverStrangersDoUsersElsewhereAreExpectedAndNoWaitIsLongerThanFiveMinutes(seed: Int) {
        var random = SeededRandom(seed)
        var limits = SignInLimits()
        var now = second(0)
        for step in 0..<20_000 {
            now += Int64(random.below(500_000_000))
            let stranger = SignInLimits.Attempt(
                from: network("10.\(random.below(4)).\(random.below(256)).\(random.below(100))"),
                as: random.below(2) == 0 ? "user\(random.below(20))" : "name\(step)", isUser: random.below(2) == 0)
            switch limits.decision(on: stranger, now: now) {
            case .wait(let milliseconds): #expect((1...300_000).contains(milliseconds))
            case .check: limits.noteFailure(of: stranger, now: now)
            }
            if step % 100 == 0 {
                let user = SignInLimits.Attempt(
                    from: network("192.0.2.\(step % 250)"), as: "user\(random.below(20))", isUser: true)
                #expect(limits.decision(on: user, now: now) == .check(.expected))
            }
        }
    }

    @Test func neitherAddressNorNameIsShown() {
        var dumped = ""
        dump(network("10.9.8.7"), to: &dumped)
        #expect(!dumped.contains("10") && "\(network("10.9.8.7"))" == "ClientNetwork(redacted)")
    }
}
