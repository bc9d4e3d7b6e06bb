import PushModel
import Testing

@testable import Outcomes

struct OutcomeVerdictTests {
    private func verdict(_ telemetry: NotificationTelemetry) -> OutcomeVerdict? { OutcomeVerdict(final: telemetry) }

    @Test(
        arguments: [
            (.completed, ["Success": 3], .init(.success, cause: .delivered, outcome: .success, replaySafety: .duplicateRisk)),
            (
                .completed, ["Success": 3, "Skipped": 2],
                .init(.success, cause: .delivered, outcome: .success, replaySafety: .duplicateRisk)
            ),
            (
                .completed, ["Success": 3, "Throttled": 0],
                .init(.success, cause: .delivered, outcome: .success, replaySafety: .duplicateRisk)
            ),
            (.completed, [:], .init(.failed, cause: .nothingCounted, outcome: .ambiguous, replaySafety: .ambiguous)),
            (.completed, ["Success": 0], .init(.failed, cause: .nothingCounted, outcome: .ambiguous, replaySafety: .ambiguous)),
            (.completed, ["Skipped": 4], .init(.failed, cause: .nothingCounted, outcome: .ambiguous, replaySafety: .ambiguous)),
            (.completed, ["NoTargets": 1], .init(.failed, cause: .allRefused, outcome: .noTarget, replaySafety: .pointless)),
            (
                .completed, ["ExpiredChannel": 1, "Throttled": 1],
                .init(.failed, cause: .allRefused, outcome: .throttled, replaySafety: .safe)
            ),
            (
                .completed, ["PnsUnreachable": 1, "InvalidCredentials": 9],
                .init(.failed, cause: .allRefused, outcome: .ambiguous, replaySafety: .ambiguous)
            ),
            (
                .completed, ["InvalidNotificationSize": 1, "BadChannel": 9],
                .init(.failed, cause: .allRefused, outcome: .payload, replaySafety: .pointless)
            ),
            (
                .completed, ["Success": 1, "BadChannel": 9],
                .init(.partial, cause: .someRefused, outcome: .permanent, replaySafety: .duplicateRisk)
            ),
            (.noTargetFound, [:], .init(.failed, cause: .noTarget, outcome: .noTarget, replaySafety: .pointless)),
            (.abandoned, [:], .init(.failed, cause: .abandoned, outcome: .ambiguous, replaySafety: .ambiguous)),
            (
                .abandoned, ["AbandonedNotificationMessages": 7],
                .init(.failed, cause: .abandoned, outcome: .ambiguous, replaySafety: .ambiguous)
            ),
            (.abandoned, ["Success": 1], .init(.failed, cause: .abandoned, outcome: .ambiguous, replaySafety: .duplicateRisk)),
            (.canceled, [:], .init(.failed, cause: .canceled, outcome: .cancelled, replaySafety: .safe)),
            (.canceled, ["Success": 1], .init(.failed, cause: .canceled, outcome: .cancelled, replaySafety: .duplicateRisk)),
        ] as [(NotificationState, [String: Int], OutcomeVerdict)])
    func aFinalStateHasItsVerdict(state: NotificationState, counts: [String: Int], expected: OutcomeVerdict) {
        #expect(verdict(telemetry(state, counts)) == expected)
    }

    /// No state but the final ones ends the tracking, whatever is counted.
    @Test(
        arguments: [.enqueued, .detailedStateAvailable, .scheduled, .processing, .unknown, .other("Paused"), nil]
            as [NotificationState?])
    func anotherStateHasNoVerdictBeforeTheDeadline(state: NotificationState?) {
        #expect(verdict(telemetry(state, ["Success": 1])) == nil)
    }

    @Test(arguments: PNSOutcome.Name.allCases)
    func everyOutcomeNameHasItsVerdict(name: PNSOutcome.Name) throws {
        let outcome = PNSOutcome.known(name).outcome
        let alone = try #require(verdict(telemetry(.completed, [name.rawValue: 2])))
        let beside = try #require(verdict(telemetry(.completed, ["Success": 1].merging([name.rawValue: 2]) { $0 + $1 })))
        switch name {
        case .success:
            #expect(alone.kind == .success && beside.kind == .success)
        case .skipped:
            #expect(alone.cause == .nothingCounted && beside.kind == .success)
        default:
            #expect(alone == OutcomeVerdict(.failed, cause: .allRefused, outcome: outcome))
            #expect(alone.replaySafety == outcome.replaySafety && alone.replaySafety != .duplicateRisk)
            #expect(beside == OutcomeVerdict(.partial, cause: .someRefused, outcome: outcome, replaySafety: .duplicateRisk))
        }
    }

    @Test func anUndocumentedOutcomeIsAmbiguous() {
        #expect(verdict(telemetry(.completed, ["Melted": 1])) == OutcomeVerdict(.failed, cause: .allRefused, outcome: .ambiguous))
        #expect(verdict(telemetry(.completed, ["Melted": 1, "Success": 1]))?.kind == .partial)
    }

    @Test(
        arguments: [
            (nil, true, .notVisible, .ambiguous), (nil, false, .unanswered, .ambiguous),
            (telemetry(.unknown), true, .stateUnknown, .ambiguous),
            (telemetry(.unknown, ["Success": 1]), true, .stateUnknown, .duplicateRisk),
            (telemetry(.processing), true, .unfinished, .ambiguous),
            (telemetry(.processing, ["Success": 1, "BadChannel": 1]), true, .unfinished, .duplicateRisk),
            (telemetry(.enqueued), true, .unfinished, .ambiguous), (telemetry(.scheduled), true, .unfinished, .ambiguous),
            (telemetry(.detailedStateAvailable), true, .unfinished, .ambiguous),
            (telemetry(.other("Paused")), true, .unfinished, .ambiguous), (telemetry(nil), true, .unfinished, .ambiguous),
        ] as [(NotificationTelemetry?, Bool, OutcomeVerdict.Cause, ReplaySafety)])
    func theDeadlineMakesAFailureOfEverythingElse(
        last: NotificationTelemetry?, wasAnswered: Bool, cause: OutcomeVerdict.Cause, safety: ReplaySafety
    ) {
        let verdict = OutcomeVerdict(late: last, wasAnswered: wasAnswered)
        #expect(verdict == OutcomeVerdict(.failed, cause: cause, outcome: .ambiguous, replaySafety: safety))
    }
}
