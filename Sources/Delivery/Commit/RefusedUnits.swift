/// Units that brokers rejected alone. Each waits, longer every time, and is offered again by itself while all others go on.
///
/// The record is at fault if its topics took others since, and kept rejecting it for `patience`. Before that it may be the topic: somebody
/// set a limit too low, and will notice. Where one of them is taken after all, the topic was at fault, and those that it had rejected are
/// offered with all others.
struct RefusedUnits: Sendable, Equatable {
    private struct Refusal: Sendable, Equatable {
        let topics: Set<CommitTopic>
        /// The topics that have taken nothing since.
        var silentTopics: Set<CommitTopic>
        /// When it was rejected first, monotonic nanoseconds.
        let since: Int64
        /// How long it waits, nanoseconds.
        let wait: Int64
        /// Until when it waits, monotonic nanoseconds.
        let retryAt: Int64
        /// Whether it is offered with all others.
        var isReleased = false
    }

    static let firstWait: Int64 = 500_000_000
    static let longestWait: Int64 = 30_000_000_000
    /// From so many units on that no topic has refuted, nothing can be recorded. A few may be at fault themselves, which only others can
    /// tell.
    static let stuckCount = 8

    /// How long a unit is rejected before it is given up, nanoseconds.
    let patience: Int64
    private var refusals: [CommitUnit.ID: Refusal] = [:]
    /// The topics that have taken something since the present search began.
    private var taken: Set<CommitTopic> = []
    /// Before when none is offered by itself but one that may be given up, monotonic nanoseconds.
    private var nextProbe = Int64.min
    private var silentCount = 0

    /// - Parameter patience: How long a unit is rejected before it is given up, nanoseconds.
    init(patience: Int64) {
        self.patience = max(0, patience)
    }

    var isEmpty: Bool { refusals.isEmpty }

    /// Whether topics reject so much, and take nothing, that nothing can be recorded at present.
    var isStuck: Bool { silentCount >= Self.stuckCount }

    /// Whether a unit is not offered with others.
    func holdsBack(_ id: CommitUnit.ID) -> Bool { refusals[id].map { !$0.isReleased } ?? false }

    /// Whether a unit is given up if it is rejected now. A dead letter is not: nothing could stand for it.
    func isHopeless(_ unit: CommitUnit, now: Int64) -> Bool {
        guard unit.topics != [.deadLetters], let refusal = refusals[unit.id] else { return false }
        return refusal.silentTopics.isEmpty && now - refusal.since >= patience
    }

    /// When a unit is to be offered by itself; `Int64.min` for at once.
    func moment(of unit: CommitUnit, now: Int64) -> Int64 {
        guard let refusal = refusals[unit.id] else { return .max }
        return isHopeless(unit, now: now) ? .min : max(refusal.retryAt, nextProbe)
    }

    /// Notes that a batch was rejected that will be halved.
    mutating func searchBegan() { taken.removeAll() }

    /// Notes that a unit was rejected alone.
    mutating func refused(_ unit: CommitUnit, now: Int64) {
        let known = refusals[unit.id]
        let wait = known.map { min($0.wait * 2, Self.longestWait) } ?? Self.firstWait
        let silent = (known?.silentTopics ?? unit.topics).subtracting(taken)
        refusals[unit.id] = Refusal(
            topics: unit.topics, silentTopics: silent, since: known?.since ?? now, wait: wait, retryAt: now + wait)
        nextProbe = now + Self.firstWait
        count()
    }

    /// Notes that brokers have taken units.
    mutating func took(_ units: [CommitUnit]) {
        var topics = Set<CommitTopic>()
        var recovered = Set<CommitTopic>()
        for unit in units {
            topics.formUnion(unit.topics)
            if refusals.removeValue(forKey: unit.id) != nil { recovered.formUnion(unit.topics) }
        }
        taken.formUnion(topics)
        for id in Array(refusals.keys) {
            refusals[id]?.silentTopics.subtract(topics)
            if refusals[id]?.topics.isDisjoint(with: recovered) == false { refusals[id]?.isReleased = true }
        }
        count()
    }

    /// Notes that something else stands for a unit from now on.
    mutating func forget(_ id: CommitUnit.ID) {
        refusals[id] = nil
        count()
    }

    /// Notes that the partitions of all units have gone.
    mutating func removeAll() {
        refusals.removeAll()
        silentCount = 0
    }

    private mutating func count() { silentCount = refusals.values.count { !$0.silentTopics.isEmpty } }
}
