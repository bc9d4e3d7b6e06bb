/// The rules of the topic of held requests: where a partition's requests are held, how many, and when they are written again.
public enum HeldRules {
    /// The partition of held requests, or nil for one of our own lane. Their topic has one for each lane's partition of a number,
    /// so three for each number. Only the owner of that partition of requests reads and writes it.
    public static func heldPartition(of partition: Int32, in lane: Lane) -> Int32? {
        guard lane != .own else { return nil }
        let (held, overflow) = partition.multipliedReportingOverflow(by: Int32(Topics.heldLanes))
        return overflow ? .max : held + Int32(lane.rawValue)
    }

    /// The most memory that the records of a partition's keys may take where they were published: 24 MiB, some 25,000 small ones. Beyond, it
    /// is not read.
    public static let maximumBytes = 24 << 20
    /// The most that may be held of one partition: 12 MiB, and `maximumHeld` requests.
    static let maximumHeldBytes = 12 << 20

    /// The number of requests of one partition that may be held: a quarter of the window of the partition that holds them.
    ///
    /// It is why that partition can always be read to its end, also by a worker that begins: see `relocationStart`.
    static func maximumHeld(window: Int) -> Int { window / 4 }

    /// The offset before which what waits must be written again to the end of its partition of held requests. Nil as long as
    /// there is room.
    ///
    /// An old request that waits for long would end the reading of its partition one day, because all offsets that are read and not
    /// finished must lie within the window. So when three quarters of that are full, what waits in the older half of what was read is
    /// written again. The order does not suffer: it is that of the offsets of publishing. What is held is at most a quarter of the window
    /// in number, and written again it takes at most two offsets each, its own and a transaction's marker. So after that at least a
    /// quarter is free, and no request is written again before a quarter of the window has been written. What is in work stays where it
    /// is, and ends, or waits and is written again, without any other's help: so while it fills the window up, that passes.
    static func relocationStart(lowWaterMark: Int64, position: Int64, window: Int) -> Int64? {
        position - lowWaterMark > Int64(window) * 3 / 4 ? position - Int64(window) / 2 : nil
    }

    /// True if one more may be held.
    ///
    /// - Parameters:
    ///   - count: How many of the partition are.
    ///   - bytes: Their bytes, with those of the next one.
    ///   - window: The window of the partition that holds them.
    /// - Returns: Whether it may.
    static func hasRoom(count: Int, bytes: Int, window: Int) -> Bool {
        count < maximumHeld(window: window) && bytes <= maximumHeldBytes
    }
}
