import Delivery
import Testing

struct StartGateTests {
    /// One request after the other, as far as it is known, and what is done next.
    @Test(
        arguments: [
            // The shortest way: a request of one hub, without key or tenant.
            ([], .checkTenant), ([.isTenantChecked], .plan), ([.isTenantChecked, .isPlanned], .checkRoom),
            ([.isTenantChecked, .hasRoom, .isPlanned], .send),
            // Keys come first, in the order of the records, and each is examined before it waits.
            ([.wantsTurn], .takeTurn), ([.wantsTurn, .isBehindKey], .deduplicate),
            ([.wantsTurn, .isBehindKey, .isNew], .waitForKey),
            ([.wantsTurn, .isBehindKey, .hasFaults], .refuse), ([.wantsTurn, .hasTurn], .checkTenant),
            ([.wantsTurn, .hasTurn, .isNew], .checkTenant),
            // Tenants are next; what has no hub, or several, takes nobody's place.
            ([.isTenantChecked, .isTenantFull], .deduplicate), ([.isTenantChecked, .isTenantFull, .isNew], .buffer),
            ([.isTenantChecked, .isNew], .plan),
            ([.isTenantChecked, .isTenantFull, .hasFaults], .refuse), ([.isUnrouted], .plan), ([.isSpread], .plan),
            ([.wantsTurn, .isUnrouted], .takeTurn), ([.wantsTurn, .hasTurn, .isSpread], .plan),
            // What is known needs no call.
            ([.isConcluded], .record), ([.isConcluded, .hasFaults], .record), ([.isConcluded, .wantsTurn], .record),
            ([.isTenantChecked, .mayBeKnown], .findOutcome), ([.isTenantChecked, .mayBeKnown, .isLookedUp], .plan),
            ([.mayBeKnown, .hasFaults], .refuse),
            ([.mayBeKnown, .isLookedUp, .isConcluded], .record),
            // Polls are no requests.
            ([.isPoll], .poll), ([.isPoll, .mayBeKnown], .findOutcome), ([.isPoll, .isConcluded], .record),
            // What continues a division is divided, even if it is cancelled.
            ([.continues], .expand), ([.continues, .wantsTurn, .isCancelled, .isTooLate], .expand),
            ([.continues, .hasFaults], .refuse),
            // From a lane: its time, its plan, and what happened before. It does not wait again for a time of its own, nor expires here.
            ([.isDelayed], .checkTime), ([.isDelayed, .hasFaults], .checkTime), ([.isDelayed, .isDue, .hasFaults], .refuse),
            ([.isDelayed, .isGone], .done), ([.isDelayed, .isDue], .plan), ([.isDelayed, .isDue, .isPlanned], .restore),
            ([.isDelayed, .isDue, .isPlanned, .isTooEarly, .isTooLate, .isRestored], .checkRoom),
            ([.isDelayed, .isCancelled], .plan),
            ([.isDelayed, .isCancelled, .isPlanned], .restore), ([.isDelayed, .isCancelled, .isPlanned, .isRestored], .cancel),
            ([.isDelayed, .mayBeKnown], .checkTime),
            // What is planned ends, or waits.
            ([.isTenantChecked, .isPlanned, .isDryRun], .endDryRun),
            ([.isTenantChecked, .isPlanned, .isDryRun, .isTooLate], .endDryRun),
            ([.isTenantChecked, .isPlanned, .isTooLate], .expire),
            ([.isTenantChecked, .isPlanned, .isTooLate, .isTooEarly], .expire),
            ([.isTenantChecked, .isPlanned, .isTooLate, .isCancelled], .expire),
            ([.isTenantChecked, .isPlanned, .isCancelled], .cancel),
            ([.isTenantChecked, .isPlanned, .isCancelled, .isTooEarly], .cancel),
            ([.isTenantChecked, .isPlanned, .isTooEarly], .delay),
            ([.isTenantChecked, .isPlanned, .isTooEarly, .isGone], .done),
            ([.isTenantChecked, .isPlanned, .isTooEarly, .waitsHere], .checkRoom),
            ([.isTenantChecked, .isPlanned, .isGone], .done),
            // A hub that is not there: cancelled requests need none.
            ([.isUnrouted, .isPlanned], .unrouted), ([.isUnrouted, .isPlanned, .isDryRun], .unrouted),
            ([.isUnrouted, .isPlanned, .isCancelled], .cancel),
            // Large requests wait, and end, as a whole.
            ([.isTenantChecked, .isPlanned, .isLarge], .expand), ([.isTenantChecked, .isPlanned, .isLarge, .isTooEarly], .delay),
            ([.isTenantChecked, .isPlanned, .isLarge, .isTooEarly, .waitsHere], .expand),
            ([.isTenantChecked, .isPlanned, .isLarge, .isTooLate], .expand),
            ([.isTenantChecked, .isPlanned, .isLarge, .isCancelled], .endWhole),
            ([.isTenantChecked, .isPlanned, .isLarge, .isDryRun], .endWhole),
            // Where too many have not ended, another one waits in a lane, if there is one. What continues one ends it.
            ([.isTenantChecked, .isPlanned, .isLarge, .areWholesFull], .deferWhole),
            ([.isDelayed, .isDue, .isPlanned, .isLarge, .areWholesFull], .deferWhole),
            ([.isDelayed, .isDue, .isPlanned, .isLarge, .areWholesFull, .waitsHere], .expand),
            ([.isTenantChecked, .isPlanned, .isLarge, .areWholesFull, .isCancelled], .endWhole),
            ([.isTenantChecked, .isPlanned, .isLarge, .areWholesFull, .isTooEarly], .delay),
            ([.continues, .areWholesFull], .expand), ([.isTenantChecked, .hasRoom, .isPlanned, .areWholesFull], .send),
            ([.isDelayed, .isDue, .isPlanned, .isLarge, .isTooEarly], .expand), ([.isSpread, .isPlanned, .isLarge], .expand),
        ] as [(StartFacts, StartGate)])
    func whatIsKnownDecidesWhatIsNext(facts: StartFacts, gate: StartGate) {
        #expect(StartGate.next(facts.union(.isHoldChecked)) == gate)
    }

