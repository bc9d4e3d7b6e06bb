import Testing

@testable import Delivery

/// What becomes of requests in work when their partitions are given up.
struct DrainGateTests {
    /// One request after the other, as far as it is known, and its end.
    @Test(
        arguments: [
            // Nothing was sent: its record says all.
            ([], .forget), ([.isCommittable], .forget), ([.isCancelled], .forget),
            // An answer is awaited, whatever else is known.
            ([.hasCallInFlight], .stay), ([.hasCallInFlight, .wasSent, .isCommittable], .stay),
            ([.hasCallInFlight, .wasSent, .mayHaveArrived, .isCommittable], .stay),
            // All that failed waits; one call is done and another waits. Both are handed over.
            ([.wasSent, .isCommittable], .handOver), ([.wasSent, .mayHaveArrived, .isCommittable], .handOver),
            // Without a place, or a commit, attempts are forgotten, and calls that may have rung are not.
            ([.wasSent, .isCommittable, .hasNoPlace], .forget), ([.wasSent], .forget),
            ([.wasSent, .mayHaveArrived, .isCommittable, .hasNoPlace], .stay), ([.wasSent, .mayHaveArrived], .stay),
            // What is cancelled has its end here, or at the next owner if nothing rang.
            ([.wasSent, .isCommittable, .isCancelled], .forget),
            ([.wasSent, .mayHaveArrived, .isCommittable, .isCancelled], .stay),
        ] as [(DrainFacts, DrainGate)])
    func whatIsKnownDecidesWhatBecomesOfIt(facts: DrainFacts, gate: DrainGate) { #expect(DrainGate.next(facts) == gate) }

    @Test func ofAllThatCanBeKnownNothingThatRangIsForgottenAndNothingThatWaitsIsKept() {
        for bits in 0..<UInt8(1 << DrainFacts.count) {
            let facts = DrainFacts(rawValue: bits)
            let gate = DrainGate.next(facts)
            if facts.contains(.mayHaveArrived) { #expect(gate != .forget, "\(facts)") }
            if facts.contains(.hasCallInFlight) { #expect(gate == .stay, "\(facts)") }
            if gate == .handOver { #expect(facts.isSuperset(of: [.wasSent, .isCommittable]), "\(facts)") }
            if facts.isDisjoint(with: [.hasCallInFlight, .isCancelled, .hasNoPlace]),
                facts.isSuperset(of: [.wasSent, .isCommittable])
            {
                #expect(gate == .handOver, "\(facts)")
            }
            if gate == .handOver { #expect(DrainGate.next(facts.union(.hasNoPlace)) != .handOver, "it is asked again once") }
        }
    }
}
