import Basics
import TestSupport
import Testing

@testable import CurlHTTP

@Suite struct PeerHabitsTests {
    // MARK: One habit

    @Test func threeClosesInARowThatAgreeMakeALimit() {
        var habit = Habit(margin: 0)
        for _ in 0..<2 { habit.closed(at: 50) }
        #expect(habit.limit == .max)
        habit.closed(at: 50)
        #expect(habit.limit == 50)
    }

    private static let closes: [(closes: [Int64], limit: Int64?)] = [
        ([1, 1, 1], 1), ([2, 2, 2], 2), ([2, 3, 2, 2], nil), ([2, 3, 2, 2, 2], 2), ([10, 12, 11], 10), ([12, 10, 12], 10),
        ([10, 13, 13], nil),
        ([10, 10, 90, 10], nil),
    ]

    @Test(arguments: closes)
    func measuresAgreeWithinAQuarter(_ closes: [Int64], _ limit: Int64?) {
        var habit = Habit(margin: 0)
        for close in closes { habit.closed(at: close) }
        #expect(habit.limit == limit ?? .max)
    }

    @Test func aMarginLeavesTimeForTheCloseOnItsWay() {
        var habit = Habit(margin: 4)
        for _ in 0..<3 { habit.closed(at: 4_000) }
        #expect(habit.limit == 3_000)
        #expect(habit.allows(2_999) && !habit.allows(3_000))
    }

    @Test func trialsGrowRareWhileTheLimitIsConfirmed() {
        var habit = Habit(margin: 0)
        for _ in 0..<3 { habit.closed(at: 2) }
        var gaps: [Int] = []
        for _ in 0..<5 {
            var retired = 0
            while !habit.allows(2) { retired += 1 }
            gaps.append(retired)
            habit.closed(at: 2)
        }
        #expect(gaps == [8, 16, 32, 64, 128])
    }

    @Test func aTrialThatLastsEndsTheHabit() {
        var habit = Habit(margin: 0)
        for _ in 0..<3 { habit.closed(at: 2) }
        while !habit.allows(2) {}
        habit.survived(3)
        #expect(habit.limit == .max)
    }

    /// A peer that restarts closes all its connections at once, and many of those alike. That is one event, not a habit confirmed 60 times.
    @Test func aRestartIsForgottenAfterTheFirstTrial() {
        var habit = Habit(margin: 0)
        for _ in 0..<64 { habit.closed(at: 3) }
        #expect(habit.limit == 3)
        var retired = 0
        while !habit.allows(3) { retired += 1 }
        #expect(retired == 8)
        habit.survived(4)
        #expect(habit.limit == .max)
    }

    @Test func aPeerThatChangesItsLimitIsFollowed() {
        var habit = Habit(margin: 0)
        for _ in 0..<3 { habit.closed(at: 100) }
        for _ in 0..<3 { habit.closed(at: 10) }
        #expect(habit.limit == 10)
    }

    // MARK: Whose habit a close shows

    @Test func aCloseWithinATenthOfASecondIsOfTheAnswersAndALaterOneOfTheTime() {
        var habits = PeerHabits()
        for idle: Int64 in [0, 1_000_000, 99_999_999] { habits.learn(closedAfter: 7, idleFor: idle) }
        #expect(habits.answers.limit == 7 && habits.idleTime.limit == .max)
        for idle: Int64 in [5_100_000_000, 5_000_000_000, 5_200_000_000] { habits.learn(closedAfter: 7, idleFor: idle) }
        #expect(habits.idleTime.limit == 3_750_000_000)
    }

    @Test func aConnectionWithoutAnAnswerShowsNothing() {
        var habits = PeerHabits()
        for _ in 0..<5 { habits.learn(closedAfter: 0, idleFor: 0) }
        #expect(habits.answers.limit == .max)
    }

    // MARK: Keep-Alive

    private static let promises: [(value: String, timeout: Int64?, max: Int64?)] = [
        ("timeout=5, max=100", 5, 100), ("timeout=5", 5, nil), ("max=0", nil, 0), ("TimeOut = 5 ,MAX=7", 5, 7),
        ("timeout=\"5\"", 5, nil),
        ("", nil, nil), ("timeout", nil, nil), ("timeout=", nil, nil), ("timeout=x", nil, nil), ("timeout=5x", nil, nil),
        ("xtimeout=5", nil, nil), ("xxxtimeout=5", nil, nil), ("timeout=-1", nil, nil),
        ("timeout=99999999999999999999", 86_400, nil),
        ("parameter=3, timeout=60", 60, nil), ("timeout=5, timeout=", 5, nil),
    ]

    @Test(arguments: promises)
    func aPromiseIsRead(_ value: String, _ timeout: Int64?, _ max: Int64?) {
        // A part of an answer begins anywhere.
        let promise = KeepAlivePromise(Array("ab\(value)cd".utf8).dropFirst(2).dropLast(2))
        #expect(promise.timeout == timeout)
        #expect(promise.max == max)
    }