    /// What is planned, is not cancelled and needs not wait for its own time asks for holds. All else does not.
    @Test(
        arguments: [
            ([.isTenantChecked, .isPlanned], .checkHold), ([.isTenantChecked, .isPlanned, .hasRoom], .checkHold),
            ([.isTenantChecked, .isPlanned, .isCancelled], .cancel), ([.isTenantChecked, .isPlanned, .isDryRun], .endDryRun),
            ([.isTenantChecked, .isPlanned, .isTooLate], .expire), ([.isTenantChecked, .isPlanned, .isTooEarly], .delay),
            ([.isTenantChecked, .isPlanned, .isTooEarly, .waitsHere], .checkHold),
            ([.isDelayed, .isDue, .isPlanned], .restore), ([.isDelayed, .isDue, .isPlanned, .isRestored], .checkHold),
            ([.isTenantChecked, .isPlanned, .isLarge], .checkHold),
            ([.isTenantChecked, .isPlanned, .isLarge, .isCancelled], .endWhole),
            ([.isTenantChecked, .isPlanned, .isLarge, .areWholesFull], .checkHold), ([.isPoll], .poll), ([.continues], .expand),
            ([.isUnrouted, .isPlanned], .unrouted), ([.isTenantChecked, .isPlanned, .isGone], .done),
        ] as [(StartFacts, StartGate)])
    func aHoldIsAskedForLast(facts: StartFacts, gate: StartGate) { #expect(StartGate.next(facts) == gate) }

    /// Of all requests that can come up, and whatever is found on their way: what is done to them, in order, and what becomes of them.
    @Test func everyRequestGoesTheWayThatItWentBefore() {
        var (count, ends) = (0, Set<StartGate>())
        for bits in 0..<1 << StartRequest.fields.count {
            let request = StartRequest(bits: bits)
            guard request.isPossible else { continue }
            var lookUps = StartLookUps()
            repeat {
                let before = StartOrderBefore.effects(of: request, with: &lookUps)
                let now = StartGate.effects(of: request, with: &lookUps)
                guard before == now else {
                    Issue.record("\(request), \(lookUps): \(now), and it was \(before)")
                    return
                }
                if case .ended(let gate) = now.last { ends.insert(gate) }
                count += 1
            } while lookUps.next()
        }
        #expect(count > 80_000)
        #expect(ends == Set(StartGate.allCases.filter { !$0.isStep }))
    }

    /// A step finds something, and the gate is asked again. All else is the last word.
    @Test func theGateIsAskedAgainAfterAStepAlone() {
        let steps: Set<StartGate> = [
            .takeTurn, .checkTenant, .deduplicate, .findOutcome, .checkTime, .plan, .restore, .delay, .checkHold, .checkRoom,
            .deferWhole,
        ]
        #expect(Set(StartGate.allCases.filter(\.isStep)) == steps)
    }
}
