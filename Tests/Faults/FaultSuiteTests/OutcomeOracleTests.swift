import FaultOracle
import PushModel
import Testing

@Suite struct OutcomeOracleTests {
    /// Two requests, the first of two calls, all accepted.
    private func finding(_ outcomes: [OutcomeFact]?) -> Finding? {
        var evidence = Evidence()
        evidence.inputs = [
            InputFact(Place(0, 1), .request(user: 1, isFlawed: false)),
            InputFact(Place(0, 2), .request(user: 2, isFlawed: false)),
        ]
        evidence.results = [
            ResultFact(
                Place(0, 1), user: 1, sends: [.init(isSuccess: true, notification: 7), .init(isSuccess: true, notification: 8)]),
            ResultFact(Place(0, 2), user: 2, sends: [.init(isSuccess: false), .init(isSuccess: true, notification: 9)]),
        ]
        evidence.outcomes = outcomes
        return Oracle(evidence).findings().first { $0.invariant == .outcomes }
    }

    private let all = [
        OutcomeFact(CallPlace(Place(0, 1), 0), notification: 7), OutcomeFact(CallPlace(Place(0, 1), 1), notification: 8),
        OutcomeFact(CallPlace(Place(0, 2), 1), notification: 9, state: .failed),
    ]

    @Test func eachAcceptedCallHasOneOutcome() {
        #expect(finding(nil) == nil)
        #expect(finding(all)?.measured == 0)
        #expect(finding([])?.measured == 3)
        #expect(finding(Array(all.dropLast()))?.examples == ["call 1 of 0:2 has no outcome"])
        #expect(finding(all + [all[0]])?.examples == ["one outcome too many for call 0 of 0:1"])
    }

    @Test func anOutcomeBelongsToACallThatWasAcceptedAndToItsNotification() {
        #expect(finding(all + [OutcomeFact(CallPlace(Place(0, 2), 0))])?.measured == 1)
        var swapped = all
        swapped[0].notification = 8
        #expect(finding(swapped)?.examples == ["the outcome of call 0 of 0:1 is another notification's"])
    }

    @Test func anOutcomeIsReadFromItsResult() throws {
        let text =
            #"{"kind":"outcome","state":"partial","sends":[{"index":1,"notification_id":"n"}],"#
            + #""origin":{"topic":"t","partition":3,"offset":"42"}}"#
        var reader = FactReader()
        let bytes = Array(text.utf8)
        let outcome = reader.outcome(bytes.span)
        let fact = try #require(outcome)
        #expect(fact.call == CallPlace(Place(3, 42), 1) && fact.state == .partial && fact.notification == Digest.of("n".utf8))
        let final = reader.result(bytes.span, at: 0)
        #expect(final == nil)
    }
}
