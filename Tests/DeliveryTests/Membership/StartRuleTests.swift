import Delivery
import Testing

struct StartRuleTests {
    /// The retained offsets, the first one that is young enough, and what comes of it.
    @Test(
        arguments: [
            (.safe, 0, 0, nil, .offset(0)), (.safe, 40, 40, nil, .offset(40)), (.safe, 0, 9, 0, .offset(0)),
            (.safe, 5, 9, 5, .offset(5)), (.safe, 0, 9, 1, .refused), (.safe, 0, 9, nil, .refused), (.safe, 5, 6, nil, .refused),
            (.beginning, 3, 9, nil, .offset(3)), (.end, 3, 9, 3, .offset(9)), (.moment(7), 3, 9, 5, .offset(5)),
            (.moment(7), 3, 9, nil, .offset(9)),
        ] as [(StartRule, Int64, Int64, Int64?, StartRule.Decision)])
    func aPartitionWithoutAPositionBeginsWhereTheRuleSays(
        rule: StartRule, low: Int64, high: Int64, since: Int64?, decision: StartRule.Decision
    ) {
        #expect(rule.decision(low: low, high: high, since: since) == decision)
    }

    @Test(
        arguments: [
            (.safe, 1_000_000, 400_000), (.safe, 5, 0), (.safe, .min, 0), (.safe, .max, .max - 600_000), (.beginning, 5, nil),
            (.end, 5, nil), (.moment(77), 5, 77), (.moment(-1), 5, 0),
        ] as [(StartRule, Int64, Int64?)])
    func onlyAgeAndMomentNeedATime(rule: StartRule, now: Int64, time: Int64?) {
        #expect(rule.time(now: now) == time)
    }

    /// What is retained, when what was read was published, what is newer, and what comes of it.
    @Test(
        arguments: [
            (.safe, 0, 5, 100, nil, .offset(5), .lostEnd), (.safe, 0, 9, 100, 6, .offset(6), .lostEnd),
            (.beginning, 0, 5, 100, nil, .offset(5), .lostEnd), (.safe, 0, 5, 100, 0, .offset(0), .madeAnew),
            (.end, 3, 5, 100, 3, .offset(3), .madeAnew), (.safe, 7, 7, 100, nil, .offset(7), .madeAnew),
            (.safe, 0, 5, nil, 0, .refused, .unknownEnd), (.beginning, 2, 5, nil, nil, .offset(2), .unknownEnd),
            (.end, 0, 5, nil, nil, .offset(5), .unknownEnd), (.moment(9), 0, 5, nil, 4, .offset(4), .unknownEnd),
        ] as [(StartRule, Int64, Int64, Int64?, Int64?, StartRule.Decision, StartRule.Cause)])
    func aPartitionThatEndsBeforeItsPositionGoesOnWhereNothingIsSentAgain(
        rule: StartRule, low: Int64, high: Int64, latest: Int64?, since: Int64?, decision: StartRule.Decision,
        cause: StartRule.Cause
    ) {
        #expect(rule.decisionBeyondEnd(low: low, high: high, latest: latest, since: since) == (decision, cause))
    }
}
