import Delivery
import Testing

/// A hub that fails in part: loss by chance, by load, calls that hang, slowness, outages and throttling, in simulated time.
struct FailingHubTests {
    private typealias Model = FailingHubModel
    private static let second = Model.second
    private static let offered = 150.0

    /// Seven tenths of what can succeed, of 150 requests a second at three workers. At 200 ms a worker needs ten places for its part.
    @Test(arguments: [1, 5, 10, 20, 40], [1, 2])
    func lossByChanceCostsWhatIsLostAndLittleMore(percent: Int, seed: Int) {
        let share = Double(percent) / 100
        for work: Int64 in [50, 200] {
            var model = Model(seed: seed)
            model.run(until: 60 * Self.second) { _ in Model.Hub(work: work * Model.millisecond, lost: share) }
            let goodput = model.goodput(from: 10 * Self.second, to: 60 * Self.second)
            #expect(goodput >= 0.7 * (1 - share) * Self.offered, "\(goodput) a second at \(work) ms\(model.trace)")
        }
    }

    /// Ten and more places at each worker, although one call of ten or five is lost.
    @Test(arguments: [10, 20], [1, 2])
    func lossByChanceIsNoReasonForFewPlaces(percent: Int, seed: Int) {
        var model = Model(seed: seed)
        model.offered = 600
        let share = Double(percent) / 100
        model.run(until: 60 * Self.second) { _ in Model.Hub(lost: share) }
        let goodput = model.goodput(from: 10 * Self.second, to: 60 * Self.second)
        #expect(goodput >= 0.7 * (1 - share) * 600, "\(goodput) a second\(model.trace)")
    }

    @Test(arguments: [50, 200] as [Int64], [1, 2])
    func halfOfTheRequestsEndSoonWhereATenthIsLost(work: Int64, seed: Int) {
        var model = Model(seed: seed)
        model.longestQueue = .max
        model.run(until: 60 * Self.second) { _ in Model.Hub(work: work * Model.millisecond, lost: 0.1) }
        #expect(model.medianDuration <= 3 * Self.second, "\(model.medianDuration) ns\(model.trace)")
    }

    /// Half a minute of requests, then no more: what is left is done within the time of the retries.
    @Test(arguments: [20, 33], [1, 2])
    func aHubThatLosesAThirdOfTheCallsDrains(percent: Int, seed: Int) {
        for work: Int64 in [50, 200] {
            var model = Model(seed: seed)
            model.longestQueue = .max
            let hub = Model.Hub(work: work * Model.millisecond, lost: Double(percent) / 100)
            model.run(until: 30 * Self.second) { _ in hub }
            model.offered = 0
            model.run(until: 40 * Self.second) { _ in hub }
            #expect(model.openCount == 0, "\(model.openCount) left at \(work) ms\(model.trace)")
        }
    }

    @Test(arguments: [FailingHubModel.Ending.error, .reset, .hang], [1, 2])
    func theKindOfLossDoesNotMatter(kind: FailingHubModel.Ending, seed: Int) {
        for share in [0.2, 0.4] {
            var model = Model(seed: seed)
            model.run(until: 40 * Self.second) { _ in Model.Hub(lost: share, kinds: [kind]) }
            let goodput = model.goodput(from: 10 * Self.second, to: 40 * Self.second)
            #expect(goodput >= 0.7 * (1 - share) * Self.offered, "\(goodput) a second\(model.trace)")
        }
    }

    /// The share of calls that hang, and for how many seconds.
    private static let hangs: [(percent: Int, timeout: Int64)] = [(1, 30), (5, 10)]

    /// A call that hangs for the whole default time, or for ten seconds, gives its place to others.
    @Test(arguments: hangs, [1, 2])
    func hangsDoNotHoldUpOthers(_ hangs: (percent: Int, timeout: Int64), seed: Int) {
        var model = Model(seed: seed, timeout: hangs.timeout * Self.second)
        model.run(until: 90 * Self.second) { _ in Model.Hub(lost: Double(hangs.percent) / 100, kinds: [.hang]) }
        let goodput = model.goodput(from: 10 * Self.second, to: 90 * Self.second)
        #expect(goodput >= 0.8 * Self.offered, "\(goodput) a second\(model.trace)")
        #expect(model.workers.allSatisfy { $0.limits.inFlight <= 64 })
    }

    /// Loss that gets better with less is a reason for less.
    @Test(arguments: [12, 40], [1, 2])
    func lossByLoadKeepsTheLimitNearTheCapacity(capacity: Int, seed: Int) {
        var model = Model(seed: seed)
        model.offered = 1500
        model.run(until: 40 * Self.second) { _ in Model.Hub(capacity: capacity) }
        let goodput = model.goodput(from: 10 * Self.second, to: 40 * Self.second)
        #expect(goodput >= 0.4 * Double(capacity) * 20, "\(goodput) a second\(model.trace)")
        let started = Model.count(model.starts, from: 10 * Self.second, to: 40 * Self.second)
        #expect(Double(started) / 30 <= 2 * goodput, "\(started) calls in 30 s\(model.trace)")
    }

    @Test(arguments: [1, 2]) func aHubWithFewPlacesIsNotFlooded(seed: Int) {
        var model = Model(seed: seed)
        model.offered = 1500
        model.run(until: 40 * Self.second) { _ in Model.Hub(places: 12) }
        let goodput = model.goodput(from: 10 * Self.second, to: 40 * Self.second)
        #expect(goodput >= 0.85 * 240, "\(goodput) a second\(model.trace)")
        let limits = model.workers.reduce(0) { $0 + $1.limits.concurrency.limit }
        #expect(limits <= 96, "\(limits)\(model.trace)")
    }

