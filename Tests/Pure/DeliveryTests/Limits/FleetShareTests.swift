import Basics
import Delivery
import TestSupport
import Testing

struct FleetShareTests {
    private static let millisecond = FleetModel.millisecond
    private static let second = FleetModel.second

    /// The fleet's size at first, and what happens when: seconds, and how the number of workers changes.
    struct Story: Sendable, CustomTestStringConvertible {
        let name: String
        let size: Int
        var events: [(second: Int, Event)] = []

        var testDescription: String { "\(size) workers, \(name)" }
    }

    enum Event { case join, leave, kill }

    private static let stories: [Story] =
        [1, 2, 3, 5, 8].map { Story(name: "nothing happens", size: $0) } + [
            Story(name: "one is killed and two join", size: 4, events: [(50, .kill), (52, .join), (53, .join)]),
            Story(name: "one is killed", size: 2, events: [(50, .kill)]),
            Story(name: "two are killed, with time between", size: 8, events: [(50, .kill), (85, .kill)]),
            Story(name: "they become more", size: 1, events: [(45, .join), (55, .join), (65, .join), (75, .join)]),
            Story(name: "they become fewer", size: 8, events: [(45, .leave), (60, .leave), (75, .leave), (90, .leave)]),
            Story(name: "rolling restart", size: 4, events: [(45, .leave), (46, .join), (60, .leave), (61, .join)]),
        ]

    @Test(arguments: stories)
    func overEvery30SecondsAFleetMakesAsManyCallsAsItMay(story: Story) {
        for seed in 0..<(story.events.isEmpty ? 1 : 2) {
            var model = FleetModel(limit: 500, seed: seed)
            for _ in 0..<story.size { model.join() }
            for (second, event) in story.events {
                model.at(Int64(second) * Self.second) { model in
                    switch event {
                    case .join: model.join()
                    case .leave: model.leave()
                    case .kill: model.kill()
                    }
                }
            }
            model.run(until: 120 * Self.second, step: 4 * Self.millisecond)
            let extremes = model.extremes(over: 30 * Self.second, from: 5 * Self.second, to: 120 * Self.second)
            #expect(extremes.fewest >= 485 && extremes.most <= 505, "\(extremes)")
        }
    }

