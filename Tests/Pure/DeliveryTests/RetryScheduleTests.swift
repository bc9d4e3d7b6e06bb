import Delivery
import TestSupport
import Testing

struct RetryScheduleTests {
    @Test(
        arguments: [
            (-1, 1000), (0, 1000), (1, 1000), (2, 2000), (3, 4000), (4, 8000), (5, 16_000), (6, 32_000), (7, 60_000),
            (20, 60_000),
            (.max, 60_000),
        ] as [(Int, Int64)])
    func theCeilingDoublesUpToTheCap(attempt: Int, milliseconds: Int64) {
        #expect(RetrySchedule().ceiling(afterAttempt: attempt) == milliseconds)
    }

    @Test(
        arguments: [
            (RetrySchedule(base: 0), 0), (RetrySchedule(base: -5), 0), (RetrySchedule(base: 90_000), 60_000),
            (RetrySchedule(factor: 1), 1000), (RetrySchedule(factor: 0.5), 62), (RetrySchedule(factor: .nan), 60_000),
            (RetrySchedule(factor: .infinity), 60_000), (RetrySchedule(cap: -1), 0),
            (RetrySchedule(base: .max, cap: .max), .max),
        ] as [(RetrySchedule, Int64)])
    func oddSettingsStillGiveACeiling(schedule: RetrySchedule, milliseconds: Int64) {
        #expect(schedule.ceiling(afterAttempt: 5) == milliseconds)
    }

    @Test(arguments: 1...3)
    func jitterTakesEveryWaitUpToTheCeilingAndNoOther(attempt: Int) throws {
        let schedule = RetrySchedule()
        let ceiling = schedule.ceiling(afterAttempt: attempt)
        try #require(ceiling > 0)
        var random = SeededRandom(attempt)
        var waits: [Int64] = []
        for _ in 0..<4000 {
            guard case .retry(let wait) = schedule.next(afterAttempt: attempt, now: 0, using: &random) else {
                Issue.record("attempt \(attempt) may be repeated")
                return
            }
            waits.append(wait)
        }
        #expect(waits.allSatisfy { (0...ceiling).contains($0) })
        #expect((waits.min() ?? .max) < ceiling / 100)
        #expect((waits.max() ?? 0) > ceiling * 99 / 100)
        let mean = waits.reduce(0, +) / Int64(waits.count)
        #expect(abs(mean - ceiling / 2) < ceiling / 20)
        // Full jitter: every tenth of the range is about equally likely.
        for tenth in 0..<10 {
            let count = waits.count { $0 * 10 / (ceiling + 1) == Int64(tenth) }
            #expect((300...500).contains(count), "tenth \(tenth) has \(count) of 4000")
        }
    }

    @Test(arguments: [0, 1, 999, 1000, 10_000, 3_600_000] as [Int64])
    func jitterNeverUndercutsWhatTheHubAskedFor(floor: Int64) {
        var random = SeededRandom(Int(floor))
        for attempt in 1...3 {
            for _ in 0..<500 {
                guard case .retry(let wait) = RetrySchedule().next(afterAttempt: attempt, floor: floor, now: 5, using: &random)
                else {
                    Issue.record("attempt \(attempt) may be repeated")
                    return
                }
                #expect(wait >= floor)
                #expect(wait <= floor + RetrySchedule().ceiling(afterAttempt: attempt))
            }
        }
    }

    @Test func aNegativeFloorIsNone() {
        var least = ConstantRandom.least
        #expect(RetrySchedule().next(afterAttempt: 1, floor: -500, now: 0, using: &least) == .retry(after: 0))
        var most = ConstantRandom(value: .max)
        #expect(RetrySchedule().next(afterAttempt: 1, floor: -500, now: 0, using: &most) == .retry(after: 1000))
    }