    @Test(arguments: [1, 2]) func aHubThatIsTenTimesSlowerIsWaitedFor(seed: Int) {
        var model = Model(seed: seed)
        model.run(until: 60 * Self.second) { now in
            Model.Hub(work: (now < 10 * Self.second ? 50 : 500) * Model.millisecond)
        }
        let goodput = model.goodput(from: 15 * Self.second, to: 60 * Self.second)
        #expect(goodput >= 0.25 * Self.offered, "\(goodput) a second\(model.trace)")
        #expect(model.workers.allSatisfy { $0.limits.circuit.openingCount == 0 })
    }

    /// The bounds are what limits and circuit did before they knew loss by chance.
    @Test(arguments: [FailingHubModel.Ending.error, .hang], [1, 2])
    func anOutageIsNotStormedNorItsEnd(kind: FailingHubModel.Ending, seed: Int) throws {
        var model = Model(seed: seed)
        model.offered = 1500
        let outage = 10 * Self.second..<25 * Self.second
        model.run(until: 40 * Self.second) { now in Model.Hub(all: outage.contains(now) ? kind : nil) }
        let during = Model.count(model.starts, from: 12 * Self.second, to: outage.upperBound)
        #expect(during <= (kind == .hang ? 90 : 30), "\(during) calls in the outage\(model.trace)")
        let first = try #require(model.successes.first { $0 >= outage.upperBound })
        #expect(first - outage.upperBound <= 8 * Self.second, "\(model.trace)")
        let storm = Model.count(model.starts, from: first, to: first + Self.second)
        #expect(storm <= 2000, "\(storm) calls in the first second\(model.trace)")
        #expect(model.goodput(from: 35 * Self.second, to: 40 * Self.second) >= 500, "\(model.trace)")
    }

    /// Two thirds of what is offered are accepted.
    @Test(arguments: [1, 2]) func aHubThatThrottlesInPartIsUsedAtItsQuota(seed: Int) {
        var model = Model(seed: seed)
        model.run(until: 60 * Self.second) { _ in Model.Hub(quota: 100) }
        let goodput = model.goodput(from: 10 * Self.second, to: 60 * Self.second)
        #expect(goodput >= 70, "\(goodput) a second\(model.trace)")
        let started = Model.count(model.starts, from: 10 * Self.second, to: 60 * Self.second)
        #expect(Double(started) / 50 <= 2.5 * goodput, "\(started) calls in 50 s\(model.trace)")
    }

    /// The pace begins with the rate of a second without a pause in it.
    @Test(arguments: [600, 1500], [1, 2]) func aHubWithAQuotaIsUsedWhateverIsOffered(offered: Int, seed: Int) {
        var model = Model(seed: seed)
        model.offered = offered
        model.run(until: 50 * Self.second) { _ in Model.Hub(quota: 500) }
        let goodput = model.goodput(from: 10 * Self.second, to: 50 * Self.second)
        #expect(goodput >= 470, "\(goodput) a second\(model.trace)")
    }

    @Test(arguments: [1, 2]) func refusalsByChanceHoldUpTheirOwnRequests(seed: Int) {
        var model = Model(seed: seed)
        model.run(until: 60 * Self.second) { _ in Model.Hub(lost: 0.2, kinds: [.refusal]) }
        let goodput = model.goodput(from: 10 * Self.second, to: 60 * Self.second)
        #expect(goodput >= 0.7 * Self.offered, "\(goodput) a second\(model.trace)")
        #expect(model.workers.allSatisfy { $0.limits.pause.totalNanoseconds < 5 * Self.second }, "\(model.trace)")
    }

    @Test(arguments: [1, 2]) func aHubThatRefusesAsAWholeIsLeftAlone(seed: Int) {
        var model = Model(seed: seed)
        let refusing = 10 * Self.second..<20 * Self.second
        model.run(until: 40 * Self.second) { now in Model.Hub(all: refusing.contains(now) ? .refusal : nil) }
        let during = Model.count(model.starts, from: refusing.lowerBound, to: refusing.upperBound)
        #expect(during <= 250, "\(during) calls\(model.trace)")
        #expect(model.workers.allSatisfy { $0.limits.pause.totalNanoseconds >= 7 * Self.second }, "\(model.trace)")
        #expect(model.goodput(from: 30 * Self.second, to: 40 * Self.second) >= 0.9 * Self.offered, "\(model.trace)")
    }

    /// Requests that always fail, among others that succeed, are no evidence against the hub; the default schedule takes 7 s at most.
    @Test(arguments: [0, 10], [1, 2])
    func seventeenRequestsThatAlwaysFailAreThroughInEightSeconds(offered: Int, seed: Int) {
        var model = Model(workers: 1, seed: seed)
        model.offered = offered
        model.add(119, to: 0) { $0 % 7 == 0 }
        model.run(until: 8 * Self.second) { _ in Model.Hub() }
        #expect(model.badEnds.count == 17, "\(model.trace)")
        #expect(model.workers[0].limits.circuit.openingCount == 0, "\(model.trace)")
    }

    /// One after the other they look like an outage. Calls that did not fail before are the probes, so that it is soon known to be none.
    @Test(arguments: [2, 10], [1, 2])
    func badRequestsInARowDoNotKeepTheCircuitOpen(offered: Int, seed: Int) {
        var model = Model(workers: 1, seed: seed)
        model.offered = offered
        model.add(30, to: 0) { _ in false }
        model.run(until: 5 * Self.second) { _ in Model.Hub() }
        model.add(17, to: 0) { _ in true }
        model.run(until: 13 * Self.second) { _ in Model.Hub() }
        #expect(model.badEnds.count == 17, "\(model.trace)")
    }
}
