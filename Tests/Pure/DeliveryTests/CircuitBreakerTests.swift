import Basics
import Delivery
import TestSupport
import Testing

struct CircuitBreakerTests {
    private static let second = HubOutage.second
    private static let millisecond = HubOutage.millisecond
    private static let rowDuration = 100 * millisecond

    @Test func itOpensAfterFailuresInARow() {
        var breaker = CircuitBreaker()
        for place in 1...4 {
            breaker.call(fails: true, at: Int64(place) * 200 * Self.millisecond)
            #expect(breaker.state == .closed)
            breaker.expectStart(at: Int64(place) * 200 * Self.millisecond)
        }
        breaker.call(fails: true, at: Self.second)
        #expect(breaker.state == .open(until: 2_000_000_000))
        #expect(breaker.reason == .failuresInRow)
        #expect(breaker.openingCount == 1)
        #expect(breaker.inFlightAllowance == 0)
        #expect(breaker.nextChange == 2_000_000_000)
        let isAllowed = breaker.mayStart(now: 1_999_999_999)
        #expect(!isAllowed)
    }

    @Test func aFewFailuresOfOneMomentDoNotOpenIt() {
        var breaker = CircuitBreaker()
        for _ in 0..<17 { breaker.call(fails: true, at: Self.second) }
        #expect(breaker.state == .closed)
        breaker.call(fails: true, at: Self.second + Self.rowDuration - 1)
        #expect(breaker.state == .closed)
        breaker.call(fails: true, at: Self.second + Self.rowDuration)
        #expect(breaker.reason == .failuresInRow)
    }

    @Test func fourTimesAsManyFailuresOpenItAtOnce() {
        var breaker = CircuitBreaker()
        for _ in 0..<19 { breaker.call(fails: true, at: Self.second) }
        #expect(breaker.state == .closed)
        breaker.call(fails: true, at: Self.second)
        #expect(breaker.reason == .failuresInRow)
    }

    @Test func oneSuccessBreaksARow() {
        var breaker = CircuitBreaker()
        for place in 1...19 { breaker.call(fails: place % 5 != 0, at: Int64(place) * 100 * Self.millisecond) }
        #expect(breaker.state == .closed)
    }

    /// Every second call of many succeeds, every fifth, or only every tenth: all but the last are borne.
    @Test(arguments: [(2, nil), (5, nil), (10, .failureShare)] as [(Int, CircuitBreaker.OpenCause?)])
    func aShareOfFailuresOpensItWhenNearlyNothingSucceeds(every: Int, reason: CircuitBreaker.OpenCause?) {
        var breaker = CircuitBreaker()
        for place in 1...3000 where breaker.state == .closed {
            breaker.call(fails: place % every != 0, at: Int64(place) * 10 * Self.millisecond)
        }
        #expect(breaker.reason == reason)
    }

    @Test func fewCallsHaveNoShare() {
        var breaker = CircuitBreaker()
        for place in 1...100 { breaker.call(fails: place % 2 == 0, at: Int64(place) * Self.second) }
        #expect(breaker.state == .closed)
    }

    @Test func oneProbeGoesThroughAndItsFailureOpensForLonger() {
        var breaker = CircuitBreaker.opened
        var least = ConstantRandom.least
        var now: Int64 = 2_000_000_000
        for wait in [2000, 4000, 5000, 5000, 5000] {
            breaker.expectStart(at: now)
            #expect(breaker.state == .halfOpen)
            #expect(breaker.inFlightAllowance == 1)
            #expect(breaker.nextChange == nil)
            let probe = breaker.started(now: .at(now))
            let isSecondAllowed = breaker.mayStart(now: .at(now))
            #expect(!isSecondAllowed)
            now += 20 * Self.millisecond
            breaker.noteFailure(probe, now: .at(now), using: &least)
            #expect(breaker.state == .open(until: .at(now + Int64(wait) * Self.millisecond)))
            now += Int64(wait) * Self.millisecond
        }
        #expect(breaker.openingCount == 1)
    }

    @Test func theWaitIsAtLeastThreeQuartersAndAtMostTheWhole() {
        for (random, wait) in [(ConstantRandom.least, 1000), (ConstantRandom(value: .max), 750)] {
            var breaker = CircuitBreaker()
            var random = random
            for place in 1...5 {
                let call = breaker.started(now: .at(Int64(place) * Self.second))
                breaker.noteFailure(call, now: .at(Int64(place) * Self.second), using: &random)
            }
            #expect(breaker.nextChange == .at(5 * Self.second) + Int64(wait) * Self.millisecond)
        }
    }