    @Test func threeQuartersOfThePromisedTimeAreUsed() {
        #expect(KeepAlivePromise(Array("timeout=4".utf8)[...]).idleNanoseconds == 3_000_000_000)
        #expect(KeepAlivePromise([]).idleNanoseconds == .max)
    }

    // MARK: Simulations

    /// A close after so many answers that always meets a request on its way: without habits one in `limit` + 1 requests is ambiguous.
    @Test(arguments: [1, 2, 10, 50, 100], [1, 64]) func aLimitOfAnswersCostsAHandful(_ limit: Int, _ connections: Int) {
        var simulation = Simulation(connections: connections, seed: limit) { _ in limit }
        let run = simulation.run(requests: 20_000, usesHabits: true)
        // The first closes of all connections may be on their way at once; then come trials, each after twice as many connections.
        #expect(run.ambiguous <= connections + 3 + 12, "\(run)")
        #expect(run.opened <= 20_000 / limit + connections + 20, "\(run)")
    }

    @Test(arguments: [2, 10, 50, 100], [1, 64]) func aLimitWithSomeChanceInItCostsLess(_ limit: Int, _ connections: Int) {
        let jittered: (inout SeededRandom) -> Int = { limit + $0.below(max(1, limit / 5)) }
        var with = Simulation(connections: connections, seed: limit, lifetime: jittered)
        var without = Simulation(connections: connections, seed: limit, lifetime: jittered)
        let (learned, today) = (with.run(requests: 20_000, usesHabits: true), without.run(requests: 20_000, usesHabits: false))
        #expect(learned.ambiguous <= today.ambiguous / 2, "\(learned) \(today)")
    }

    /// Closes by chance teach nothing: as many are ambiguous as without habits, and not many more connections are opened.
    @Test(arguments: [5, 20, 100], [1, 64]) func closesByChanceCostNoMoreThanWithoutHabits(_ mean: Int, _ connections: Int) {
        let byChance: (inout SeededRandom) -> Int = { random in
            var answers = 1
            while random.below(mean) != 0 { answers += 1 }
            return answers
        }
        var (with, without) = (Simulation.Run(), Simulation.Run())
        for seed in 0..<10 {
            var one = Simulation(connections: connections, seed: seed, lifetime: byChance)
            var other = Simulation(connections: connections, seed: seed, lifetime: byChance)
            with += one.run(requests: 20_000, usesHabits: true)
            without += other.run(requests: 20_000, usesHabits: false)
        }
        #expect(with.ambiguous <= without.ambiguous + without.ambiguous / 50, "\(with) \(without)")
        #expect(with.opened <= without.opened + without.opened / 3, "\(with) \(without)")
    }

    /// One restart, early in the life of all connections.
    @Test func aRestartDoesNotMeanShortLivesForever() {
        var closes = 64
        var simulation = Simulation(connections: 64, seed: 1) { _ in
            closes -= 1
            return closes >= 0 ? 3 : .max
        }
        let run = simulation.run(requests: 20_000, usesHabits: true)
        #expect(run.ambiguous <= 64)
        #expect(run.opened <= 64 * 4, "\(run)")
    }
}

/// A pool of connections whose peer closes each after so many answers, always with the next request on its way.
private struct Simulation {
    struct Run: CustomStringConvertible {
        var ambiguous = 0
        var opened = 0

        var description: String { "\(ambiguous) ambiguous, \(opened) opened" }

        static func += (left: inout Run, right: Run) {
            left.ambiguous += right.ambiguous
            left.opened += right.opened
        }
    }

    private struct Line {
        var answers = 0
        var lifetime: Int
        var isTrial = false
    }

    private let connections: Int
    private let lifetime: (inout SeededRandom) -> Int
    private var random: SeededRandom
    private var habits = PeerHabits()

    init(connections: Int, seed: Int, lifetime: @escaping (inout SeededRandom) -> Int) {
        (self.connections, self.lifetime, random) = (connections, lifetime, SeededRandom(seed))
    }

    mutating func run(requests: Int, usesHabits: Bool) -> Run {
        var run = Run()
        var lines: [Line] = []
        for _ in 0..<requests {
            let place = random.below(connections)
            if place >= lines.count {
                run.opened += 1
                lines.append(Line(lifetime: lifetime(&random)))
            }
            let index = min(place, lines.count - 1)
            if lines[index].answers >= lines[index].lifetime {
                habits.learn(closedAfter: lines[index].answers, idleFor: 0)
                run.ambiguous += 1
                lines.remove(at: index)
                continue
            }
            lines[index].answers += 1
            habits.learn(answered: lines[index].answers, afterIdle: 0)
            if usesHabits, !lines[index].isTrial, Int64(lines[index].answers) >= habits.answers.limit {
                if habits.allows(answers: lines[index].answers) { lines[index].isTrial = true } else { lines.remove(at: index) }
            }
        }
        return run
    }
}
