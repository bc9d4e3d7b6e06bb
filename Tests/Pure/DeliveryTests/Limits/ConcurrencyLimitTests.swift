import Basics
import Delivery
import TestSupport
import Testing

struct ConcurrencyLimitTests {
    private typealias Model = ConcurrencyModel
    private static let second = Model.second
    private static let millisecond = Model.millisecond

    /// Places of the hub, what a call takes, and how that varies.
    private static let knees: [(places: Int, work: Int64, jitter: ConcurrencyModel.Jitter)] = [
        (4, 50, .none), (12, 50, .none), (40, 50, .none), (150, 50, .none), (12, 200, .none), (40, 20, .none), (12, 50, .even),
        (40, 50, .even), (40, 50, .wild), (12, 100, .wild),
    ]

    @Test(arguments: knees)
    func itSettlesNearTheKneeWithinAMinute(places: Int, work: Int64, jitter: ConcurrencyModel.Jitter) {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 512), seed: seed)
            let hub = Model.Hub(places: places, work: work * Self.millisecond, jitter: jitter)
            model.run(until: 120 * Self.second) { _ in hub }
            let mean = model.meanLimit(from: 60 * Self.second)
            // What is borne is half as long again and 10 ms.
            let most = (1.5 + 10 / Double(work)) * Double(places) * 1.25 + 2
            #expect(mean >= 0.8 * Double(places) && mean <= most, "\(mean) of \(places)")
            let capacity = Double(places) * 1000 / Double(work)
            #expect(model.throughput(from: 60 * Self.second, to: 120 * Self.second) > 0.85 * capacity)
            #expect(model.lostCount == 0)
        }
    }

    @Test(arguments: [Model.Jitter.none, .even, .wild])
    func aHubWithoutAKneeGetsAllThatIsAllowed(jitter: ConcurrencyModel.Jitter) {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 64), seed: seed)
            model.run(until: 60 * Self.second) { _ in Model.Hub(places: 100_000, work: 50 * Self.millisecond, jitter: jitter) }
            // A round at half the limit now and then is all that is missing.
            #expect(model.meanLimit(from: 10 * Self.second) > 0.9 * 64)
        }
    }

    /// A default worker, whatever a call takes up to 150 ms: no noticeable time with fewer calls than it may make.
    @Test(arguments: [1, 5, 20, 50, 150] as [Int64], [ConcurrencyModel.Jitter.none, .even])
    func aHubWithoutAKneeGetsAllThatIsAllowedWithinASecond(work: Int64, jitter: ConcurrencyModel.Jitter) {
        for seed in 0..<4 {
            var model = Model(ConcurrencyLimit(most: 64), seed: seed)
            model.run(until: 10 * Self.second) { _ in
                Model.Hub(places: 100_000, work: work * Self.millisecond, jitter: jitter)
            }
            #expect(model.limits.filter { $0.at >= Self.second }.allSatisfy { $0.limit == 64 })
            let full = 64 * 1000 / Double(work)
            #expect(model.throughput(from: Self.second, to: 10 * Self.second) > 0.97 * full)
        }
    }

    /// Some calls are lost by chance: not the fault of too many at once.
    @Test func aFewLostCallsDoNotShrinkIt() {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 64), seed: seed)
            model.run(until: 60 * Self.second) { _ in
                Model.Hub(places: 100_000, work: 50 * Self.millisecond, jitter: .even, lossEvery: 50)
            }
            #expect(model.meanLimit(from: 10 * Self.second) > 0.8 * 64)
        }
    }

    @Test func aHubThatRefusesFromSomePointOnIsKeptBelowIt() {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 256), seed: seed)
            model.run(until: 120 * Self.second) { _ in
                Model.Hub(places: 100_000, work: 50 * Self.millisecond, jitter: .even, refusesFrom: 40)
            }
            let mean = model.meanLimit(from: 60 * Self.second)
            #expect(mean > 20 && mean < 48, "\(mean)")
            #expect(Double(model.lostCount) < 0.1 * Double(model.answers.count))
        }
    }

    /// The trap of limits that look at latency alone (Netflix/concurrency-limits 137).
    @Test(arguments: [1, 10, 30] as [Int64])
    func whenEveryCallTimesOutAlikeItNeverClimbs(timeout: Int64) {
        var model = Model(ConcurrencyLimit(most: 512), seed: 1, timeout: timeout * Self.second)
        model.run(until: 20 * timeout * Self.second) { _ in Model.Hub(places: 1, work: 1, isOut: true) }
        for (before, after) in zip(model.limits, model.limits.dropFirst()) { #expect(after.limit <= before.limit) }
        #expect(model.limit.limit == 1)
        #expect(model.lostCount < 100)
    }

    /// Even after a good time, and whatever that taught.
    @Test func anOutageShrinksItAndItComesBackStepByStep() {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 64), seed: seed, timeout: 2 * Self.second)
            let outage = 30 * Self.second..<60 * Self.second
            model.run(until: 120 * Self.second) { now in
                Model.Hub(places: 1000, work: 50 * Self.millisecond, jitter: .even, isOut: outage.contains(now))
            }
            let atEnd = model.limits.last { $0.at < outage.upperBound }?.limit ?? 0
            #expect(atEnd <= 2)
            // No storm: it doubles at most, and not before eight calls were answered.
            let after = model.limits.filter { $0.at >= outage.upperBound }
            #expect(after.allSatisfy { $0.at > outage.upperBound + 300 * Self.millisecond || $0.limit <= 2 })
            #expect(zip(after, after.dropFirst()).allSatisfy { $1.limit <= 2 * $0.limit })
            #expect(model.meanLimit(from: 90 * Self.second) > 0.8 * 64)
        }
    }

    /// The hub gets slower for good, whatever is under way: nothing is gained by fewer calls.
    @Test func aHubThatIsSlowerForGoodIsLearntAnew() {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 64), seed: seed)
            model.run(until: 240 * Self.second) { now in
                Model.Hub(places: 1000, work: (now < 40 * Self.second ? 30 : 150) * Self.millisecond, jitter: .even)
            }
            #expect(model.meanLimit(from: 180 * Self.second) > 0.8 * 64, "\(model.meanLimit(from: 180 * Self.second))")
        }
    }

    @Test func aHubThatBearsLessFromNowOnIsFollowed() {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: 256), seed: seed)
            model.run(until: 120 * Self.second) { now in
                Model.Hub(places: now < 60 * Self.second ? 100 : 10, work: 50 * Self.millisecond, jitter: .even)
            }
            let before = model.limits.filter { $0.at > 40 * Self.second && $0.at < 60 * Self.second }
            #expect(before.contains { $0.limit > 80 })
            let mean = model.meanLimit(from: 90 * Self.second)
            #expect(mean > 7 && mean < 25, "\(mean)")
        }
    }

    /// A pause of our own makes every call under way look slow, once.
    @Test func onePauseShrinksNothing() throws {
        var limit = ConcurrencyLimit(most: 64)
        var now: Int64 = 0
        for place in 0..<400 {
            try #require(limit.limit > 0)
            let starts = (0..<limit.limit).map { _ in now }
            for count in 1...starts.count { limit.started(inFlight: count) }
            now += (place == 200 ? 2000 : 50) * Self.millisecond
            for start in starts { limit.noteEnd(startedAt: .at(start), now: .at(now), isLost: false) }
            if place > 20 { #expect(limit.limit >= 32) }
        }
        #expect(limit.limit == 64)
    }

    @Test func withoutNeedItNeitherGrowsNorShrinks() {
        var model = Model(ConcurrencyLimit(most: 64), seed: 1)
        model.run(until: 60 * Self.second, demand: 5) { _ in Model.Hub(places: 1000, work: 50 * Self.millisecond) }
        #expect(model.limits.allSatisfy { $0.limit == ConcurrencyLimit.start })
    }

    /// The limit after each of `count` rounds of 50 ms in which all places are taken. `isLost` is asked for each call, with its place among
    /// those in flight and its number.
    private func limitsOfRounds(_ count: Int, isLost: (_ place: Int, _ number: Int) -> Bool) -> [Int] {
        var limit = ConcurrencyLimit(most: 64)
        var (now, number, limits) = (Int64(0), 0, [Int]())
        for _ in 0..<count {
            let (start, inFlight) = (now, limit.limit)
            for place in 1...inFlight { limit.started(inFlight: place) }
            now += 50 * Self.millisecond
            for place in 0..<inFlight {
                number += 1
                limit.noteEnd(startedAt: .at(start), now: .at(now), isLost: isLost(place, number))
            }
            limits.append(limit.limit)
        }
        return limits
    }

    /// Every fifth call is lost, however few there are: a test at the floor, back to 16, and on to the most.
    @Test func lossThatIsNoLessAtTheFloorBringsTheLimitBack() throws {
        let limits = limitsOfRounds(200) { _, number in number % 5 == 0 }
        let test = try #require(limits.firstIndex(of: ConcurrencyLimit.floor))
        let end = try #require(limits[test...].firstIndex { $0 != ConcurrencyLimit.floor })
        #expect(end - test <= 25 && limits[end] == ConcurrencyLimit.start, "\(limits)")
        #expect(limits.last == 64 && limits[(end + 20)...].allSatisfy { $0 == 64 }, "\(limits)")
    }

    /// Calls beyond the twentieth are lost: a test at the floor loses none, so the limit stays near 20, and the next test is far.
    @Test func lossThatIsLessAtTheFloorShrinksTheLimit() throws {
        let limits = limitsOfRounds(300) { place, _ in place >= 20 }
        let test = try #require(limits.firstIndex(of: ConcurrencyLimit.floor))
        let end = try #require(limits[test...].firstIndex { $0 != ConcurrencyLimit.floor })
        #expect(limits[end...].allSatisfy { $0 >= 14 && $0 <= 24 }, "\(limits)")
    }

    @Test(arguments: [-1, 0, 1, 3, 64, 4096])
    func itStaysBetweenOneAndTheMost(most: Int) {
        for seed in 0..<2 {
            var model = Model(ConcurrencyLimit(most: most), seed: seed, timeout: Self.second)
            model.run(until: 30 * Self.second) { now in
                Model.Hub(
                    places: 50, work: 20 * Self.millisecond, jitter: .wild, isOut: now / Self.second % 7 == 3, lossEvery: 30)
            }
            #expect(model.limits.allSatisfy { $0.limit >= 1 && $0.limit <= max(1, most) })
        }
    }

    @Test func aLimitThatIsNotAdaptiveStays() {
        var model = Model(ConcurrencyLimit(most: 48, isAdaptive: false), seed: 1, timeout: Self.second)
        model.run(until: 10 * Self.second) { _ in Model.Hub(places: 1, work: 1, isOut: true) }
        #expect(model.limits.allSatisfy { $0.limit == 48 })
    }
}