    @Test func eachSuccessDoublesTheAllowanceUntilItIsClosed() {
        var breaker = CircuitBreaker.opened
        let now: Int64 = 2_000_000_000
        var allowances: [Int] = []
        while breaker.state != .closed && allowances.count < 10 {
            breaker.expectStart(at: now)
            allowances.append(breaker.inFlightAllowance)
            breaker.call(fails: false, at: now)
        }
        #expect(allowances == [1, 2, 4, 8, 16, 32])
        #expect(breaker.state == .closed)
        #expect(breaker.reason == nil)
        #expect(breaker.inFlightAllowance == .max)
        #expect(breaker.nextChange == nil)
    }

    @Test func aFailureOnTheWayUpHalvesTheAllowance() {
        var breaker = CircuitBreaker.opened
        let now: Int64 = 2_000_000_000
        breaker.expectStart(at: now)
        for _ in 0..<3 { breaker.call(fails: false, at: now) }
        for allowance in [8, 4, 2, 1] {
            #expect(breaker.inFlightAllowance == allowance)
            breaker.call(fails: true, at: now)
        }
        #expect(breaker.inFlightAllowance == 0)
    }

    @Test func closingForgetsTheLongerWait() {
        var breaker = CircuitBreaker.opened
        breaker.expectStart(at: 2 * Self.second)
        breaker.call(fails: true, at: 2 * Self.second)
        breaker.expectStart(at: 5 * Self.second)
        for _ in 0..<6 { breaker.call(fails: false, at: 5 * Self.second) }
        for place in 6...10 { breaker.call(fails: true, at: Int64(place) * Self.second) }
        #expect(breaker.state == .open(until: 11_000_000_000))
        #expect(breaker.openingCount == 2)
    }

    /// Calls that were under way when it opened change nothing, however they end.
    @Test func onlyCallsOfThePresentStateHaveASay() {
        var breaker = CircuitBreaker()
        var least = ConstantRandom.least
        let old = (0..<12).map { _ in breaker.started(now: 0) }
        for place in 1...5 { breaker.call(fails: true, at: Int64(place) * 200 * Self.millisecond) }
        let open = breaker
        for call in old[..<4] { breaker.noteFailure(call, now: .at(Self.second), using: &least) }
        for call in old[4..<8] { breaker.succeeded(call, now: .at(Self.second)) }
        #expect(breaker == open)
        breaker.expectStart(at: 2 * Self.second)
        let halfOpen = breaker
        breaker.noteFailure(old[8], now: .at(2 * Self.second), using: &least)
        breaker.succeeded(old[9], now: .at(2 * Self.second))
        breaker.abandoned(old[10], now: .at(2 * Self.second), using: &least)
        #expect(breaker == halfOpen)
    }

    @Test func anAbandonedProbeIsFollowedByAnotherAfterTheSameWait() {
        var breaker = CircuitBreaker.opened
        var least = ConstantRandom.least
        for second in 2...20 {
            let now = Int64(second) * Self.second
            breaker.expectStart(at: now)
            let probe = breaker.started(now: .at(now))
            breaker.abandoned(probe, now: .at(now), using: &least)
            #expect(breaker.state == .open(until: .at(now + Self.second)))
        }
    }

    @Test func aProbeWithoutAnEndIsNotWaitedForForEver() {
        var breaker = CircuitBreaker.opened
        breaker.expectStart(at: 2 * Self.second)
        _ = breaker.started(now: .at(2 * Self.second))
        #expect(breaker.nextChange == .at(7 * Self.second))
        let isEarlyOneAllowed = breaker.mayStart(now: .at(7 * Self.second - 1))
        #expect(!isEarlyOneAllowed)
        breaker.expectStart(at: 7 * Self.second)
        _ = breaker.started(now: .at(7 * Self.second))
        #expect(breaker.nextChange == .at(12 * Self.second))
    }

    @Test func aConfigurationOutsideItsRangeIsClamped() {
        var configuration = CircuitBreaker.Configuration()
        (configuration.failuresInRow, configuration.fullAllowance) = (-1, 0)
        (configuration.firstWait, configuration.longestWait) = (0, .max)
        var breaker = CircuitBreaker(configuration)
        var least = ConstantRandom.least
        var now: Int64 = 0
        for wait in [nil, 1, 2, 4, 8, 16, 30, 30] as [Int64?] {
            breaker.expectStart(at: now)
            let call = breaker.started(now: .at(now))
            breaker.noteFailure(call, now: .at(now), using: &least)
            // The first failure begins the row, the second one ends it.
            guard let wait else {
                now += Self.rowDuration
                continue
            }
            let found = (breaker.nextChange ?? 0) - .at(now)
            #expect(found <= wait * Self.second && found >= wait * Self.second - Self.millisecond)
            now += wait * Self.second
        }
    }
}

