import Basics
import Delivery
import TestSupport
import Testing

struct OrderLimitsTests {
    private static let second: Int64 = 1_000_000_000
    private static let millisecond: Int64 = 1_000_000

    private static func line(_ orders: String..., hub: Int = 0, lane: Int = 0) -> LimitedLine {
        LimitedLine(hub: hub, lane: lane, orders: orders)
    }

    /// A worker that has all the partitions, and its limits.
    private static func limits(_ rates: [String: Int], owned: Int = 1, of all: Int = 1) -> OrderLimits<Int> {
        var limits = OrderLimits<Int>()
        limits.set(rates, owned: owned, of: all, now: 0)
        return limits
    }

    /// The calls that a round takes.
    private static func round(
        _ limits: inout OrderLimits<Int>, at now: Int64, isWanted: (Int) -> Bool = { _ in true },
        mayStart: (LimitedLine) -> Bool = { _ in true }
    ) -> [Int] {
        guard limits.beginRound(now: .at(now)) else { return [] }
        var calls: [Int] = []
        while let call = limits.takeNext(now: .at(now), isWanted: isWanted, mayStart: mayStart) { calls.append(call) }
        return calls
    }

    @Test func theCallsThatWaitAreCountedByTheirOrdersAndHubs() {
        var limits = Self.limits(["a": 1, "b": 1, "c": 1])
        limits.append(1, to: Self.line("a", "b"))
        limits.append(2, to: Self.line("b", hub: 2))
        #expect(limits.waitingCounts == ["a": 1, "b": 2])
        #expect([0, 1, 2].map { limits.delays(hub: $0) } == [true, false, true])
        _ = limits.removeAll()
        #expect(limits.waitingCounts.isEmpty && !limits.delays(hub: 0))
    }

    /// The limits by their ids, the orders that concern a call, and how many of such calls begin at once after 2 s.
    @Test(
        arguments: [
            (["a": 40], ["a"], 10),
            (["a": 40, "b": 8], ["a", "b"], 2),
            (["a": 40, "b": 8], ["b"], 2),
            (["a": 1], ["a"], 1),
            (["a": 40], ["a", "gone"], 10),
        ] as [([String: Int], [String], Int)])
    func aCallTakesATokenOfEachOrderThatConcernsIt(rates: [String: Int], orders: [String], count: Int) {
        var limits = Self.limits(rates)
        let line = LimitedLine(hub: 0, lane: 0, orders: orders)
        let atOnce = limits.begins(line, now: 0)
        #expect(!atOnce, "a limit begins without a token")
        var begun = 0
        while begun < 100, limits.begins(line, now: .at(2 * Self.second)) { begun += 1 }
        #expect(begun == count)
    }

    @Test func aCallThatWaitsForOneOrderTakesNoTokenOfAnother() {
        var limits = Self.limits(["slow": 1, "fast": 4])
        let first = limits.begins(Self.line("slow"), now: .at(Self.second))
        let both = limits.begins(Self.line("slow", "fast"), now: .at(Self.second))
        let fast = limits.begins(Self.line("fast"), now: .at(Self.second))
        #expect(first && !both && fast)
    }

    /// This worker's partitions, all, the limit, and the calls of 100 s.
    @Test(
        arguments: [
            (12, 12, 10, 1000), (3, 12, 10, 250), (1, 400, 10, 2), (5, 400, 100, 125), (0, 12, 10, 0), (3, 0, 10, 0),
            (13, 12, 10, 1000),
        ])
    func aWorkersPartIsThatOfThePartitionsItOwns(owned: Int, all: Int, rate: Int, count: Int) {
        var limits = Self.limits(["a": rate], owned: owned, of: all)
        for call in 0..<2000 { limits.append(call, to: Self.line("a")) }
        var begun: [Int] = []
        for step in 1...10_000 { begun += Self.round(&limits, at: Int64(step) * 10 * Self.millisecond) }
        #expect(begun == Array(0..<count), "in their order")
    }

    /// Workers whose partitions change hands, with more calls than may begin.
    @Test(arguments: 0..<10)
    func allWorkersTogetherBeginNoMoreThanTheLimitAndABurst(seed: Int) {
        var random = SeededRandom(seed)
        let (rate, partitions) = (20 + random.below(200), 12)
        var workers = (0..<4).map { _ in OrderLimits<Int>() }
        var starts: [Int64] = []
        for step in 0..<8000 {
            let now = Int64(step) * Self.millisecond
            if step % 2000 == 0 {
                let cuts = (0..<3).map { _ in random.below(partitions + 1) }.sorted()
                for (index, owned) in zip([0] + cuts, cuts + [partitions]).map({ $1 - $0 }).enumerated() {
                    workers[index].set(["a": rate], owned: owned, of: partitions, now: .at(now))
                }
            }
            for index in workers.indices {
                let line = Self.line("a", hub: random.below(2))
                if limitsBegin(&workers[index], line, at: now) {
                    starts.append(now)
                } else if workers[index].hasRoom(in: line, wasDeferred: random.below(2) == 0) {
                    workers[index].append(step, to: line)
                }
                starts += Self.round(&workers[index], at: now).map { _ in now }
            }
        }
        var first = 0
        for last in starts.indices {
            while starts[last] - starts[first] >= Self.second { first += 1 }
            // A burst is a quarter of a second's, and one call at least at each worker.
            guard last - first + 1 > rate + rate / 4 + workers.count else { continue }
            Issue.record("\(last - first + 1) calls within a second of a limit of \(rate)")
            break
        }
        #expect(starts.count > rate * 7, "they use it")
    }

