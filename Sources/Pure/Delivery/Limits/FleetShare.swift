public import Basics

/// The share of a common limit that one member of a fleet may use, so that all together never use more than all of it.
///
/// There is no central service: members write what they claim to one log that all of them read in the same order (a Kafka partition). A
/// claim is a weight, the number of partitions that a member owns, and the most that it has use for. What one has no use for is lent to
/// the others by their weights. Four rules make it safe, whatever is delayed, stopped or killed, and without a common clock:
///
/// 1. Lowering a claim counts at once for its member; others may use it when they read of it.
/// 2. Raising a claim counts for the others when they read of it, and for its member only when all the others have said so (`seen`), or a
///    lease has passed since the member itself read it. By then each of the others has read it or has lost its lease.
/// 3. A member uses its share only while it has a lease: for 1 s from sending what it has read back itself last. So it has read all that
///    was written up to 1 s ago.
/// 4. A member is given up when everything was read that was written in 1 s since it was heard last. By then it has no lease, and
///    after losing one it begins with no share, as one does that is new.
///
/// Why it holds: let x be what each member may claim for itself now. Whichever of its claims another one has read last, it is no less
/// than x; and a share does not grow when others claim more. So no share is larger than with all of x, where they add up to the whole.
public struct FleetShare: Sendable {
    /// All of the limit, in parts.
    public static let whole = 1_000_000
    /// The largest weight.
    public static let highestWeight = 1_000_000
    /// The time for which a member may use its share after it was last known to be connected, nanoseconds.
    public static let lease: Int64 = 1_000_000_000
    /// The time after which a member says again that it is there, nanoseconds.
    public static let beat: Int64 = 250_000_000
    /// The rest of the lease when the member stops using it: time for what has begun to be over, nanoseconds.
    private static let margin: Int64 = 100_000_000
    /// The least time between two announcements, nanoseconds.
    private static let gap: Int64 = 10_000_000

    /// The claim of a member.
    public struct Claim: Sendable, Equatable {
        /// Its part of the fleet, 0 – `highestWeight`.
        public var weight: Int
        /// The most that it has use for, 0 – `whole`.
        public var most: Int

        /// A claim. Values outside their range are clamped.
        public init(weight: Int, most: Int = FleetShare.whole) {
            self.weight = min(max(weight, 0), FleetShare.highestWeight)
            self.most = min(max(most, 0), FleetShare.whole)
        }

        static let nothing = Claim(weight: 0, most: 0)

        func exceeds(_ other: Claim) -> Bool { weight > other.weight || most > other.most }

        func least(_ other: Claim) -> Claim { Claim(weight: min(weight, other.weight), most: min(most, other.most)) }
    }

    /// The words that a member writes to the log: all that the others need to know of it.
    public struct Announcement: Sendable, Equatable {
        /// The member's number, which no other one has.
        public var member: UInt64
        /// Grows with each announcement of the member.
        public var sequence: Int64
        /// The place in the log up to which the member has read, or -1 before the first.
        public var seen: Int64
        /// The claim of the member.
        public var claim: Claim
        /// True if it is the member's last one.
        public var hasLeft: Bool

        /// An announcement.
        public init(member: UInt64, sequence: Int64, seen: Int64, claim: Claim, hasLeft: Bool = false) {
            (self.member, self.sequence, self.seen, self.claim, self.hasLeft) = (member, sequence, seen, claim, hasLeft)
        }
    }

    private struct Member: Sendable {
        var claim: Claim
        var seen: Int64
        var heardAt: MonotonicTime
    }

    /// A claim that is higher than what may be used yet.
    private struct Raise: Sendable {
        /// The first announcement that has it.
        var sequence: Int64
        /// The place of it in the log, and the moment at which it was read there. Nil before that.
        var offset: Int64?
        var readAt = MonotonicTime.past
    }

    private let member: UInt64
    private var others: [UInt64: Member] = [:]
    /// The claim that is wanted, the part of it that is announced, and the part of that which may be used already.
    private var wanted = Claim.nothing
    private var claim = Claim.nothing
    private var usable = Claim.nothing
    private var raise: Raise?

    private var sequence: Int64 = 0
    /// Announcements that were not read back yet.
    private var unread: [(sequence: Int64, sentAt: MonotonicTime)] = []
    private var firstSent: MonotonicTime?
    private var lastSent = MonotonicTime.past
    private var mustSend = true
    private var seen: Int64 = -1
    /// Everything was read that was written before this moment.
    private var readUpTo = MonotonicTime.past
    private var leaseEnd = MonotonicTime.past

    /// The share that may be used now, in parts of `whole`, until the next call of anything here. It is 0 without a lease.
    public private(set) var share = 0
    /// The moment at which `announcement(now:)` wants to be asked again.
    public private(set) var nextDue = MonotonicTime.past

    /// A member that is alone as far as it knows, and has no share yet.
    public init(member: UInt64) { self.member = member }

    /// Says what the member claims from now on.
    public mutating func wants(_ claim: Claim, now: MonotonicTime) {
        settle(now)
        wanted = claim
        if knowsAll { makeClaim() }
        update()
    }