/// Outages on a simulated clock.
struct CircuitBreakerOutageTests {
    private static let second = HubOutage.second
    private static let millisecond = HubOutage.millisecond

    /// Refused at once, answered with an error after a while, or not answered at all.
    @Test(arguments: [HubOutage.Answer.failure, .hang], [1, 50, 400] as [Int64])
    func afterItOpenedAnOutageCostsTwoCallsASecondAtMost(answer: HubOutage.Answer, latency: Int64) throws {
        for seed in 0..<10 {
            var outage = HubOutage(seed: seed, latency: latency * Self.millisecond)
            outage.run(until: Self.second / 10) { _, _ in .success }
            outage.run(until: 122 * Self.second) { _, _ in answer }
            let opened = try #require(outage.openedAt)
            #expect(opened <= (answer == .hang ? 21 : 3) * Self.second)
            #expect(outage.mostInASecond(from: opened, to: 122 * Self.second) <= 2)
            // Half a minute on, the waits have grown.
            let late = outage.starts.count { $0 >= opened + 30 * Self.second }
            #expect(late <= 90 / 3 + 1)
            #expect(late >= 90 / 10 - 2)
        }
    }

    /// Whatever the outage was like, a probe starts within 5 s of its end, and full rate is there in less than a second more.
    @Test(arguments: [HubOutage.Answer.failure, .hang], [1, 5, 19, 60, 300] as [Int64])
    func workResumesWithinSecondsOfTheEnd(answer: HubOutage.Answer, length: Int64) throws {
        var openings = 0
        for seed in 0..<20 {
            let end = length * Self.second + Int64(seed) * 97 * Self.millisecond
            var outage = HubOutage(seed: seed)
            outage.run(until: Self.second / 10) { _, _ in .success }
            outage.run(until: end) { _, _ in answer }
            // Calls that hang for as long as the hub is out are only slow.
            if outage.breaker.state == .closed { continue }
            openings += 1
            outage.run(until: end + 16 * Self.second) { _, _ in .success }
            #expect(outage.breaker.state == .closed)
            let probe = try #require(outage.starts.first { $0 >= end })
            #expect(probe - end <= 5 * Self.second)
            let closed = try #require(outage.closedAt)
            #expect(closed - probe < Self.second)
        }
        #expect(openings == 20 || answer == .hang && length < 20)
    }

    /// Answers that take longer than the longest wait count all the same.
    @Test(arguments: 0..<10)
    func aSlowHubIsNotTakenForOneThatIsOut(seed: Int) {
        var outage = HubOutage(seed: seed)
        outage.run(until: 10 * Self.second) { _, _ in .failure }
        #expect(outage.breaker.state != .closed)
        outage.run(until: 60 * Self.second) { _, _ in .slow }
        #expect(outage.breaker.state == .closed)
    }

    /// A hub that fails every fourth call by chance is slowed a little at most: its calls are retried, not stopped.
    @Test(arguments: 0..<10)
    func aHubThatFailsNowAndThenIsNotStopped(seed: Int) {
        var outage = HubOutage(seed: seed, latency: 16 * Self.millisecond)
        outage.run(until: 20 * Self.second) { _, random in random.below(4) == 0 ? .failure : .success }
        #expect(outage.breaker.openingCount == 0)
        #expect(outage.starts.count > 19_000)
    }

    /// Random hubs and random ends of calls; then the hub works, and the circuit must close.
    @Test(arguments: 0..<200)
    func itNeverWedges(seed: Int) {
        var random = SeededRandom(seed)
        var breaker = CircuitBreaker()
        var calls: [CircuitBreaker.Call] = []
        var now: Int64 = 0
        var longestWait: Int64 = 0
        for _ in 0..<2000 {
            now += Int64(random.below([1000, 1_000_000, 400_000_000][random.below(3)]))
            if breaker.mayStart(now: .at(now)) { calls.append(breaker.started(now: .at(now))) }
            if calls.count > random.below(10) {
                let call = calls.remove(at: random.below(calls.count))
                switch random.below(seed % 5 + 2) {
                case 0: breaker.succeeded(call, now: .at(now))
                case 1: breaker.abandoned(call, now: .at(now), using: &random)
                // Lost for ever, as if its end were never told.
                case 2: break
                default: breaker.noteFailure(call, now: .at(now), using: &random)
                }
            }
            if case .open(let until) = breaker.state { longestWait = max(longestWait, until - .at(now)) }
        }
        #expect(longestWait <= 5 * Self.second)
        let end = now
        while breaker.state != .closed && now < end + 10 * Self.second {
            if breaker.mayStart(now: .at(now)) { breaker.succeeded(breaker.started(now: .at(now)), now: .at(now)) }
            now += Self.millisecond
        }
        #expect(breaker.state == .closed)
    }
}
