public import PushModel

/// The latest requests of one partition, to tell one that comes again.
///
/// Whether a request is a repetition depends on nothing but the partition's records. It is one when one of the `reach` offsets before it
/// holds a request with one of its names. How long before it the first of those was published counts too: that one was sent. So whoever
/// reads that many offsets again, after a restart or as the partition's new owner, finds the same as who was there before. There are two
/// exceptions. Where the first one is out of reach by then and only its repetitions are not, the first of these counts as sent. And who
/// has refused a request itself knows that it was not sent, which its record does not tell.
///
/// A ring of what was seen, the oldest first, and a table of chains through it. To forget is to move the ring's beginning, because a
/// chain ends where it leaves the ring. Each look misses the processor's caches, so the table is made of short numbers, and is large
/// enough for most looks to find no chain.
public struct RecentRequests: Sendable {
    /// One of the things that a request is known by.
    public struct Name: Sendable {
        /// The identity that it stands for.
        public var identity: RequestIdentity
        /// The greatest distance to the time of the request that was sent, milliseconds.
        public var window: Int64

        /// A name that counts for `window` milliseconds.
        public init(_ identity: RequestIdentity, window: Int64) {
            self.identity = identity
            self.window = window
        }
    }

    /// The thing that a request has in common with one before it.
    public enum Repetition: Sendable, Equatable {
        /// The key, with the latest request that has it at this offset.
        case key(Int64)
        /// The id, with the latest request that has it at this offset.
        case id(Int64)
    }

    private struct Entry: Sendable {
        var identity: RequestIdentity
        var offset: Int64
        /// The moment of publication of the one that was sent.
        var firstTime: Timestamp
        /// The number of the one before it in its chain, its last 32 bits.
        var previous: UInt32
        /// True if the one that counted as sent was refused.
        var isRefused = false
    }

    /// The number of offsets that are looked back, at least 1.
    public let reach: Int64
    /// All requests before this offset were taken in, as far as they are within reach.
    public private(set) var end: Int64
    /// Sightings: what was seen under number n is at n modulo the capacity, a power of two.
    private var ring: [Entry] = []
    /// The number of the latest one of each chain, its last 32 bits, by identity. It is 0 at first. A number that nothing in the
    /// ring has any more looks like one that is there once 2^32 others were given. Then a look goes along another chain, in which
    /// its identity is not.
    private var chains: [UInt32] = []
    /// The number of the oldest one, and the number of the next.
    private var first: Int
    private var next: Int

    /// Nothing was seen yet of a partition that is read from `start`.
    public init(reach: Int, start: Int64) { self.init(reach: reach, start: start, firstNumber: 1) }

    /// The same, with the number that the first one gets, 1 or more.
    init(reach: Int, start: Int64, firstNumber: Int) {
        self.reach = Int64(max(1, reach))
        end = start
        (first, next) = (firstNumber, firstNumber)
    }

    /// The number of names that are remembered.
    public var count: Int { next - first }

    /// The memory that is held, in bytes.
    public var byteCount: Int {
        ring.count * MemoryLayout<Entry>.stride + chains.count * MemoryLayout<UInt32>.stride
    }

    /// Takes in a request and tells whether it is a repetition. Of one that is, only the names that it repeats are remembered: nothing
    /// was sent under the others.
    ///
    /// - Parameters:
    ///   - key: Its key; nil without one.
    ///   - id: Its id; nil without one.
    ///   - offset: The record's offset, above those taken in before.
    ///   - time: The record's time.
    /// - Returns: What it repeats; nil when it must be sent.
    public mutating func received(key: Name?, id: Name?, offset: Int64, time: Timestamp) -> Repetition? {
        forget(before: offset - reach)
        let sameKey = key.flatMap { latest($0, time: time) }
        let sameID = id.flatMap { latest($0, time: time) }
        let isRepetition = sameKey != nil || sameID != nil
        if let key, sameKey != nil || !isRepetition {
            append(key.identity, offset: offset, firstTime: sameKey?.firstTime ?? time)
        }
        if let id, sameID != nil || !isRepetition { append(id.identity, offset: offset, firstTime: sameID?.firstTime ?? time) }
        passed(offset)
        return sameKey.map { Repetition.key($0.offset) } ?? sameID.map { Repetition.id($0.offset) }
    }

    /// Takes in a record that holds no request which could be repeated.
    public mutating func passed(_ offset: Int64) { end = max(end, offset + 1) }

    /// Takes back a request that was taken in and then refused: nothing was sent under its names, and what repeats it repeats nothing.
    ///
    /// - Parameters:
    ///   - key: Its key, or nil.
    ///   - id: Its id, or nil.
    ///   - time: The record's time.
    public mutating func refused(key: Name?, id: Name?, time: Timestamp) {
        for name in [key, id] {
            guard let identity = name?.identity else { continue }
            var age = 0
            while let place = place(of: identity, olderThan: &age) {
                if ring[place].firstTime == time { ring[place].isRefused = true }
            }
        }
    }

    /// The latest request of a name, if it is within the window.
    private func latest(_ name: Name, time: Timestamp) -> Entry? {
        var age = 0
        guard let place = place(of: name.identity, olderThan: &age) else { return nil }
        let distance = time.milliseconds(since: ring[place].firstTime)
        return distance.magnitude <= name.window.magnitude ? ring[place] : nil
    }

    /// The place of the latest entry of an identity among those beyond an age, which becomes its own. One that was refused has none.
    private func place(of identity: RequestIdentity, olderThan age: inout Int) -> Int? {
        guard !ring.isEmpty else { return nil }
        var number = age > 0 ? ring[(next - age) & (ring.count - 1)].previous : chains[identity.place(in: chains.count)]
        while true {
            // Along a chain, each is older than the one before.
            let nextAge = self.age(of: number)
            guard nextAge > age, nextAge <= count else { return nil }
            age = nextAge
            let place = (next - age) & (ring.count - 1)
            if ring[place].identity == identity, !ring[place].isRefused { return place }
            number = ring[place].previous
        }
    }

    /// The number of entries since a number was given: 1 for the latest.
    private func age(of number: UInt32) -> Int { Int(UInt32(truncatingIfNeeded: next) &- number) }

    private mutating func forget(before limit: Int64) {
        while first < next, ring[first & (ring.count - 1)].offset < limit { first += 1 }
    }

    private mutating func append(_ identity: RequestIdentity, offset: Int64, firstTime: Timestamp) {
        if count == ring.count { grow() }
        link(Entry(identity: identity, offset: offset, firstTime: firstTime, previous: 0))
    }

    private mutating func link(_ entry: Entry) {
        let chain = entry.identity.place(in: chains.count)
        ring[next & (ring.count - 1)] = entry
        ring[next & (ring.count - 1)].previous = chains[chain]
        chains[chain] = UInt32(truncatingIfNeeded: next)
        next += 1
    }

    /// Makes room for twice as many, up to what the reach can hold.
    private mutating func grow() {
        let seen = (first..<next).map { ring[$0 & (ring.count - 1)] }
        let capacity = max(64, 2 * ring.count)
        let nothing = Entry(identity: RequestIdentity(seed: 0), offset: 0, firstTime: Timestamp(milliseconds: 0), previous: 0)
        ring = Array(repeating: nothing, count: capacity)
        chains = Array(repeating: 0, count: 2 * capacity)
        next = first
        for entry in seen { link(entry) }
    }
}