    /// Takes what stands in the log at `offset`, the member's own announcements included.
    public mutating func heard(_ announcement: Announcement, offset: Int64, now: MonotonicTime) {
        settle(now)
        if offset <= seen { restart(now) }
        seen = offset
        if announcement.member == member {
            readBack(announcement.sequence, offset: offset, now: now)
        } else if announcement.hasLeft {
            others[announcement.member] = nil
        } else {
            // Who claims more waits for all to say that they know.
            let known = others[announcement.member]?.claim ?? .nothing
            if announcement.claim.exceeds(known) { mustSend = true }
            others[announcement.member] = Member(claim: announcement.claim, seen: announcement.seen, heardAt: now)
        }
        settle(now)
        update()
    }

    /// Notes that time has passed, and says what to write to the log at `now`. Nil if nothing is.
    public mutating func announcement(now: MonotonicTime) -> Announcement? {
        guard now >= nextDue else { return nil }
        settle(now)
        update()
        guard now >= nextAnnouncement else { return nil }
        sequence += 1
        unread.append((sequence, now))
        // What was not read back for so long would not give a lease any more.
        if unread.count > 64 { unread.removeFirst() }
        firstSent = firstSent ?? now
        lastSent = now
        mustSend = false
        update()
        return Announcement(member: member, sequence: sequence, seen: seen, claim: claim)
    }

    /// Gives the share back, and says what tells the others of it.
    public mutating func leave() -> Announcement {
        (wanted, claim, usable, raise) = (.nothing, .nothing, .nothing, nil)
        update()
        sequence += 1
        return Announcement(member: member, sequence: sequence, seen: seen, claim: claim, hasLeft: true)
    }

    /// The number of members that are known, this one included.
    public var memberCount: Int { others.count + 1 }

    /// A raise, or another member's, is announced at once, and the end of a silent member asked for when it can be known.
    private var nextAnnouncement: MonotonicTime {
        guard firstSent != nil else { return .past }
        var due = lastSent + (mustSend ? Self.gap : Self.beat)
        for other in others.values where lastSent < other.heardAt + Self.lease {
            due = min(due, max(other.heardAt + Self.lease, lastSent + Self.gap))
        }
        return due
    }

    private mutating func readBack(_ sequence: Int64, offset: Int64, now: MonotonicTime) {
        if raise != nil, raise?.offset == nil, let first = raise?.sequence, first <= sequence {
            raise?.offset = offset
            raise?.readAt = now
        }
        guard let index = unread.firstIndex(where: { $0.sequence == sequence }) else { return }
        readUpTo = unread[index].sentAt
        leaseEnd = readUpTo + (Self.lease - Self.margin)
        unread.removeFirst(index + 1)
        for (id, other) in others where readUpTo >= other.heardAt + Self.lease { others[id] = nil }
        if knowsAll && claim != wanted { makeClaim() }
    }

    /// True if every member that may use a share was heard: a new one has listened for a lease. What it claimed before, it could
    /// not use.
    private var knowsAll: Bool { firstSent.map { readUpTo >= $0 + Self.lease } ?? false }

    private mutating func makeClaim() {
        guard claim != wanted else { return }
        claim = wanted
        usable = usable.least(claim)
        mustSend = true
        raise = claim.exceeds(usable) ? Raise(sequence: sequence + 1) : nil
    }

    /// Ends what time ends, and lets a raise be used that all know of.
    private mutating func settle(_ now: MonotonicTime) {
        guard now < leaseEnd else {
            if leaseEnd != .past { loseLease() }
            return
        }
        guard let raise, let offset = raise.offset, knowsAll else { return }
        guard others.values.allSatisfy({ $0.seen >= offset }) || now >= raise.readAt + Self.lease else { return }
        usable = claim
        self.raise = nil
    }

    /// The log was recreated, so what was known of it means nothing any more.
    private mutating func restart(_ now: MonotonicTime) {
        others.removeAll()
        unread.removeAll()
        firstSent = nil
        claim = .nothing
        loseLease()
    }

    /// The others may have given this member up by now, so all that it claims is new to them.
    private mutating func loseLease() {
        leaseEnd = .past
        usable = .nothing
        raise = Raise(sequence: sequence + 1)
        mustSend = true
    }

    private mutating func update() {
        share = fairShare
        nextDue = nextAnnouncement
        if leaseEnd != .past { nextDue = min(nextDue, leaseEnd) }
        if let raise, raise.offset != nil { nextDue = min(nextDue, raise.readAt + Self.lease) }
    }

    /// Shares by weight, in which no member gets more than it has use for (max-min fairness).
    private var fairShare: Int {
        guard usable.weight > 0 else { return 0 }
        var remaining = Self.whole
        var open = others.values.map(\.claim).filter { $0.weight > 0 }
        var weight = open.reduce(usable.weight) { $0 + $1.weight }
        while true {
            let before = open.count
            open.removeAll { claim in
                guard claim.most * weight <= remaining * claim.weight else { return false }
                remaining -= claim.most
                weight -= claim.weight
                return true
            }
            if open.count == before { break }
        }
        return min(usable.most, remaining * usable.weight / weight)
    }
}
