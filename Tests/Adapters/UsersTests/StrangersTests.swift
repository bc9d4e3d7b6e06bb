import Basics
import TestSupport
import Testing
import Users

/// Strangers with wrong passwords, and twenty users whose passwords are not remembered, at a model of the thread that checks passwords:
/// each check takes 50 ms of a clock that the model moves.
@Suite struct StrangersTests {
    struct Strangers: Sendable, CustomTestStringConvertible {
        let addresses: Int
        let callsPerSecond: Int
        /// The names that they guess at; nil for names that nobody has.
        var users: Int?
        /// Whether the users come from the strangers' first address.
        var shareAddress = false

        var testDescription: String {
            "\(addresses) addresses, \(callsPerSecond)/s, \(users.map { "\($0) users" } ?? "unknown names"), shared: \(shareAddress)"
        }

        func attempt(_ number: Int) -> SignInLimits.Attempt {
            let host = number % addresses
            return SignInLimits.Attempt(
                from: network("10.1.\(host / 250).\(host % 250)"),
                as: users.map { "user\(number / 7 % $0)" } ?? "stranger\(number % 64)",
                isUser: users != nil)
        }

        func user(_ number: Int) -> SignInLimits.Attempt {
            SignInLimits.Attempt(
                from: network(shareAddress ? "10.1.0.0" : "192.0.2.\(number)"), as: "user\(number)", isUser: true)
        }
    }

    /// What waits at a gateway, who has to, and a clock.
    private struct Model {
        var limits = SignInLimits()
        var turns = CheckTurns<(attempt: SignInLimits.Attempt, isRight: Bool)>()
        var milliseconds: Int64 = 0
        var checks = 0
        var signedIn: [String] = []
        var now: MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

        mutating func come(_ attempt: SignInLimits.Attempt, isRight: Bool) {
            guard case .check(let rank) = limits.decision(on: attempt, now: now) else { return }
            _ = turns.put((attempt, isRight), from: attempt.network, rank: rank)
        }

        /// Checks one; whom a failure holds meanwhile takes no time.
        mutating func check() {
            while let next = turns.take() {
                guard case .check = limits.decision(on: next.attempt, now: now) else { continue }
                checks += 1
                milliseconds += 50
                guard next.isRight else { return limits.noteFailure(of: next.attempt, now: now) }
                limits.noteSuccess(of: next.attempt)
                return signedIn.append(next.attempt.name)
            }
            milliseconds += 50
        }

        /// Lets strangers come until a time, in milliseconds.
        mutating func run(_ strangers: Strangers, until end: Int64) {
            while milliseconds < end {
                let begun = milliseconds
                check()
                let first = begun * Int64(strangers.callsPerSecond) / 1000
                let last = milliseconds * Int64(strangers.callsPerSecond) / 1000
                for number in first..<last { come(strangers.attempt(Int(number)), isRight: false) }
            }
        }
    }

    static let cases: [Strangers] = [1, 64, 5000].flatMap { addresses in
        [20, 2000].flatMap { rate in
            [
                Strangers(addresses: addresses, callsPerSecond: rate),
                Strangers(addresses: addresses, callsPerSecond: rate, shareAddress: true),
            ]
        }
    }
    /// A new address that guesses at a user is not known from a user who comes for the first time. So not all fast ones are new.
    static let guessers: [Strangers] = [
        Strangers(addresses: 1, callsPerSecond: 20, users: 20), Strangers(addresses: 1, callsPerSecond: 2000, users: 20),
        Strangers(addresses: 64, callsPerSecond: 20, users: 20), Strangers(addresses: 64, callsPerSecond: 2000, users: 20),
        Strangers(addresses: 64, callsPerSecond: 20, users: 1), Strangers(addresses: 64, callsPerSecond: 2000, users: 1),
    ]

    @Test(arguments: cases + guessers) func twentyUsersSignInWithinTwoSeconds(strangers: Strangers) {
        var model = Model()
        model.run(strangers, until: 10_000)
        #expect(model.signedIn.isEmpty && model.checks > 0)
        for number in 0..<20 { model.come(strangers.user(number), isRight: true) }
        model.run(strangers, until: model.milliseconds + 2000)
        #expect(Set(model.signedIn).count == 20)
    }

    @Test(arguments: cases) func noneIsHeldWhereStrangersAndUsersBeginTogether(strangers: Strangers) {
        var model = Model()
        for number in 0..<64 { model.come(strangers.attempt(number), isRight: false) }
        for number in 0..<20 { model.come(strangers.user(number), isRight: true) }
        model.run(strangers, until: 2000)
        #expect(Set(model.signedIn).count == 20)
    }

    @Test(arguments: [1, 64]) func guessingIsSlowed(addresses: Int) {
        var model = Model()
        model.run(Strangers(addresses: addresses, callsPerSecond: 20), until: 3_600_000)
        #expect((4...23 * addresses).contains(model.checks), "72,000 would fit in")
    }

    /// Who shares the address with guessers at users' names cannot be told from them by anything but the password, or by having been
    /// there before.
    @Test func whoSharesAddressAndNamesWithGuessersIsHeldUnlessTheySignedInThereBefore() {
        let strangers = Strangers(addresses: 1, callsPerSecond: 20, users: 19, shareAddress: true)
        var model = Model()
        model.come(strangers.user(19), isRight: true)
        model.run(strangers, until: 600_000)
        #expect(model.signedIn == ["user19"])
        for number in 0..<20 { model.come(strangers.user(number), isRight: true) }
        model.run(strangers, until: model.milliseconds + 2000)
        #expect(model.signedIn.contains("user19") && model.signedIn.count { $0 == "user19" } == 2)
        #expect(Set(model.signedIn).count < 20)
    }
}
