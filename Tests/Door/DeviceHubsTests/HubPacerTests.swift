@testable import DeviceHubs
import Basics
import HubREST
import PushModel
import Synchronization
import Testing

/// The pace of a gateway's calls to one hub.
@Suite struct HubPacerTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
        private let moment = Mutex(MonotonicTime(nanoseconds: 1_000_000_000))

        var now: MonotonicTime { moment.withLock { $0 } }

        func pass(milliseconds: Int64) { moment.withLock { $0 = $0 + milliseconds * 1_000_000 } }
    }

    private func refusal(_ status: Int, after wait: Int64?, cause: RegistrationFailure.Cause = .refused) -> RegistrationFailure {
        var failure = RegistrationFailure(cause, code: .hubThrottled)
        (failure.status, failure.retryAfter) = (status, wait)
        return failure
    }

    @Test func aBurstOfTwoSecondsGoesAtOnceAndTheRestByTheRate() {
        let clock = Clock()
        let pacer = HubPacer(rate: 10) { clock.now }
        let began = clock.now
        for _ in 0..<20 { #expect(pacer.step(since: began) == .go) }
        #expect(pacer.step(since: began) == .wait(until: began + 100_000_000))
        clock.pass(milliseconds: 100)
        #expect(pacer.step(since: began) == .go)
        #expect(pacer.step(since: began) != .go)
    }

    @Test func nobodyWaitsForLongerThanTwoSeconds() {
        let clock = Clock()
        let pacer = HubPacer(rate: 1) { clock.now }
        let began = clock.now
        for _ in 0..<2 { #expect(pacer.step(since: began) == .go) }
        #expect(pacer.step(since: began) == .wait(until: began + 1_000_000_000))
        clock.pass(milliseconds: 1000)
        #expect(pacer.step(since: clock.now) == .go)
        clock.pass(milliseconds: 500)
        #expect(pacer.step(since: began) == .wait(until: began + 2_000_000_000))
        clock.pass(milliseconds: 500)
        #expect(pacer.step(since: began) == .go)
        #expect(pacer.step(since: began) == .refuse(after: 1001))
    }

    /// The hub's answer, with its wait in milliseconds, and what a call does then at the clock's first second.
    @Test(
        arguments: [
            (429, 7000, .refuse(after: 7001)), (503, 3000, .refuse(after: 3001)), (429, nil, .go), (500, 7000, .go),
            (429, 1000, .wait(until: MonotonicTime(nanoseconds: 2_000_000_000))), (429, 900_000, .refuse(after: 300_001)),
        ] as [(Int, Int64?, HubPacer.Step)])
    func aHubThatWantsRestHasIt(status: Int, wait: Int64?, step: HubPacer.Step) {
        let clock = Clock()
        let pacer = HubPacer(rate: 10) { clock.now }
        pacer.note(refusal(status, after: wait))
        #expect(pacer.step(since: clock.now) == step)
        clock.pass(milliseconds: 900_000)
        #expect(pacer.step(since: clock.now) == .go)
    }

    /// A call that was never made says nothing of the hub.
    @Test func aCallThatIsHeldPausesNothing() {
        let pacer = HubPacer(rate: 10)
        pacer.note(.held(for: 5000))
        #expect(pacer.step(since: .never) == .go)
    }

    @Test func theEndWakesWhoeverWaits() {
        let pacer = HubPacer(rate: 10)
        pacer.note(refusal(429, after: 1000))
        pacer.stop()
        let failure = #expect(throws: RegistrationFailure.self) { try pacer.waitForTurn() }
        #expect(failure?.cause == .held && failure?.isWorthRetrying == true && failure?.code == .hubThrottled)
    }
}
