import Delivery

/// The order in which requests started before `StartGate` decided it: two functions with many ways out, here over plain truths.
struct StartOrderBefore {
    private var flight: StartRequest
    private var lookUps: StartLookUps
    private var calls = true
    private var effects: [StartEffect] = []

    /// What happens to a request.
    static func effects(of request: StartRequest, with lookUps: inout StartLookUps) -> [StartEffect] {
        var order = StartOrderBefore(flight: request, lookUps: lookUps)
        if request.isTenantChecked { order.start() } else { order.startOrBuffer() }
        lookUps = order.lookUps
        return order.effects
    }

    private init(flight: StartRequest, lookUps: StartLookUps) {
        self.flight = flight
        self.lookUps = lookUps
    }

    private mutating func startOrBuffer() {
        if flight.remaining, !flight.faults { return effects.append(.ended(.expand)) }
        if flight.orderingKey, waitsForItsKey() { return }
        // Of polls that lay beyond their window nothing was said here, so that one could be buffered as if it were a request.
        guard !flight.delayed, !flight.deadLetter, !flight.faults, !flight.routeFault, !flight.spread, !flight.poll else {
            return start()
        }
        effects.append(.tenantChecked)
        guard lookUps.ask(.isTenantFull), flight.isKnownAsNew || isNew() else { return start() }
        effects.append(.ended(.buffer))
    }

    private mutating func waitsForItsKey() -> Bool {
        guard !flight.key, !flight.delayed, !flight.deadLetter, !flight.faults else { return false }
        effects.append(.turnAsked)
        if lookUps.ask(.isKeyFree) {
            flight.key = true
            return false
        }
        guard isNew() else {
            start()
            return true
        }
        effects.append(.ended(.waitForKey))
        return true
    }

    private mutating func isNew() -> Bool {
        effects.append(.deduplicated)
        if lookUps.ask(.isNew) { return true }
        flight.faults = true
        return false
    }

    private mutating func start() {
        if flight.deadLetter || isKnown() { return effects.append(.ended(.record)) }
        if flight.poll { return effects.append(.ended(.poll)) }
        if flight.delayed, !flight.isCancelled, !isDue() { return effects.append(.ended(.done)) }
        if !flight.faults { prepare() }
        guard !flight.faults else { return effects.append(.ended(.refuse)) }
        if flight.routeFault, !flight.isCancelled { return effects.append(.ended(.unrouted)) }
        if !calls { return startLarge() }
        if flight.dryRun { return effects.append(.ended(.endDryRun)) }
        if flight.delayed {
            effects.append(.restored)
            guard lookUps.ask(.isRestored) else { return effects.append(.ended(.done)) }
        } else if flight.isTooLate {
            return effects.append(.ended(.expire))
        } else if !flight.isCancelled, delayStart() {
            return effects.append(.ended(.done))
        }
        if flight.isCancelled { return effects.append(.ended(.cancel)) }
        if waitsForHold() { return effects.append(.ended(.done)) }
        if !flight.cannotBeDeferred, postpone() { return effects.append(.ended(.done)) }
        effects.append(.ended(.send))
    }

    private mutating func isKnown() -> Bool {
        guard flight.isBeforeKnownEnd, !flight.delayed, !flight.faults else { return false }
        effects.append(.lookedUp(takesIn: !flight.isKnownAsNew))
        return lookUps.ask(.isKnown)
    }

    private mutating func isDue() -> Bool {
        effects.append(.timeChecked)
        return lookUps.ask(.isDue)
    }

    private mutating func prepare() {
        effects.append(.planned(looksForRepetition: !flight.isKnownAsNew))
        guard lookUps.ask(.isSendable) else { return flight.faults = true }
        calls = !flight.spread && !lookUps.ask(.isLarge)
    }

    private mutating func startLarge() {
        if flight.dryRun { return effects.append(.ended(.endWhole)) }
        if !flight.delayed, !flight.isCancelled, delayStart() { return effects.append(.ended(.done)) }
        if !flight.isCancelled, waitsForHold() { return effects.append(.ended(.done)) }
        effects.append(.ended(flight.isCancelled ? .endWhole : .expand))
    }

    private mutating func delayStart() -> Bool {
        guard flight.isTooEarly else { return false }
        effects.append(.delaySought)
        return lookUps.ask(.isDelayed)
    }

    private mutating func waitsForHold() -> Bool {
        guard flight.areOrdersStanding else { return false }
        effects.append(.holdChecked)
        return !lookUps.ask(.isPassed)
    }

    private mutating func postpone() -> Bool {
        effects.append(.roomChecked)
        return !lookUps.ask(.hasRoom)
    }
}
