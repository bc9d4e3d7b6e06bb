/// The known facts of a request that is to start. A step of `StartGate` adds to it, and takes nothing away.
public struct StartFacts: OptionSet, Sendable, Hashable {
    /// The facts as bits.
    public let rawValue: UInt32

    /// Facts from their bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    private init(bit: UInt32) { rawValue = 1 << bit }

    /// It continues a large request that was divided in part.
    public static let continues = StartFacts(bit: 0)
    /// It has an ordering key, and comes from where it was published.
    public static let wantsTurn = StartFacts(bit: 1)
    /// Its key's turn is its own.
    public static let hasTurn = StartFacts(bit: 2)
    /// Another request of its key comes first.
    public static let isBehindKey = StartFacts(bit: 3)
    /// Its tenant was checked, or has no need to be.
    public static let isTenantChecked = StartFacts(bit: 4)
    /// Its tenant has enough calls waiting.
    public static let isTenantFull = StartFacts(bit: 5)
    /// It repeats none.
    public static let isNew = StartFacts(bit: 6)
    /// Its result is known, and no call is made.
    public static let isConcluded = StartFacts(bit: 7)
    /// Its outcome may be known from before its partition was lost.
    public static let mayBeKnown = StartFacts(bit: 8)
    /// It was looked up whether its outcome is known.
    public static let isLookedUp = StartFacts(bit: 9)
    /// It is a call whose outcome is polled.
    public static let isPoll = StartFacts(bit: 10)
    /// It comes from a delay lane, or was held.
    public static let isDelayed = StartFacts(bit: 11)
    /// The time that it waited for has come.
    public static let isDue = StartFacts(bit: 12)
    /// Its calls are planned.
    public static let isPlanned = StartFacts(bit: 13)
    /// It cannot be sent.
    public static let hasFaults = StartFacts(bit: 14)
    /// There is no hub for it.
    public static let isUnrouted = StartFacts(bit: 15)
    /// It goes to several hubs, in parts.
    public static let isSpread = StartFacts(bit: 16)
    /// It needs more calls than one request may make.
    public static let isLarge = StartFacts(bit: 17)
    /// Nothing of it is sent.
    public static let isDryRun = StartFacts(bit: 18)
    /// It has expired.
    public static let isTooLate = StartFacts(bit: 19)
    /// It must not be sent yet.
    public static let isTooEarly = StartFacts(bit: 20)
    /// It is cancelled.
    public static let isCancelled = StartFacts(bit: 21)
    /// Its calls have what happened to them before.
    public static let isRestored = StartFacts(bit: 22)
    /// It does not wait in a lane: the wait is too short for one, or no lane is there.
    public static let waitsHere = StartFacts(bit: 23)
    /// Its hub has room for it, or it cannot be deferred.
    public static let hasRoom = StartFacts(bit: 24)
    /// Nothing is left to do for it here: it was written elsewhere, waits in its lane, or is finished.
    public static let isGone = StartFacts(bit: 25)
    /// Large requests that have not ended take all the memory that they may.
    public static let areWholesFull = StartFacts(bit: 26)
    /// No hold keeps it from being begun, or it waits here for the end of one.
    public static let isHoldChecked = StartFacts(bit: 27)
}

/// The next thing to do with a request that is to start: the order in which that is decided, and nothing else.
///
/// A request that waits comes by more than once: with its turn, its time or its place. Until it is sent or has an end, each answer is
/// either a step, which finds more facts, or the last word.
public enum StartGate: Sendable, Equatable, CaseIterable {
    // Steps.
    /// The turn of its key is asked for. Finds `hasTurn` or `isBehindKey`.
    case takeTurn
    /// The calls of its tenant that wait are counted. Finds `isTenantChecked`, and perhaps `isTenantFull`.
    case checkTenant
    /// Duplicates of it are sought before it waits. Finds `isNew` or `hasFaults`.
    case deduplicate
    /// A known outcome is looked up. Finds `isLookedUp`, and perhaps `isConcluded`.
    case findOutcome
    /// The time that it waited for is checked. Finds `isDue`, or it `isGone` to wait on.
    case checkTime
    /// Its calls are planned and formatted. Finds `isPlanned`, and perhaps `hasFaults` or `isLarge`.
    case plan
    /// Its calls get what happened to them before. Finds `isRestored`, or it `isGone`.
    case restore
    /// A delay lane, or the topic of held requests, is sought for its wait. Finds `isGone`, `waitsHere` or `hasFaults`.
    case delay
    /// The holds that stand are asked. Finds `isHoldChecked`, or it waits elsewhere for the end of one and `isGone`.
    case checkHold
    /// Room at its hub is sought. Finds `hasRoom`, or it is deferred and `isGone`.
    case checkRoom
    /// A lane is sought in which it waits until other large requests have ended. Finds `waitsHere`, or it is there and `isGone`.
    case deferWhole

