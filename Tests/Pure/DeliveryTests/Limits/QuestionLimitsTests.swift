import Basics
import Delivery
import TestSupport
import Testing

/// Questions for outcomes among the calls to a hub.
struct QuestionLimitsTests {
    private static let second: Int64 = 1_000_000_000

    @Test func aQuestionHasAPlaceAmongTheCallsAndNothingElse() {
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 2, isAdaptive: false))
        let first = limits.mayAsk(now: 0, areCallsWaiting: true)
        limits.startedPoll()
        _ = limits.started(now: 0)
        let third = limits.mayAsk(now: 0, areCallsWaiting: false)
        let call = limits.mayStart(now: 0)
        #expect(first && !third && !call && limits.inFlight == 2)
        limits.noteEnd()
        let again = limits.mayStart(now: 0)
        #expect(again && limits.circuit.state == .closed)
    }

    @Test func aHubThatIsOutOrAskedToWaitIsNotAsked() {
        var random = SeededRandom(1)
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 8, isAdaptive: false))
        limits.pause.asked(for: 1000, now: 0)
        let paused = limits.mayAsk(now: 0, areCallsWaiting: false)
        let rested = limits.mayAsk(now: .at(2 * Self.second), areCallsWaiting: false)
        #expect(!paused && rested)
        for _ in 0..<20 {
            let call = limits.started(now: .at(2 * Self.second))
            limits.noteEnd()
            limits.circuit.noteFailure(call, now: .at(2 * Self.second), using: &random)
        }
        // Neither at once nor as the probe that may go later.
        for wait in [0, 60 * Self.second] {
            let mayAsk = limits.mayAsk(now: .at(2 * Self.second + wait), areCallsWaiting: false)
            #expect(!mayAsk && limits.circuit.state != .closed)
        }
    }

    @Test func aHubThatHasNotWorkedYetGetsNoCallsAndNoQuestionsForOutcomes() {
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 8, isAdaptive: false))
        limits.isHeld = true
        let starts = limits.mayStart(now: 0)
        let asks = limits.mayAsk(now: 0, areCallsWaiting: false)
        let end = limits.waitEnd(now: 0)
        #expect(!starts && !asks && end == .never && limits.circuit.state == .closed)
        limits.isHeld = false
        let startsThen = limits.mayStart(now: 0)
        #expect(startsThen)
    }

    /// While both wait for the rate, three calls go for each question; without calls, questions may use all of it.
    @Test(arguments: [(true, 25), (false, 100)]) func aRateIsShared(_ areCallsWaiting: Bool, _ percent: Int) {
        var limits = HubLimits(
            concurrency: ConcurrencyLimit(most: 64, isAdaptive: false), rate: RateLimit(callsPerSecond: 200, member: 1, now: 0))
        limits.rate?.sharesByPartitions(1, now: 0)
        limits.rate?.owns(1, now: 0)
        var (calls, questions) = (0, 0)
        for millisecond in 0..<20_000 as Range<Int64> {
            let now = millisecond * 1_000_000
            while limits.mayAsk(now: .at(now), areCallsWaiting: areCallsWaiting) {
                limits.startedPoll()
                limits.noteEnd()
                questions += 1
            }
            while areCallsWaiting && limits.mayStart(now: .at(now)) {
                let call = limits.started(now: .at(now))
                limits.noteEnd()
                limits.circuit.succeeded(call, now: .at(now))
                calls += 1
                if limits.mayAsk(now: .at(now), areCallsWaiting: true) {
                    limits.startedPoll()
                    limits.noteEnd()
                    questions += 1
                }
            }
        }
        let all = calls + questions
        #expect(all > 1000 && abs(questions * 100 - percent * all) <= all)
    }
}
