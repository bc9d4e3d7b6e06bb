import Basics
import Delivery
import TestSupport
import Testing

/// Which failures say that a hub is out, and which say something about a call.
struct CircuitEvidenceTests {
    private static let second = HubOutage.second
    private static let millisecond = HubOutage.millisecond

    /// Where two of five calls fail by chance, twelve failures one after the other are nothing special, and forty are.
    @Test func aRowIsBadOnlyWhereItIsNoChance() {
        var breaker = CircuitBreaker()
        for place in 1...100 { breaker.call(fails: place % 5 < 2, at: Int64(place) * 20 * Self.millisecond) }
        var now = 3 * Self.second
        for _ in 0..<12 {
            breaker.call(fails: true, at: now)
            now += 20 * Self.millisecond
        }
        #expect(breaker.state == .closed)
        for _ in 0..<28 where breaker.state == .closed {
            breaker.call(fails: true, at: now)
            now += 20 * Self.millisecond
        }
        #expect(breaker.reason == .failuresInRow)
    }

    @Test func aFailureIsNoEvidenceWhenALaterCallHasSucceeded() {
        var breaker = CircuitBreaker()
        var least = ConstantRandom.least
        let hanging = (0..<40).map { breaker.started(now: .at(Int64($0) * Self.millisecond)) }
        breaker.call(fails: false, at: Self.second)
        for (place, hung) in hanging.enumerated() {
            breaker.noteFailure(hung, now: .at(30 * Self.second) + Int64(place) * 50 * Self.millisecond, using: &least)
        }
        #expect(breaker.state == .closed)
        #expect(breaker.hasSucceeded(since: .at(Self.second)) && !breaker.hasSucceeded(since: .at(Self.second + 1)))
    }

    @Test func aCallThatFailsForAReasonOfItsOwnIsNoEvidence() {
        var breaker = CircuitBreaker()
        var least = ConstantRandom.least
        for place in 1...40 {
            let now = Int64(place) * 100 * Self.millisecond
            breaker.noteFailure(breaker.started(now: .at(now)), isOwnFault: true, now: .at(now), using: &least)
        }
        #expect(breaker.state == .closed)
        // As a probe it leaves everything as it is, and the next probe is due after the same wait.
        breaker = CircuitBreaker.opened
        breaker.expectStart(at: 2 * Self.second)
        breaker.noteFailure(
            breaker.started(now: .at(2 * Self.second)), isOwnFault: true, now: .at(2 * Self.second), using: &least)
        #expect(breaker.state == .open(until: .at(3 * Self.second)))
    }

    /// The share that failed before an outage counts after it; the outage does not.
    @Test func closingForgetsTheOutage() {
        var breaker = CircuitBreaker.opened
        breaker.expectStart(at: 2 * Self.second)
        for _ in 0..<6 { breaker.call(fails: false, at: 2 * Self.second) }
        #expect(breaker.state == .closed)
        for place in 3...7 { breaker.call(fails: true, at: Int64(place) * Self.second) }
        #expect(breaker.reason == .failuresInRow)
    }
}