    @Test(
        arguments: [
            (4, nil, 3, true), (4, nil, 4, false), (4, nil, 5, false), (1, nil, 1, false), (4, 6, 5, true), (4, 6, 6, false),
            (4, 2, 2, false), (4, 1, 1, false), (20, nil, 19, true),
        ] as [(Int, Int?, Int, Bool)])
    func theRequestsLimitOfAttemptsCountsBeforeTheSchedules(own: Int, limit: Int?, attempt: Int, isRepeated: Bool) {
        var random = SeededRandom(3)
        let decision = RetrySchedule(maxAttempts: own).next(afterAttempt: attempt, limit: limit, now: 0, using: &random)
        #expect((decision != .exhausted) == isRepeated)
    }

    @Test(
        arguments: [
            (1000, 5000, 2000, RetrySchedule.Decision.retry(after: 2000)), (1000, 3000, 2000, .expires),
            (1000, 3001, 2000, .retry(after: 2000)),
            (1000, 1000, 0, .expires), (1000, 999, 0, .expires), (1000, 1001, 0, .retry(after: 0)),
            (1000, .max, 0, .retry(after: 0)),
            (1000, .min, 0, .expires), (.max, .max, 0, .expires), (-1, .max, 0, .retry(after: 0)), (1, .max, .max, .expires),
            (.min, .max, 2000, .retry(after: 2000)), (.min, .min, 0, .expires),
        ] as [(Int64, Int64, Int64, RetrySchedule.Decision)])
    func noAttemptIsPlannedForTheExpiryOrLater(now: Int64, expiry: Int64, floor: Int64, decision: RetrySchedule.Decision) {
        var least = ConstantRandom.least
        let found = RetrySchedule().next(afterAttempt: 1, floor: floor, now: .at(now), expiry: .at(expiry), using: &least)
        #expect(found == decision)
    }

    @Test func exhaustionIsToldBeforeExpiry() {
        var random = SeededRandom(1)
        #expect(RetrySchedule().next(afterAttempt: 4, now: 10, expiry: 5, using: &random) == .exhausted)
    }

    /// Of three attempts, with a hub that asks for two seconds and jitter of none.
    @Test(
        arguments: [
            (.never, 1, false, .exhausted), (.never, 3, false, .exhausted),
            (.backoff, 1, false, .retry(after: 2000)), (.backoff, 2, true, .retry(after: 2000)), (.backoff, 3, false, .exhausted),
            (.reauthenticate, 1, true, .retry(after: 0)), (.reauthenticate, 2, false, .retry(after: 0)),
            (.reauthenticate, 3, false, .exhausted),
            (.ifAmbiguityAllowed, 1, false, .retry(after: 2000)), (.ifAmbiguityAllowed, 1, true, .exhausted),
            (.ifAmbiguityAllowed, 3, false, .exhausted),
        ] as [(CallVerdict.Retry, Int, Bool, RetrySchedule.Decision)])
    func theVerdictDecidesWhetherThereIsANextAttempt(
        retry: CallVerdict.Retry, attempt: Int, stopsIfAmbiguous: Bool, decision: RetrySchedule.Decision
    ) {
        for (own, limit) in [(3, nil), (9, 3), (1, 3)] as [(Int, Int?)] {
            var least = ConstantRandom.least
            let found = RetrySchedule(maxAttempts: own).next(
                after: retry, attempt: attempt, limit: limit, stopsIfAmbiguous: stopsIfAmbiguous, floor: 2000, now: 0,
                expiry: nil,
                using: &least)
            #expect(found == decision)
        }
    }

    /// A wait that the expiry forbids. A new token needs none.
    @Test(
        arguments: [
            (.never, .exhausted), (.backoff, .expires), (.ifAmbiguityAllowed, .expires), (.reauthenticate, .retry(after: 0)),
        ] as [(CallVerdict.Retry, RetrySchedule.Decision)])
    func theExpiryCountsForWhatWaits(retry: CallVerdict.Retry, decision: RetrySchedule.Decision) {
        var least = ConstantRandom.least
        let found = RetrySchedule().next(
            after: retry, attempt: 1, limit: nil, stopsIfAmbiguous: false, floor: 2000, now: 0, expiry: .at(1000), using: &least)
        #expect(found == decision)
    }
}
