import Basics

/// Decides whether one more record may join those that were handed to Kafka's client and that it has not reported yet.
///
/// The queue stands still where the oldest record is older than a limit, and none was confirmed within that limit of being handed
/// over since. One partition without a leader does not stop the others so. While it stands still, a record is admitted every
/// second, on trial: that one is confirmed, or the queue is worked off, once brokers are well again. A value without a clock:
/// each call costs the same however many wait.
struct ProducerQueue: Sendable {
    /// The age at which the oldest record says that the queue stands still, in nanoseconds: less than the 5 s after which Kafka's
    /// client gives a record up, more than the choice of another leader usually takes.
    static let ageLimit: Int64 = 2_000_000_000
    /// Nanoseconds between two records on trial.
    static let trialInterval: Int64 = 1_000_000_000

    /// The most records of all publishers in it: as many as Kafka's client takes by default. One party has a quarter of them at most.
    package static let limit = 100_000

    /// Records that are handed over and not reported.
    package private(set) var count = 0
    /// How many records were refused.
    private(set) var refusedCount = 0
    /// Since when no record was confirmed in time although one waited; nil where the queue is known to move.
    private var waitingSince: MonotonicTime?
    private var lastAdmitted = MonotonicTime.past
    private var emptySince = MonotonicTime.past
    /// The records of publishers, by whose they are.
    private var shares: Shares<Party>

    init(limit: Int = ProducerQueue.limit) { shares = Shares(places: limit) }

    /// For how long no record was confirmed in time although one waited, in nanoseconds; 0 where the queue moves, or has rested.
    func age(at now: MonotonicTime) -> Int64 {
        guard let waitingSince, count > 0 || now - emptySince < Self.ageLimit else { return 0 }
        return max(0, now - waitingSince)
    }

    /// Whether the queue stands still.
    func standsStill(at now: MonotonicTime) -> Bool { age(at: now) > Self.ageLimit }

    /// Admits a record, whose end must be noted then, or refuses it. One without a party counts for no share.
    mutating func admit(for party: Party? = nil, at now: MonotonicTime) -> Bool {
        let mayJoin = !standsStill(at: now) || now - lastAdmitted >= Self.trialInterval
        guard mayJoin, party.map({ shares.take(for: $0) }) ?? true else {
            refusedCount += 1
            return false
        }
        lastAdmitted = now
        if age(at: now) == 0 { waitingSince = now }
        count += 1
        return true
    }

    /// Notes the end of a record that was admitted. `isAnswered` says that a broker has written it, or said why not.
    mutating func noteEnd(isAnswered: Bool, for party: Party? = nil, admittedAt start: MonotonicTime, at now: MonotonicTime) {
        count -= 1
        if let party { shares.give(back: 1, of: party) }
        if count == 0 {
            emptySince = now
            if isAnswered || !standsStill(at: now) { waitingSince = nil }
        } else if isAnswered, now - start <= Self.ageLimit {
            waitingSince = now
        }
    }
}
