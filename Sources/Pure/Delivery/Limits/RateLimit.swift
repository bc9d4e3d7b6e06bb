public import Basics

/// The calls per second to one hub: what all workers together may make, and what of it is this worker's.
///
/// Nothing is this worker's until the fleet has agreed (`FleetShare`), or, where there is no log to agree by, until it is known how many
/// partitions there are. Then its share is the part of them that it owns, and nothing is lent. So it is too where the log gives no share for
/// long, because it cannot be read: one partition whose leader is away must not stop all workers.
public struct RateLimit: Sendable {
    /// The limit of all workers together, thousandths of a call per second.
    public private(set) var limit: Int64
    /// The id of the order that sets it, or nil where settings do.
    public private(set) var order: String?
    private var bucket: TokenBucket
    private var fleet: FleetShare
    private var demand: RateDemand
    private var ownedCount = 0
    /// All partitions, when shares go by them.
    private var partitionCount: Int?
    /// All partitions as they were counted last, for when the fleet is silent. Nil before that.
    private var countedPartitions: Int?
    private var silence = FleetSilence()
    private var most = FleetShare.whole
    /// True if there can be no calls until partitions are assigned.
    private var isResting = false
    /// The moment since which calls have been waiting, or nil while none does.
    private var waitingSince: MonotonicTime?
    /// The time for which calls have waited for the rate in all, nanoseconds.
    public private(set) var waitedNanoseconds: Int64 = 0

    /// A limit of which this worker has no share yet.
    ///
    /// - Parameters:
    ///   - callsPerSecond: Of all workers together, 1 – 1,000,000.
    ///   - member: This worker's number in the fleet, which no other one has.
    ///   - now: The present moment, nanoseconds of a monotonic clock.
    public init(callsPerSecond: Int, member: UInt64, now: MonotonicTime) {
        limit = Self.thousandths(callsPerSecond)
        bucket = TokenBucket(rate: 0, now: now)
        fleet = FleetShare(member: member)
        demand = RateDemand(now: now)
    }

    /// Changes the limit of all workers together. Shares are parts of it, so that it does not matter who learns of it first.
    ///
    /// - Parameters:
    ///   - callsPerSecond: Of all workers together, 1 – 1,000,000.
    ///   - order: The id of the order that sets it, or nil where settings do.
    ///   - now: The present moment.
    public mutating func setLimit(callsPerSecond: Int, order: String? = nil, now: MonotonicTime) {
        limit = Self.thousandths(callsPerSecond)
        self.order = order
        apply(now)
    }

    /// Takes in how many partitions this worker owns. It begins to work on them.
    public mutating func owns(_ count: Int, now: MonotonicTime) {
        ownedCount = count
        if isResting {
            isResting = false
            most = demand.most(of: limit, before: FleetShare.whole, now: now)
        }
        fleet.wants(FleetShare.Claim(weight: count, most: most), now: now)
        apply(now)
    }

    /// Notes that this worker has no partitions until `owns` says which: its quota is redistributed meanwhile.
    public mutating func rests(now: MonotonicTime) {
        isResting = true
        if most > RateDemand.least { claim(RateDemand.least, now: now) }
        apply(now)
    }

    /// Shares go by partitions from now on, of which there are `count`. Nil when the fleet agrees on them again.
    public mutating func sharesByPartitions(_ count: Int?, now: MonotonicTime) {
        partitionCount = count
        apply(now)
    }

    /// Takes in how many partitions there are, by which shares go where the fleet has given none for 10 s.
    public mutating func counted(_ count: Int, now: MonotonicTime) {
        countedPartitions = count
        apply(now)
    }

    /// True if shares go by partitions because the fleet has given none for long.
    public var goesWithoutFleet: Bool { partitionCount == nil && countedPartitions != nil && silence.isLong }

    /// Lets time pass, whether or not anything can be announced.
    public mutating func timePassed(now: MonotonicTime) { apply(now) }

    /// Takes in what a worker has announced.
    public mutating func heard(_ announcement: FleetShare.Announcement, offset: Int64, now: MonotonicTime) {
        fleet.heard(announcement, offset: offset, now: now)
        apply(now)
    }

    /// Notes that time has passed, and says what to announce. Nil if nothing is.
    public mutating func announcement(now: MonotonicTime) -> FleetShare.Announcement? {
        let wanted = isResting ? RateDemand.least : demand.most(of: limit, before: most, now: now)
        if wanted != most { claim(wanted, now: now) }
        let announcement = fleet.announcement(now: now)
        apply(now)
        return announcement
    }

    /// Gives this worker's share back, and says what tells the others.
    public mutating func leave(now: MonotonicTime) -> FleetShare.Announcement {
        let announcement = fleet.leave()
        apply(now)
        return announcement
    }

    /// The moment at which `announcement(now:)` wants to be asked again.
    public var nextDue: MonotonicTime { min(fleet.nextDue, demand.nextWindow) }

    /// True if a call may start.
    public mutating func hasCall(now: MonotonicTime) -> Bool { bucket.hasCall(now: now) }

    /// Notes that a call starts, for which `hasCall` was true.
    public mutating func started() {
        bucket.take()
        demand.started()
    }

    /// The moment at which the next call may start, or nil if one may now. It is `never` while this worker has no share.
    public mutating func nextCall(now: MonotonicTime) -> MonotonicTime? { bucket.nextCall(now: now) }

    /// Notes whether calls wait, and for nothing but the rate.
    public mutating func noteWaiting(_ isWaiting: Bool, now: MonotonicTime) {
        if let since = waitingSince { waitedNanoseconds += now - since }
        waitingSince = isWaiting ? now : nil
        guard isWaiting else { return }
        demand.waited(now: now)
        isResting = false
        if most < FleetShare.whole { claim(FleetShare.whole, now: now) }
    }

    /// True if calls waited for it, and for nothing else, when that was noted last.
    public var isAwaited: Bool { waitingSince != nil }

    /// The rate of the calls that this worker may make at present, thousandths of a call per second.
    public var rate: Int64 { bucket.rate }

    /// The workers that this one knows of, itself included.
    public var memberCount: Int { fleet.memberCount }

    private mutating func claim(_ most: Int, now: MonotonicTime) {
        self.most = most
        fleet.wants(FleetShare.Claim(weight: ownedCount, most: most), now: now)
    }

    private mutating func apply(_ now: MonotonicTime) {
        var share = fleet.share
        silence.advance(hasShare: share > 0 || ownedCount == 0, now: now)
        if let count = partitionCount ?? (silence.isLong ? countedPartitions : nil) {
            share = count > 0 ? FleetShare.whole * min(ownedCount, count) / count : 0
        }
        // A limit is at most 10^9 and a share at most 10^6.
        let rate = limit * Int64(share) / Int64(FleetShare.whole)
        if rate != bucket.rate { bucket.setRate(rate, now: now) }
    }

    private static func thousandths(_ callsPerSecond: Int) -> Int64 {
        Int64(min(max(callsPerSecond, 1), 1_000_000)) * 1000
    }
}
