import PushModel
import TestSupport
import Testing

@testable import Outcomes

/// Random histories of answers, judged by what may be said without knowing how the decision is made.
struct OutcomeHistoryTests {
    private static let start: Int64 = 1_767_225_600_000

    private func answer(_ random: inout SeededRandom) -> PollAnswer {
        switch random.below(12) {
        case 0...3: return .notVisible
        case 4, 5: return .failed
        case 6: return .throttled(retryAfter: random.below(2) == 0 ? nil : Int64(random.below(600_000)))
        case 7: return random.below(20) == 0 ? .forbidden : .failed
        case 8: return random.below(20) == 0 ? .refused : .notVisible
        default:
            let states: [NotificationState] = [.enqueued, .processing, .processing, .unknown, .other("Paused"), .scheduled]
            let ends: [NotificationState] = [.completed, .abandoned, .noTargetFound, .canceled]
            let isEnd = random.below(15) == 0
            let words = PNSOutcome.Name.allCases.map(\.rawValue) + ["Melted"]
            var counts: [String: Int] = [:]
            for _ in 0..<random.below(3) { counts[words[random.below(words.count)]] = random.below(4) }
            return .telemetry(telemetry(isEnd ? ends[random.below(4)] : states[random.below(6)], counts))
        }
    }

    /// Follows one call; a clock that `wanders` also goes back.
    private func follow(_ random: inout SeededRandom, _ terms: OutcomeTracking.Terms, wanders: Bool) -> Int {
        var tracking = OutcomeTracking(acceptedAt: .at(Self.start))
        var now = Self.start + tracking.firstWait(terms, using: &random)
        #expect(now >= Self.start && now - Self.start <= terms.deadline)
        var last: NotificationTelemetry?
        for poll in 1...terms.maximumPolls {
            let answer = answer(&random)
            if case .telemetry(let told) = answer { last = told }
            let step = tracking.answered(answer, under: terms, at: .at(now), using: &random)
            #expect(tracking.pollCount == poll && tracking.telemetry == last)
            let isFinal = if case .telemetry(let told) = answer { told.state?.isFinal == true } else { false }
            switch step {
            case .unavailable:
                #expect(answer == .forbidden)
                return poll
            case .conclude(let verdict):
                check(verdict, last)
                let isLate = now - Self.start >= min(terms.visibilityLimit, terms.deadline)
                let asksTooMuch = if case .throttled(.some) = answer { true } else { false }
                #expect(isFinal || isLate || asksTooMuch || answer == .refused || poll == terms.maximumPolls)
                return poll
            case .poll(let wait):
                #expect(!isFinal && answer != .refused && answer != .forbidden)
                #expect(wait > 0)
                if !wanders { #expect(now + wait <= Self.start + terms.deadline) }
                if case .throttled(.some(let asked)) = answer { #expect(wait >= asked) }
                now += wanders ? Int64(random.below(60_000)) - 30_000 : wait
            }
        }
        Issue.record("never ends")
        return terms.maximumPolls
    }

    private func check(_ verdict: OutcomeVerdict, _ last: NotificationTelemetry?) {
        let successes = last?.successCount ?? 0
        // Nobody who was reached is ever told to be safe to ring again.
        if successes > 0 { #expect(verdict.replaySafety == .duplicateRisk) }
        if verdict.replaySafety == .duplicateRisk { #expect(successes > 0) }
        switch verdict.kind {
        case .success: #expect(last?.state == .completed && successes > 0 && last?.failureCount == 0)
        case .partial: #expect(last?.state == .completed && successes > 0 && (last?.failureCount ?? 0) > 0)
        case .failed: #expect(last?.state != .completed || successes == 0)
        }
        #expect((verdict.kind == .success) == (verdict.outcome == .success))
    }

    @Test(arguments: 0..<60)
    func everyHistoryEndsWithAVerdictThatItBears(seed: Int) {
        var random = SeededRandom(seed)
        for round in 0..<40 {
            let deadline = Int64(1 + random.below(2_000_000))
            let terms = OutcomeTracking.Terms(
                firstWait: Int64(random.below(5000)), interval: Int64(10 + random.below(20_000)),
                jitter: Int64(random.below(2000)),
                visibilityLimit: Int64(1 + random.below(Int(deadline))), deadline: deadline)
            #expect(terms.problems().isEmpty)
            let polls = follow(&random, terms, wanders: round % 4 == 0)
            #expect(Int64(polls) <= deadline / terms.interval + 3)
        }
    }
}
