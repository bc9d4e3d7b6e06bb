import PushModel

/// A request that was read, as far as it is found again by it when its partition is read once more.
///
/// A partition that has lost its end and was filled again has another record at the same offset. That one has another time, size or id.
public struct KnownRequest: Sendable, Hashable {
    /// Its record's offset.
    public let offset: Int64
    /// The moment of its publication, milliseconds since 1970.
    public let time: Int64
    /// The bytes of its record's value.
    public let byteCount: Int
    /// The identity that its id is known by.
    public let id: RequestIdentity

    /// A request by what its record says.
    public init(offset: Int64, time: Int64, byteCount: Int, id: RequestIdentity) {
        self.offset = offset
        self.time = time
        self.byteCount = byteCount
        self.id = id
    }
}

/// The knowledge of a worker about partitions that it has lost: the outcomes of requests that it could not commit any more.
///
/// A partition that comes back is read again from the group's position. If that is where this worker left it, no other has recorded
/// anything there, because results and positions are committed together. Then what is known is recorded, and no call is made again. An
/// owner in between may have made calls that this worker does not hear of. So only outcomes belong here that stay true then: those of
/// requests that a device may have heard of. What failed for certain is called again.
///
/// There is a bound for all of it. Beyond it, what was lost the longest ago is dropped; then nothing more is taken in. What is dropped is
/// called again.
public struct UncommittedResults<Outcome: Sendable>: Sendable {
    /// One of them.
    public struct Entry: Sendable {
        let request: KnownRequest
        let outcome: Outcome
        let byteCount: Int

        /// The outcome of a request, with the bytes that it takes.
        public init(_ outcome: Outcome, of request: KnownRequest, byteCount: Int) {
            self.request = request
            self.outcome = outcome
            self.byteCount = byteCount
        }
    }

    /// The knowledge of one partition.
    private struct Left: Sendable {
        /// The positions at which the group may stand if no other has recorded anything.
        var positions: [LedgerCommit]
        /// The time of its loss, as a number that grows.
        var turn: Int
        /// By offset.
        var entries: [Int64: Entry]

        var byteCount: Int { entries.values.reduce(0) { $0 + $1.byteCount } }
    }

    /// The most outcomes that are kept: 4,096.
    public static var greatestCount: Int { 4096 }
    /// The most bytes that they take: 4 MiB.
    public static var greatestByteCount: Int { 4 << 20 }

    /// The number of outcomes that are kept.
    public private(set) var count = 0
    /// The bytes that they take.
    public private(set) var byteCount = 0
    private var partitions: [Membership.Partition: Left] = [:]
    private var lastTurn = 0

    /// Nothing is known.
    public init() {}

    /// A partition that had begun is not this worker's any more, or begins again.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - positions: Where the group stands in it as far as this worker did that: the position that was committed last, and the one of a
    ///     commit whose end is not known.
    ///   - entries: The outcomes that were not committed. What is known from an earlier time is kept beside them.
    public mutating func noteLost(_ partition: Membership.Partition, at positions: [LedgerCommit], knowing entries: [Entry]) {
        lastTurn += 1
        var left = remove(partition) ?? Left(positions: [], turn: 0, entries: [:])
        left.positions = positions
        left.turn = lastTurn
        guard let first = positions.map(\.offset).min() else { return }
        for entry in entries { left.entries[entry.request.offset] = entry }
        for (offset, entry) in left.entries.sorted(by: { $0.key < $1.key }) where offset < first || !makeRoom(for: entry) {
            left.entries[offset] = nil
        }
        if !left.entries.isEmpty { partitions[partition] = left }
    }

    /// A partition begins. What is known of it is dropped if it does not begin where this worker left it.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - position: The group's position, at which it begins; nil if it begins elsewhere.
    /// - Returns: Behind the last offset of which an outcome is known, and of how many one is; 0 and 0 if of none.
    public mutating func noteStart(_ partition: Membership.Partition, at position: LedgerCommit?) -> (end: Int64, count: Int) {
        guard let left = partitions[partition] else { return (0, 0) }
        guard let position, left.positions.contains(position) else {
            remove(partition)
            return (0, 0)
        }
        return (left.entries.keys.max()?.addingSaturated(1) ?? 0, left.entries.count)
    }

    /// Takes out what is known of a request.
    ///
    /// - Parameters:
    ///   - request: The request, as it was read now.
    ///   - partition: Its partition, which has begun.
    /// - Returns: Its outcome; nil if none is known. What is known of another request at its offset is dropped.
    public mutating func take(_ request: KnownRequest, of partition: Membership.Partition) -> Outcome? {
        guard let entry = partitions[partition]?.entries.removeValue(forKey: request.offset) else { return nil }
        count -= 1
        byteCount -= entry.byteCount
        if partitions[partition]?.entries.isEmpty ?? false { partitions[partition] = nil }
        return entry.request == request ? entry.outcome : nil
    }

    /// Puts other outcomes, of the same size, in the place of those that are known of the same requests.
    public mutating func replace(with entries: [Entry], of partition: Membership.Partition) {
        for entry in entries where partitions[partition]?.entries[entry.request.offset]?.request == entry.request {
            partitions[partition]?.entries[entry.request.offset] = entry
        }
    }

    /// Counts one more in, after what was lost the longest ago has made room for it. Returns whether there is room.
    private mutating func makeRoom(for entry: Entry) -> Bool {
        guard entry.byteCount <= Self.greatestByteCount else { return false }
        while count >= Self.greatestCount || byteCount + entry.byteCount > Self.greatestByteCount {
            guard let oldest = partitions.min(by: { $0.value.turn < $1.value.turn }) else { return false }
            remove(oldest.key)
        }
        count += 1
        byteCount += entry.byteCount
        return true
    }

    @discardableResult
    private mutating func remove(_ partition: Membership.Partition) -> Left? {
        guard let left = partitions.removeValue(forKey: partition) else { return nil }
        count -= left.entries.count
        byteCount -= left.byteCount
        return left
    }
}
