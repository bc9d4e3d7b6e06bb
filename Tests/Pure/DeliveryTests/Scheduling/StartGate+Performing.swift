import Delivery

extension StartGate {
    /// What happens to a request that goes by the gate's answers.
    static func effects(of request: StartRequest, with lookUps: inout StartLookUps) -> [StartEffect] {
        var (facts, effects) = (request.facts, [StartEffect]())
        var gate = next(facts)
        // A step that finds nothing new would come again for ever.
        while gate.isStep, effects.count < allCases.count {
            effects.append(gate.perform(on: &facts, with: &lookUps, isSpread: request.spread))
            gate = next(facts)
        }
        return effects + [.ended(gate)]
    }

    /// Performs a step, and adds what it finds.
    private func perform(on facts: inout StartFacts, with lookUps: inout StartLookUps, isSpread: Bool) -> StartEffect {
        switch self {
        case .takeTurn:
            facts.insert(lookUps.ask(.isKeyFree) ? .hasTurn : .isBehindKey)
            return .turnAsked
        case .checkTenant:
            facts.insert(lookUps.ask(.isTenantFull) ? [.isTenantChecked, .isTenantFull] : .isTenantChecked)
            return .tenantChecked
        case .deduplicate:
            facts.insert(lookUps.ask(.isNew) ? .isNew : .hasFaults)
            return .deduplicated
        case .findOutcome:
            facts.insert(lookUps.ask(.isKnown) ? [.isLookedUp, .isConcluded] : .isLookedUp)
            return .lookedUp(takesIn: !facts.contains(.isNew))
        case .checkTime:
            facts.insert(lookUps.ask(.isDue) ? .isDue : .isGone)
            return .timeChecked
        case .plan:
            facts.insert(lookUps.ask(.isSendable) ? .isPlanned : .hasFaults)
            if facts.contains(.isPlanned), isSpread || lookUps.ask(.isLarge) { facts.insert(.isLarge) }
            return .planned(looksForRepetition: !facts.contains(.isNew))
        case .restore:
            facts.insert(lookUps.ask(.isRestored) ? .isRestored : .isGone)
            return .restored
        case .delay:
            facts.insert(lookUps.ask(.isDelayed) ? .isGone : .waitsHere)
            return .delaySought
        case .checkHold:
            facts.insert(lookUps.ask(.isPassed) ? .isHoldChecked : .isGone)
            return .holdChecked
        case .checkRoom:
            facts.insert(lookUps.ask(.hasRoom) ? .hasRoom : .isGone)
            return .roomChecked
        default: return .ended(self)
        }
    }
}
