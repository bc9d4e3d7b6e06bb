import Basics

/// Units that brokers rejected alone. Each waits, longer every time, and is offered again by itself while all others go on.
///
/// The record is at fault if its topics took others since, and kept rejecting it for `patience`. Before that it may be the topic: an
/// operator set a limit too low, and will notice. Where one of them is taken after all, the topic was at fault, and those that it had
/// rejected are offered with all others.
///
/// Which unit of a batch is at fault, brokers do not say. The batch is halved until one is alone. Only units of that batch are offered
/// meanwhile: others that come in would hide it for ever.
struct RefusedUnits: Sendable, Equatable {
    private struct Refusal: Sendable, Equatable {
        let topics: Set<CommitTopic>
        /// The topics that have taken nothing since.
        var silentTopics: Set<CommitTopic>
        /// When it was rejected first.
        let since: MonotonicTime
        /// How long it waits, nanoseconds.
        let wait: Int64
        /// Until when it waits.
        let retryAt: MonotonicTime
        /// Whether it is offered with all others.
        var isReleased = false
    }

    static let firstWait: Int64 = 500_000_000
    static let longestWait: Int64 = 30_000_000_000
    /// Where so many units were rejected and none was taken meanwhile, it seems that nothing can be recorded. A few may be at fault
    /// themselves, which only others can tell.
    static let stuckCount = 8
    /// The longest time after which it is tried again whether something can be: 10 s in nanoseconds.
    static let longestPause: Int64 = 10_000_000_000

    /// How long a unit is rejected before it is given up, nanoseconds.
    let patience: Int64
    private var refusals: [CommitUnit.ID: Refusal] = [:]
    /// The units among which one is at fault, of the last batch that was rejected; none where nothing is searched.
    private(set) var suspects: Set<CommitUnit.ID> = []
    /// The units of the batch whose rejection began the present search.
    private var searched: Set<CommitUnit.ID> = []
    /// The topics that have taken something since then.
    private var taken: Set<CommitTopic> = []
    /// Before when none is offered by itself but one that may be given up.
    private var nextProbe = MonotonicTime.past
    /// The units that were rejected for the first time since brokers took something.
    private var newCount = 0
    /// Until when nothing may be begun, and for how long, nanoseconds.
    private var pausedUntil = MonotonicTime.past
    private var pause: Int64 = 0

    /// - Parameter patience: How long a unit is rejected before it is given up, nanoseconds.
    init(patience: Int64) {
        self.patience = max(0, patience)
    }

    var isEmpty: Bool { refusals.isEmpty && suspects.isEmpty }

    /// How many units may be offered together.
    var unitLimit: Int { suspects.isEmpty ? .max : max(1, suspects.count / 2) }

    /// Whether a unit is offered now, if nothing but rejections is considered.
    func allows(_ id: CommitUnit.ID) -> Bool { !holdsBack(id) && (suspects.isEmpty || suspects.contains(id)) }

    /// Whether brokers reject so much, and take nothing, that nothing may be begun. That ends now and then, because what is begun tells
    /// whether results are taken again.
    func isStuck(now: MonotonicTime) -> Bool { now < pausedUntil }

    /// Whether a unit is not offered with others.
    func holdsBack(_ id: CommitUnit.ID) -> Bool { refusals[id].map { !$0.isReleased } ?? false }

    /// Whether a unit is given up if it is rejected now. A dead letter is not: nothing could stand for it.
    func isHopeless(_ unit: CommitUnit, now: MonotonicTime) -> Bool {
        guard unit.topics != [.deadLetters], let refusal = refusals[unit.id] else { return false }
        return refusal.silentTopics.isEmpty && now - refusal.since >= patience
    }

    /// When a unit will be offered by itself.
    ///
    /// - Parameters:
    ///   - unit: The unit.
    ///   - now: The present moment.
    ///   - isHurried: Whether it does not wait for its turn.
    /// - Returns: A moment; `past` for at once, `never` for one that was not rejected.
    func moment(of unit: CommitUnit, now: MonotonicTime, isHurried: Bool) -> MonotonicTime {
        guard let refusal = refusals[unit.id] else { return .never }
        if isHopeless(unit, now: now) { return .past }
        return isHurried ? nextProbe : max(refusal.retryAt, nextProbe)
    }

    /// Notes that a batch was rejected. Of units that were in none before, what topics took so far says nothing.
    mutating func rejected(_ units: [CommitUnit]) {
        let ids = Set(units.map(\.id))
        guard !ids.isSubset(of: searched) else { return }
        searched = ids
        taken.removeAll()
    }

    /// Notes that a batch was rejected that will be halved.
    mutating func suspect(_ units: [CommitUnit]) { suspects = Set(units.map(\.id)) }

    /// Notes that none of the suspects can be offered.
    mutating func searchEnded() { suspects.removeAll() }

    /// Notes that a unit was rejected alone.
    mutating func refused(_ unit: CommitUnit, now: MonotonicTime) {
        if suspects.contains(unit.id) { suspects.removeAll() }
        let known = refusals[unit.id]
        let wait = known.map { min($0.wait * 2, Self.longestWait) } ?? Self.firstWait
        let silent = (known?.silentTopics ?? unit.topics).subtracting(taken)
        refusals[unit.id] = Refusal(
            topics: unit.topics, silentTopics: silent, since: known?.since ?? now, wait: wait, retryAt: now + wait)
        nextProbe = now + Self.firstWait
        if known == nil { newCount += 1 }
        guard newCount >= Self.stuckCount, now >= pausedUntil else { return }
        pause = min(max(pause * 2, Self.firstWait), Self.longestPause)
        pausedUntil = now + pause
    }

    /// Notes that brokers have taken units.
    mutating func took(_ units: [CommitUnit]) {
        var topics = Set<CommitTopic>()
        var recovered = Set<CommitTopic>()
        for unit in units {
            suspects.remove(unit.id)
            topics.formUnion(unit.topics)
            if refusals.removeValue(forKey: unit.id) != nil { recovered.formUnion(unit.topics) }
        }
        taken.formUnion(topics)
        endPause()
        for id in Array(refusals.keys) {
            refusals[id]?.silentTopics.subtract(topics)
            if refusals[id]?.topics.isDisjoint(with: recovered) == false { refusals[id]?.isReleased = true }
        }
    }

    /// Notes that something else stands for a unit from now on.
    mutating func forget(_ id: CommitUnit.ID) {
        suspects.removeAll()
        refusals[id] = nil
        if refusals.isEmpty { endPause() }
    }

    /// Notes that the partitions of all units have gone.
    mutating func removeAll() {
        suspects.removeAll()
        refusals.removeAll()
        searched.removeAll()
        taken.removeAll()
        endPause()
    }

    private mutating func endPause() {
        (newCount, pause, pausedUntil) = (0, 0, .past)
    }
}