    private func limitsBegin(_ limits: inout OrderLimits<Int>, _ line: LimitedLine, at now: Int64) -> Bool {
        limits.begins(line, now: .at(now))
    }

    /// Two limits, and lines of calls that one of them concerns, or both, each always with more calls.
    @Test(arguments: [(1, 1), (4, 1), (3, 7), (50, 2), (100, 90)])
    func noLineStarvesAmongOthersThatShareItsLimits(first: Int, other: Int) {
        var limits = Self.limits(["a": first, "b": other])
        let lines = [Self.line("a"), Self.line("b"), Self.line("a", "b")]
        for (number, line) in lines.enumerated() { for _ in 0..<3 { limits.append(number, to: line) } }
        var counts = [0, 0, 0]
        for step in 1...60_000 {
            for number in Self.round(&limits, at: Int64(step) * Self.millisecond) {
                counts[number] += 1
                limits.append(number, to: lines[number])
            }
        }
        let total = 60 * min(first, other)
        #expect(counts.allSatisfy { $0 >= total / 6 }, "\(counts)")
        #expect(
            counts[0] + counts[2] <= 60 * first + max(1, first / 4) && counts[1] + counts[2] <= 60 * other + max(1, other / 4))
        // What is set aside for those that need both costs the others no more than they take.
        #expect(counts[0] + 3 * counts[2] >= 60 * first - 2 && counts[1] + 3 * counts[2] >= 60 * other - 2, "\(counts)")
    }

    @Test func aHubThatTakesNoCallKeepsItsOwnLineAlone() {
        var limits = Self.limits(["a": 1])
        limits.append(1, to: Self.line("a", hub: 1))
        limits.append(2, to: Self.line("a", hub: 2))
        limits.append(3, to: Self.line("a", hub: 2))
        func round(at seconds: Int64, without hub: Int? = nil) -> [Int] {
            Self.round(&limits, at: seconds * Self.second, mayStart: { $0.hub != hub })
        }
        #expect(round(at: 1, without: 1) == [2])
        #expect(round(at: 2, without: 1) == [3])
        #expect(round(at: 3, without: 1) == [])
        #expect(round(at: 4) == [1], "its token was not taken before")
        #expect(limits.waitingCount == 0)
    }

    @Test func theNextMomentIsThatOfTheNextToken() {
        var limits = Self.limits(["a": 4, "b": 1])
        #expect(Self.round(&limits, at: 0) == [] && limits.nextDue == .never, "nothing waits")
        limits.append(1, to: Self.line("a", "b"))
        limits.append(2, to: Self.line("a"))
        limits.append(3, to: Self.line("a"))
        #expect(limits.nextDue <= 0, "who comes to wait is looked at")
        #expect(Self.round(&limits, at: 0) == [] && limits.nextDue == .at(Self.second / 4))
        #expect(Self.round(&limits, at: Self.second / 4) == [2] && limits.nextDue == .at(Self.second / 2))
        #expect(Self.round(&limits, at: Self.second / 2 - 1) == [])
        #expect(Self.round(&limits, at: Self.second / 2) == [3] && limits.nextDue == .at(Self.second))
        #expect(Self.round(&limits, at: Self.second) == [1] && limits.nextDue == .never)
    }

    @Test func whoComesLaterWaitsBehindThoseThatWait() {
        var limits = Self.limits(["a": 1, "b": 100])
        limits.append(1, to: Self.line("a"))
        let overtakes = limits.begins(Self.line("a", "b"), now: .at(2 * Self.second))
        let passes = limits.begins(Self.line("b"), now: .at(2 * Self.second))
        #expect(!overtakes && passes, "only those of its own limits wait")
        #expect(Self.round(&limits, at: 2 * Self.second) == [1])
    }

    @Test func whatIsNotWantedAnyMoreTakesNoTokenAndNoRoom() {
        var limits = Self.limits(["a": 1])
        for call in 1...5 { limits.append(call, to: Self.line("a")) }
        #expect(Self.round(&limits, at: Self.second) { $0 > 2 } == [3])
        #expect(limits.waitingCount == 2)
        limits.removeAll { $0 == 5 }
        #expect(limits.waitingCount == 1)
        #expect(Self.round(&limits, at: 2 * Self.second) == [5])
        limits.append(6, to: Self.line("a"))
        limits.removeAll { _ in false }
        let begins = limits.begins(Self.line("a"), now: .at(4 * Self.second))
        #expect(begins, "none waits before it")
    }

    @Test func changedLimitsKeepTheirTokensAndGiveBackWhatWaits() {
        var limits = Self.limits(["a": 1, "b": 1])
        limits.append(1, to: Self.line("a"))
        limits.append(2, to: Self.line("b"))
        limits.append(3, to: Self.line("a"))
        #expect(limits.removeAll() == [1, 2, 3] && limits.waitingCount == 0)
        limits.set(["a": 2], owned: 1, of: 1, now: .at(Self.second))
        #expect(limits.contains("a") && !limits.contains("b") && !limits.isEmpty)
        let (kept, second) = (
            limits.begins(Self.line("a"), now: .at(Self.second)), limits.begins(Self.line("a"), now: .at(Self.second))
        )
        #expect(kept && !second)
        limits.set([:], owned: 1, of: 1, now: .at(Self.second))
        let free = limits.begins(Self.line("a"), now: .at(Self.second))
        #expect(limits.isEmpty && free, "an order that has ended limits nothing")
    }

    /// The limit, and the most calls of a line: of new requests, and with those that were deferred.
    @Test(arguments: [(1, 5, 10), (10, 50, 100), (1000, 512, 1024), (1_000_000, 512, 1024)])
    func aLineIsShortAndHasRoomForThoseThatWereDeferred(rate: Int, new: Int, most: Int) {
        var limits = Self.limits(["a": rate, "fast": 1_000_000])
        let line = Self.line("a", "fast")
        for call in 0..<most {
            #expect(limits.hasRoom(in: line, wasDeferred: false) == (call < new))
            #expect(limits.hasRoom(in: line, wasDeferred: true))
            limits.append(call, to: line)
        }
        #expect(!limits.hasRoom(in: line, wasDeferred: true))
        #expect(limits.hasRoom(in: Self.line("a", hub: 1), wasDeferred: false), "another hub has its own")
    }

    @Test func oneCallMayAlwaysWait() {
        var limits = Self.limits(["a": 1], owned: 1, of: 400)
        #expect(limits.hasRoom(in: Self.line("a"), wasDeferred: false))
        limits.append(1, to: Self.line("a"))
        #expect(!limits.hasRoom(in: Self.line("a"), wasDeferred: true))
    }

    @Test func deferredRequestsComeBackAtTheRateOfTheirLimit() {
        var limits = Self.limits(["a": 2, "b": 1])
        func deferral(_ orders: String..., count: Int = 1, at now: Int64 = 0) -> Int64 {
            limits.deferral(in: LimitedLine(hub: 0, lane: 0, orders: orders), of: count, now: .at(now))
        }
        let first = DelayPolicy.shortestStay
        #expect([deferral("a"), deferral("a", count: 3), deferral("a")] == [first, first + 500, first + 2000])
        #expect(deferral("b") == first, "another limit has moments of its own")
        #expect(deferral("a", "b") == first + 2500, "the latest of its limits counts")
        #expect(deferral("b") == first + 2000)
        #expect(deferral("a", at: 100 * Self.second) == first, "what was deferred has come back")
        limits.set(["a": 1], owned: 1, of: 1, now: 0)
        #expect(deferral("a") == first, "other orders are a new beginning")
        limits.set(["a": 1], owned: 0, of: 1, now: 0)
        #expect(deferral("a") == first)
        #expect(deferral("a") > 86_400_000, "of nothing there is no end")
    }

    /// The time that a request would have waited where it was, and that it waits now behind 10 s of others.
    @Test(
        arguments: [(nil, 10_000), (20_000, 9500), (20_500, 10_000), (90_000_000, 10_000), (0, 10_000), (-5, 10_000)]
            as [(Int64?, Int64)])
    func aRequestThatWasExaminedBeforeItsTimeKeepsItsPlace(former: Int64?, wait: Int64) {
        var limits = Self.limits(["a": 1])
        let line = Self.line("a")
        for _ in 0..<10 { _ = limits.deferral(in: line, of: 1, now: 0) }
        let found = limits.deferral(in: line, of: 1, former: former, now: 0)
        #expect(found == DelayPolicy.shortestStay + wait)
        // Who keeps a place takes none of another's.
        let next = limits.deferral(in: line, of: 1, now: 0)
        #expect(next == DelayPolicy.shortestStay + (found == former ? 10_000 : 11_000))
    }
}
