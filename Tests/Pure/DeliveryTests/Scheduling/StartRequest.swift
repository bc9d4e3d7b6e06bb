import Delivery

/// A request that is to start, as plain truths.
struct StartRequest: CustomStringConvertible {
    var remaining = false
    var orderingKey = false
    var key = false
    var deadLetter = false
    var poll = false
    var delayed = false
    var faults = false
    var routeFault = false
    var spread = false
    var isKnownAsNew = false
    /// It comes from where it was put aside for its tenant, or from a lane: today it enters by `start`, else by `startOrBuffer`.
    var isTenantChecked = false
    var isBeforeKnownEnd = false
    var isCancelled = false
    var dryRun = false
    var isTooLate = false
    var isTooEarly = false
    /// There is one hub, or no lane.
    var cannotBeDeferred = false
    /// A hold or a limit stands.
    var areOrdersStanding = false

    static let fields: [any WritableKeyPath<StartRequest, Bool> & Sendable] = [
        \.remaining, \.orderingKey, \.key, \.deadLetter, \.poll, \.delayed, \.faults, \.routeFault, \.spread, \.isKnownAsNew,
        \.isTenantChecked,
        \.isBeforeKnownEnd, \.isCancelled, \.dryRun, \.isTooLate, \.isTooEarly, \.cannotBeDeferred,
        \.areOrdersStanding,
    ]

    init() {}

    init(bits: Int) { for (bit, field) in Self.fields.enumerated() { self[keyPath: field] = bits >> bit & 1 == 1 } }

    /// True for what can come up.
    var isPossible: Bool {
        // A poll's record holds no request.
        if poll && (remaining || orderingKey) { return false }
        // What continues a division is divided when it is read, so it has no tenant to check.
        if remaining && isTenantChecked { return false }
        // Who was checked for its tenant, or deduplicated, had its turn before.
        return !orderingKey || key || delayed || deadLetter || faults || !isTenantChecked && !isKnownAsNew
    }

    /// The same for `StartGate`.
    var facts: StartFacts {
        var facts: StartFacts = []
        if remaining { facts.insert(.continues) }
        if orderingKey && !delayed { facts.insert(.wantsTurn) }
        if key { facts.insert(.hasTurn) }
        if deadLetter { facts.insert(.isConcluded) }
        if poll { facts.insert(.isPoll) }
        if delayed { facts.insert(.isDelayed) }
        if faults { facts.insert(.hasFaults) }
        if routeFault { facts.insert(.isUnrouted) }
        if spread { facts.insert(.isSpread) }
        if isKnownAsNew { facts.insert(.isNew) }
        if isTenantChecked { facts.insert(.isTenantChecked) }
        if isBeforeKnownEnd { facts.insert(.mayBeKnown) }
        if isCancelled { facts.insert(.isCancelled) }
        if dryRun { facts.insert(.isDryRun) }
        if isTooLate { facts.insert(.isTooLate) }
        if isTooEarly { facts.insert(.isTooEarly) }
        if cannotBeDeferred { facts.insert(.hasRoom) }
        if !areOrdersStanding { facts.insert(.isHoldChecked) }
        return facts
    }

    var description: String {
        "\(Mirror(reflecting: self).children.filter { $0.value as? Bool == true }.compactMap(\.label))"
    }
}

/// What is done to a request on its way, in order.
enum StartEffect: Equatable {
    case turnAsked, tenantChecked, deduplicated
    /// A request that was not examined before is taken in when its outcome is known.
    case lookedUp(takesIn: Bool)
    case timeChecked
    /// Repetitions are looked for, unless that was done before.
    case planned(looksForRepetition: Bool)
    case restored, delaySought, roomChecked, holdChecked
    case ended(StartGate)
}