    // The last word.
    /// Its known result is recorded.
    case record
    /// It is a poll.
    case poll
    /// It is divided into parts.
    case expand
    /// It waits in memory for its key's turn.
    case waitForKey
    /// Its record is buffered until its tenant has a place.
    case buffer
    /// It is refused.
    case refuse
    /// It waits for a hub, or ends without one.
    case unrouted
    /// It ends as a whole, before it is divided: cancelled, or a dry run.
    case endWhole
    /// Its calls end without being made.
    case endDryRun
    /// Its calls end because it has expired.
    case expire
    /// Its calls end because it is cancelled.
    case cancel
    /// Its calls are made, or wait for their moments here.
    case send
    /// Nothing is left to do.
    case done

    /// True for a step: the gate is asked again with what it found.
    public var isStep: Bool {
        switch self {
        case .takeTurn, .checkTenant, .deduplicate, .findOutcome, .checkTime, .plan, .restore, .delay, .checkHold, .checkRoom,
            .deferWhole:
            true
        case .record, .poll, .expand, .waitForKey, .buffer, .refuse, .unrouted, .endWhole, .endDryRun, .expire, .cancel, .send,
            .done:
            false
        }
    }

    /// The answer to what is known.
    public static func next(_ facts: StartFacts) -> StartGate {
        if facts.contains(.isGone) { return .done }
        return buffering(facts) ?? planning(facts) ?? ending(facts) ?? .send
    }

    /// The gates of what was published: keys and tenants, in the order of the records.
    private static func buffering(_ facts: StartFacts) -> StartGate? {
        if facts.contains(.hasFaults) { return nil }
        if facts.contains(.continues) { return .expand }
        guard facts.isDisjoint(with: [.isDelayed, .isConcluded, .isPoll]) else { return nil }
        let gate: StartGate?
        if facts.contains(.wantsTurn), !facts.contains(.hasTurn) {
            guard facts.contains(.isBehindKey) else { return .takeTurn }
            gate = .waitForKey
        } else if facts.isDisjoint(with: [.isUnrouted, .isSpread]) {
            guard facts.contains(.isTenantChecked) else { return .checkTenant }
            gate = facts.contains(.isTenantFull) ? .buffer : nil
        } else {
            gate = nil
        }
        return gate == nil || facts.contains(.isNew) ? gate : .deduplicate
    }

    /// The gates that need no plan, and the plan.
    private static func planning(_ facts: StartFacts) -> StartGate? {
        if facts.contains(.isConcluded) { return .record }
        if facts.contains(.mayBeKnown), facts.isDisjoint(with: [.isLookedUp, .hasFaults, .isDelayed]) { return .findOutcome }
        if facts.contains(.isPoll) { return .poll }
        if facts.contains(.isDelayed), facts.isDisjoint(with: [.isCancelled, .isDue]) { return .checkTime }
        return facts.isDisjoint(with: [.isPlanned, .hasFaults]) ? .plan : nil
    }

    /// The gates of what is planned, or refused.
    private static func ending(_ facts: StartFacts) -> StartGate? {
        if facts.contains(.hasFaults) { return .refuse }
        if facts.contains(.isUnrouted), !facts.contains(.isCancelled) { return .unrouted }
        if facts.contains(.isDryRun) { return facts.contains(.isLarge) ? .endWhole : .endDryRun }
        if facts.contains(.isLarge) { return delaying(facts) ?? beginning(facts) }
        if facts.contains(.isDelayed), !facts.contains(.isRestored) { return .restore }
        if facts.contains(.isTooLate), !facts.contains(.isDelayed) { return .expire }
        if let gate = delaying(facts) { return gate }
        if facts.contains(.isCancelled) { return .cancel }
        if !facts.contains(.isHoldChecked) { return .checkHold }
        return facts.contains(.hasRoom) ? nil : .checkRoom
    }

    /// The gate of a large request that begins.
    private static func beginning(_ facts: StartFacts) -> StartGate {
        if facts.contains(.isCancelled) { return .endWhole }
        if !facts.contains(.isHoldChecked) { return .checkHold }
        return facts.contains(.areWholesFull) && !facts.contains(.waitsHere) ? .deferWhole : .expand
    }

    /// The gate of what must not be sent yet. What comes from a lane has waited.
    private static func delaying(_ facts: StartFacts) -> StartGate? {
        facts.contains(.isTooEarly) && facts.isDisjoint(with: [.isDelayed, .isCancelled, .waitsHere]) ? .delay : nil
    }
}
