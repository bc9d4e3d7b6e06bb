import Basics

/// Units that brokers rejected alone. Each waits, longer every time, and is offered again by itself while all others go on.
///
/// The record is at fault if its topics took others since, and kept rejecting it for `patience`. Before that it may be the topic: an
/// operator set a limit too low, and will notice. Where one of them is taken after all, the topic was at fault, and those that it had
/// rejected are offered with all others.
///
/// In order, nothing can be offered behind such a unit that would show whether its topic is at fault. So it is given up after `patience`
/// without a proof; but one at a time in all partitions, and none while its dead letter is not taken either. That costs one result for
/// each `patience` where a topic is at fault, and one in all where nothing is taken.
///
/// Which unit of a batch is at fault, brokers do not say. The batch is halved until one is alone. Only units of that batch are offered
/// meanwhile: others that come in would hide it for ever.
struct RefusedUnits: Sendable, Equatable {
    private struct RefusedUnit: Sendable, Equatable {
        let topics: Set<CommitTopic>
        /// The topics that have taken nothing since.
        var silentTopics: Set<CommitTopic>
        /// The moment of its first rejection.
        let since: MonotonicTime
        /// The time that it waits, nanoseconds.
        let wait: Int64
        /// Until when it waits.
        let retryAt: MonotonicTime
        /// True if it is offered with all others.
        var isReleased = false
    }

    static let firstWait: Int64 = 500_000_000
    static let longestWait: Int64 = 30_000_000_000
    /// The number of units that were rejected, while none was taken, from which it seems that nothing can be recorded. A few may
    /// be at fault themselves, which only others can tell.
    static let stuckCount = 8
    /// The longest time after which it is tried again whether something can be: 10 s in nanoseconds.
    static let longestPause: Int64 = 10_000_000_000
    /// From so many units on a commit may have any number, because nothing was rejected for long.
    private static let endOfSearch = 4096

    /// The time for which a unit is rejected before it is given up, nanoseconds.
    let patience: Int64
    private var refusals: [CommitUnit.ID: RefusedUnit] = [:]
    /// The units among which one is at fault, of the last batch that was rejected. None where nothing is searched.
    private(set) var suspects: Set<CommitUnit.ID> = []
    /// The number of units that may be offered together when nothing is searched.
    private var limitAfterSearch = Int.max
    /// The unit that was given up without a proof and whose dead letter is not taken yet.
    private var trial: CommitUnit.ID?
    /// Before when no other is given up without a proof.
    private var nextTrial = MonotonicTime.past
    /// The units of the batch whose rejection began the present search.
    private var searched: Set<CommitUnit.ID> = []
    /// The topics that have taken something since then.
    private var taken: Set<CommitTopic> = []
    /// Before when none is offered by itself but one that may be given up.
    private var nextProbe = MonotonicTime.past
    /// The units that were rejected for the first time since brokers took something.
    private var newCount = 0
    /// The moment before which nothing may be begun, because brokers reject so much, and take nothing. That ends now and then, because what is begun shows
    /// whether results are taken again.
    private(set) var pausedUntil = MonotonicTime.past
    /// The length of that pause, nanoseconds.
    private var pause: Int64 = 0

    /// A unit is rejected for `patience` nanoseconds before it is given up.
    init(patience: Int64) { self.patience = max(0, patience) }

    var isEmpty: Bool { refusals.isEmpty && suspects.isEmpty }

    /// The number of units that may be offered together: half of the suspects, so that each commit shows as much as it can. What
    /// rejected one may reject others, so after a search it is one, and twice as many with each commit.
    var unitLimit: Int { suspects.isEmpty ? limitAfterSearch : max(1, suspects.count / 2) }

    /// True if what brokers take shows anything.
    var isLearning: Bool { !isEmpty || limitAfterSearch < .max || trial != nil }

    /// True if a unit is offered now, if nothing but rejections is considered.
    func allows(_ id: CommitUnit.ID) -> Bool { !holdsBack(id) && (suspects.isEmpty || suspects.contains(id)) }

    /// True if a unit is not offered with others.
    func holdsBack(_ id: CommitUnit.ID) -> Bool { refusals[id].map { !$0.isReleased } ?? false }

    /// True if a unit is given up if it is rejected now. A dead letter is not: nothing could stand for it. What stays beside one
    /// is not given up without a proof. `isInOrder` if it holds up all behind it.
    func isHopeless(_ unit: CommitUnit, isInOrder: Bool, now: MonotonicTime) -> Bool {
        guard unit.topics != [.deadLetters], let refusal = refusals[unit.id] else { return false }
        guard now - refusal.since >= patience else { return false }
        if refusal.silentTopics.isEmpty { return true }
        return isInOrder && !unit.topics.contains(.deadLetters) && trial == nil && now >= nextTrial
    }

    /// The moment at which a unit will be offered by itself: `past` for at once, `never` for one that was not rejected. One that
    /// `isHurried` does not wait for its turn.
    func moment(of unit: CommitUnit, isInOrder: Bool, now: MonotonicTime, isHurried: Bool) -> MonotonicTime {
        guard let refusal = refusals[unit.id] else { return .never }
        if isHopeless(unit, isInOrder: isInOrder, now: now) { return .past }
        return isHurried ? nextProbe : max(refusal.retryAt, nextProbe)
    }

    /// Notes that a batch was rejected. If it has units that were not searched before, what topics took so far proves nothing.
    mutating func rejected(_ units: [CommitUnit]) {
        let ids = Set(units.map(\.id))
        guard !ids.isSubset(of: searched) else { return }
        searched = ids
        taken.removeAll()
    }

    /// Notes that a batch was rejected and will be halved.
    mutating func suspect(_ units: [CommitUnit]) {
        suspects = Set(units.map(\.id))
        limitAfterSearch = 1
    }

    /// Notes that none of the suspects can be offered.
    mutating func searchEnded() { suspects.removeAll() }

    /// Notes that a unit was rejected alone.
    mutating func refused(_ unit: CommitUnit, now: MonotonicTime) {
        if suspects.contains(unit.id) { suspects.removeAll() }
        let known = refusals[unit.id]
        let wait = known.map { min($0.wait * 2, Self.longestWait) } ?? Self.firstWait
        let silent = (known?.silentTopics ?? unit.topics).subtracting(taken)
        refusals[unit.id] = RefusedUnit(
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
            if unit.id == trial { trial = nil }
            topics.formUnion(unit.topics)
            if refusals.removeValue(forKey: unit.id) != nil { recovered.formUnion(unit.topics) }
        }
        taken.formUnion(topics)
        limitAfterSearch = limitAfterSearch < Self.endOfSearch / 2 ? limitAfterSearch * 2 : .max
        endPause()
        for id in Array(refusals.keys) {
            refusals[id]?.silentTopics.subtract(topics)
            if refusals[id]?.topics.isDisjoint(with: recovered) == false { refusals[id]?.isReleased = true }
        }
    }

    /// Notes that a dead letter stands for a unit from now on.
    mutating func gaveUp(_ id: CommitUnit.ID, now: MonotonicTime) {
        suspects.removeAll()
        if let refusal = refusals.removeValue(forKey: id), !refusal.silentTopics.isEmpty {
            trial = id
            nextTrial = now + patience
        }
        if refusals.isEmpty { endPause() }
    }

    /// Notes that the partitions of all units have gone.
    mutating func removeAll() {
        suspects.removeAll()
        refusals.removeAll()
        searched.removeAll()
        taken.removeAll()
        limitAfterSearch = .max
        trial = nil
        endPause()
    }

    private mutating func endPause() { (newCount, pause, pausedUntil) = (0, 0, .past) }
}