    /// Everything at once, at random: workers that stand still, a log that is slow, deaths and new ones. Never more than the whole.
    @Test(arguments: 0..<24)
    func whateverHappensAllTogetherHaveNoMoreThanTheWhole(seed: Int) {
        var model = FleetModel(limit: 1000, seed: seed)
        for _ in 0...model.random.below(5) { model.join() }
        model.conditions.delay = [5, 50, 600, 1500][seed % 4]
        model.conditions.sessionTimeout = 3000
        var mostInUse: Int64 = 0
        for _ in 0..<200 {
            disturb(&model)
            let step = Int64(1 + model.random.below(20)) * Self.millisecond
            let end = model.now + Int64(model.random.below(600)) * Self.millisecond
            model.run(until: end, step: step) { model in
                #expect(model.rateInUse <= 1_000_000)
                mostInUse = max(mostInUse, model.rateInUse)
            }
        }
        // With a log that takes longer than a lease nobody may do anything; otherwise the limit must have been reached.
        if model.conditions.delay <= 50 { #expect(mostInUse > 990_000) }
    }

    private func disturb(_ model: inout FleetModel) {
        switch model.random.below(8) {
        case 0 where model.living.count < 8: model.join()
        case 1 where model.living.count > 1: model.kill()
        case 2 where model.living.count > 1: model.leave()
        case 3, 4:
            let length = Int64([100, 900, 1100, 3000][model.random.below(4)]) * Self.millisecond
            model.living.randomElement(using: &model.random)?.stalledUntil = model.now + length
        case 5:
            let worker = model.living.randomElement(using: &model.random)
            worker?.demand = [nil, 1, 50, 400][model.random.below(4)]
        default: break
        }
    }

    /// After any of that, a quiet second or two bring everything back.
    @Test(arguments: 0..<8)
    func afterTroubleTheWholeIsInUseAgain(seed: Int) {
        var model = FleetModel(limit: 1000, seed: seed)
        for _ in 0..<3 { model.join() }
        for _ in 0..<100 {
            disturb(&model)
            model.run(until: model.now + 200 * Self.millisecond, step: 5 * Self.millisecond)
        }
        for worker in model.living { (worker.demand, worker.stalledUntil) = (nil, 0) }
        model.run(until: model.now + 20 * Self.second, step: 5 * Self.millisecond)
        #expect(model.rateInUse >= 1_000_000 - Int64(model.living.count))
        #expect(model.rateInUse <= 1_000_000)
    }

    @Test func sharesAreInProportionToPartitions() {
        var model = FleetModel(limit: 600, seed: 1)
        for _ in 0..<5 { model.join() }
        model.run(until: 10 * Self.second, step: 2 * Self.millisecond)
        // 12 partitions: two have three of them, three have two.
        #expect(model.living.map { ($0.rate.rate + 1) / 1000 }.sorted() == [100, 100, 100, 150, 150])
    }

    @Test func whatIdleOnesDoNotUseIsLentAndComesBackAtOnce() {
        var model = FleetModel(limit: 500, seed: 2)
        for _ in 0..<4 { model.join() }
        model.run(until: 5 * Self.second)
        for worker in model.living.dropFirst() { worker.demand = 10 }
        model.run(until: 10 * Self.second)
        #expect(model.living[0].rate.rate > 400_000)
        #expect(model.rateInUse <= 500_000)
        let lender = model.living[1]
        lender.demand = nil
        let before = lender.calls
        model.run(until: model.now + 200 * Self.millisecond)
        // Half of what is not lent by the other two, after some 50 ms of asking for it.
        #expect(lender.calls - before > 20)
        #expect(lender.rate.rate > 200_000)
        let extremes = model.extremes(over: Self.second, from: 8 * Self.second, to: model.now)
        #expect(extremes.most <= 500 * 1.25 + 1 && extremes.fewest > 450)
    }

    @Test func aKilledOnesShareIsUsedWithinSomewhatMoreThanASecond() {
        var model = FleetModel(limit: 500, seed: 3)
        for _ in 0..<2 { model.join() }
        model.run(until: 5 * Self.second)
        model.kill()
        model.run(until: model.now + 700 * Self.millisecond)
        #expect(model.rateInUse == 250_000)
        model.run(until: model.now + 600 * Self.millisecond)
        #expect(model.rateInUse == 500_000)
    }

    @Test func aLimitThatChangesIsKeptWhoeverLearnsOfItFirst() {
        var model = FleetModel(limit: 500, seed: 4)
        for _ in 0..<4 { model.join() }
        model.at(20 * Self.second) { $0.setLimit(1000) }
        model.at(40 * Self.second) { $0.setLimit(100) }
        model.run(until: 60 * Self.second, step: 2 * Self.millisecond)
        for (from, to, limit) in [(5, 20, 500.0), (23, 40, 1000), (43, 60, 100)] as [(Int64, Int64, Double)] {
            let extremes = model.extremes(over: 10 * Self.second, from: from * Self.second, to: to * Self.second)
            #expect(extremes.fewest >= 0.99 * limit && extremes.most <= 1.025 * limit + 0.1, "\(extremes)")
        }
    }

    @Test func withoutALogSharesGoByPartitions() {
        var rate = RateLimit(callsPerSecond: 120, member: 1, now: 0)
        rate.owns(3, now: 0)
        #expect(rate.rate == 0)
        rate.sharesByPartitions(12, now: 0)
        #expect(rate.rate == 30_000)
        rate.owns(0, now: 0)
        #expect(rate.rate == 0)
        rate.sharesByPartitions(0, now: 0)
        #expect(rate.rate == 0)
    }

    @Test func oneThatHearsNothingOfItselfHasNoShare() throws {
        var share = FleetShare(member: 1)
        share.wants(.init(weight: 3), now: 0)
        for place in 0..<100 {
            _ = share.announcement(now: .at(Int64(place) * 100 * Self.millisecond))
            #expect(share.share == 0)
        }
    }

    /// An own announcement that comes back after its lease gives nothing, and one in time gives a lease from when it was sent.
    @Test func theLeaseRunsFromSending() throws {
        var share = FleetShare(member: 1)
        share.wants(.init(weight: 3), now: 0)
        var (sent, offset) = (Int64(0), Int64(0))
        for now in stride(from: 0, to: 3 * Self.second, by: Int(50 * Self.millisecond)) {
            guard let announcement = share.announcement(now: .at(now)) else { continue }
            share.heard(announcement, offset: offset, now: .at(now + Self.millisecond))
            (sent, offset) = (now, offset + 1)
        }
        #expect(share.share == FleetShare.whole)
        // A tenth of a second is left for what has begun to be over.
        let late = share.announcement(now: .at(sent + 899 * Self.millisecond))
        #expect(share.share == FleetShare.whole)
        _ = share.announcement(now: .at(sent + 900 * Self.millisecond))
        #expect(share.share == 0)
        share.heard(try #require(late), offset: offset, now: .at(sent + 1900 * Self.millisecond))
        #expect(share.share == 0)
    }
}
