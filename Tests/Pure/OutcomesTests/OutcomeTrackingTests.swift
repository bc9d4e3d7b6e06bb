import Delivery
import PushModel
import TestSupport
import Testing

@testable import Outcomes

struct OutcomeTrackingTests {
    private static let start = Timestamp(milliseconds: 1_767_225_600_000)
    private let steady = OutcomeTracking.Terms(jitter: 0)
    private var random = SeededRandom(1)

    private mutating func step(_ tracking: inout OutcomeTracking, _ answer: PollAnswer, after: Int64) -> OutcomeTracking.Step {
        tracking.answered(answer, under: steady, at: Self.start.adding(milliseconds: after), using: &random)
    }

    private func failed(_ cause: OutcomeVerdict.Cause) -> OutcomeTracking.Step {
        .conclude(OutcomeVerdict(.failed, cause: cause, outcome: .ambiguous))
    }

    @Test func aCallIsFollowedToItsEnd() {
        var test = self
        var tracking = OutcomeTracking(acceptedAt: Self.start)
        #expect(tracking.firstWait(steady, using: &test.random) == 2000)
        #expect(test.step(&tracking, .notVisible, after: 2000) == .poll(after: 10_000))
        #expect(test.step(&tracking, .telemetry(telemetry(.enqueued)), after: 12_000) == .poll(after: 10_000))
        #expect(test.step(&tracking, .telemetry(telemetry(.processing, ["Success": 1])), after: 22_000) == .poll(after: 10_000))
        #expect(test.step(&tracking, .failed, after: 32_000) == .poll(after: 10_000))
        let final = telemetry(.completed, ["Success": 3])
        #expect(
            test.step(&tracking, .telemetry(final), after: 42_000)
                == .conclude(OutcomeVerdict(.success, cause: .delivered, outcome: .success)))
        #expect(tracking.pollCount == 5 && tracking.telemetry == final)
    }

    @Test func telemetryMayStayInvisibleForHalfAnHour() {
        var test = self
        var tracking = OutcomeTracking(acceptedAt: Self.start)
        #expect(test.step(&tracking, .notVisible, after: 1_789_000) == .poll(after: 10_000))
        #expect(test.step(&tracking, .notVisible, after: 1_795_000) == .poll(after: 5000))
        #expect(test.step(&tracking, .notVisible, after: 1_800_000) == failed(.notVisible))
        var lucky = OutcomeTracking(acceptedAt: Self.start)
        #expect(test.step(&lucky, .telemetry(telemetry(.processing)), after: 1_800_000) == .poll(after: 10_000))
        #expect(test.step(&lucky, .notVisible, after: 1_810_000) == .poll(after: 10_000))
        #expect(test.step(&lucky, .telemetry(telemetry(.processing)), after: 2_099_999) == .poll(after: 1))
        #expect(test.step(&lucky, .telemetry(telemetry(.processing)), after: 2_100_000) == failed(.unfinished))
    }

    @Test(
        arguments: [
            (.failed, .unanswered), (.throttled(retryAfter: nil), .unanswered), (.throttled(retryAfter: 5), .unanswered),
            (.telemetry(telemetry(.unknown)), .stateUnknown), (.telemetry(telemetry(.other("Paused"))), .unfinished),
        ] as [(PollAnswer, OutcomeVerdict.Cause)])
    func theDeadlineEndsEverything(answer: PollAnswer, cause: OutcomeVerdict.Cause) {
        var test = self
        var tracking = OutcomeTracking(acceptedAt: Self.start)
        #expect(test.step(&tracking, answer, after: 2_095_000) == .poll(after: 5000))
        #expect(test.step(&tracking, answer, after: 2_100_000) == failed(cause))
    }

    @Test(
        arguments: [(nil, 10_000), (3000, 10_000), (-5, 10_000), (60_000, 60_000), (3_600_000, nil)] as [(Int64?, Int64?)])
    func aThrottlingHubIsLeftAloneAsLongAsItAsks(retryAfter: Int64?, wait: Int64?) {
        var test = self
        var tracking = OutcomeTracking(acceptedAt: Self.start)
        let step = test.step(&tracking, .throttled(retryAfter: retryAfter), after: 2000)
        #expect(step == wait.map { .poll(after: $0) } ?? failed(.unanswered))
    }

    @Test func aHubWithoutTelemetryIsAskedNoMore() {
        var test = self
        var tracking = OutcomeTracking(acceptedAt: Self.start)
        #expect(test.step(&tracking, .forbidden, after: 2000) == .unavailable)
        #expect(test.step(&tracking, .refused, after: 2000) == failed(.unanswered))
    }

    @Test(
        arguments: [
            (200, false, .failed), (404, false, .notVisible), (429, true, .throttled(retryAfter: 7000)),
            (429, false, .throttled(retryAfter: nil)), (403, true, .throttled(retryAfter: 7000)), (403, false, .forbidden),
            (503, true, .throttled(retryAfter: 7000)), (503, false, .failed), (500, false, .failed), (401, false, .failed),
            (408, false, .failed), (400, false, .refused), (405, false, .refused), (410, false, .refused), (451, false, .refused),
            (414, false, .refused), (421, false, .failed), (422, false, .refused), (423, false, .failed), (424, false, .refused),
            (425, false, .failed), (498, false, .refused), (499, false, .failed),
            (201, false, .failed), (302, false, .failed), (0, false, .failed),
        ] as [(Int, Bool, PollAnswer)])
    func everyStatusHasItsMeaning(status: Int, hasRetryAfter: Bool, expected: PollAnswer) {
        let result = CallResult.answered(status: status, hasRetryAfter: hasRetryAfter, detail: .none)
        let told = telemetry(.completed)
        #expect(PollAnswer(result, retryAfter: hasRetryAfter ? 7000 : nil) == expected)
        let read = PollAnswer(result, retryAfter: hasRetryAfter ? 7000 : nil, telemetry: told)
        #expect(read == (status == 200 ? .telemetry(told) : expected))
        let page = CallResult.answered(status: status, hasRetryAfter: hasRetryAfter, detail: .notTheHub)
        #expect(PollAnswer(page, telemetry: told) == .failed)
    }

    @Test(arguments: [true, false])
    func aBrokenCallMayBePutAgain(bodySent: Bool) {
        let result = CallResult.failed(curlCode: 28, isAnswerInvalid: false, bodySent: bodySent)
        #expect(PollAnswer(result) == .failed)
    }

    @Test func anotherProcessCanGoOn() {
        var test = self
        var first = OutcomeTracking(acceptedAt: Self.start)
        _ = test.step(&first, .telemetry(telemetry(.processing, ["Success": 1])), after: 2000)
        var second = OutcomeTracking(
            acceptedAt: first.acceptedAt, pollCount: first.pollCount, telemetry: first.telemetry, wasAnswered: first.wasAnswered)
        #expect(second == first)
        let late = OutcomeVerdict(.failed, cause: .unfinished, outcome: .ambiguous, replaySafety: .duplicateRisk)
        #expect(test.step(&second, .failed, after: 2_100_000) == .conclude(late))
    }

    @Test(
        arguments: [
            (OutcomeTracking.Terms(), 0), (OutcomeTracking.Terms(firstWait: -1), 1), (OutcomeTracking.Terms(interval: 9), 1),
            (OutcomeTracking.Terms(jitter: -1), 1), (OutcomeTracking.Terms(deadline: 86_400_001), 1),
            (OutcomeTracking.Terms(visibilityLimit: 10, deadline: 9), 1),
            (OutcomeTracking.Terms(visibilityLimit: 0, deadline: 0), 2),
        ])
    func termsOutOfRangeAreNamed(terms: OutcomeTracking.Terms, problems: Int) {
        #expect(terms.problems().count == problems)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func aClockThatGoesBackWaitsAndOneFarAheadEndsIt(now: Int64) {
        var test = self
        for acceptedAt in [Int64.min, 0, .max] {
            var old = OutcomeTracking(acceptedAt: .at(acceptedAt), pollCount: .max)
            let last = old.answered(.failed, under: steady, at: .at(now), using: &test.random)
            #expect(last == failed(.unanswered) && old.pollCount == .max)
            var other = OutcomeTracking(acceptedAt: .at(acceptedAt))
            let step = other.answered(.notVisible, under: steady, at: .at(now), using: &test.random)
            #expect(step == (now > acceptedAt ? failed(.notVisible) : .poll(after: 10_000)), "accepted at \(acceptedAt)")
        }
    }
}
