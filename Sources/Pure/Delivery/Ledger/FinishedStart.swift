/// Finds where a group begins in a partition when it is known from elsewhere which of its records are finished, so that none of them is
/// repeated.
///
/// It takes the records one by one, and needs no memory for those in front of the first that is not finished. What the broker has no
/// record for, such as the ends of transactions, waits for nothing.
public struct FinishedStart: Sendable {
    /// The first record that is not finished. Nil as long as all are.
    private var mark: Int64?
    /// The offsets that are finished behind it.
    private var ahead = FinishedOffsets()
    /// The moment of publication of the latest finished record, milliseconds since 1970.
    private var latest: Int64?

    /// The first and the last record that were taken.
    private var marks: ReadMarks?

    /// The finished records in front of the start.
    public private(set) var passedCount = 0
    /// The finished records behind the start that the position's metadata names, so that they are not repeated.
    public private(set) var aheadCount = 0
    /// The finished records that are too far behind the start for the metadata, and will be repeated.
    public private(set) var repeatedCount = 0
    /// The records that are not finished.
    public private(set) var waitingCount = 0

    /// Nothing was taken yet.
    public init() {}

    /// Takes the mark of the next record, so that the position is not taken for one in a log that is made again.
    public mutating func read(_ record: RecordMark) { ReadMarks.read(record, into: &marks) }

    /// Takes the next record.
    ///
    /// - Parameters:
    ///   - offset: Its offset; greater than that of the one before.
    ///   - time: When it was published, milliseconds since 1970; nil when that is not known.
    ///   - isFinished: Whether it has its outcome, or waits elsewhere.
    public mutating func add(_ offset: Int64, publishedAt time: Int64?, isFinished: Bool) {
        guard isFinished else {
            mark = mark ?? offset
            waitingCount += 1
            return
        }
        if let time, time >= 0 { latest = max(latest ?? 0, time) }
        guard let mark else {
            passedCount += 1
            return
        }
        let (distance, isBeyond) = offset.subtractingReportingOverflow(mark)
        guard !isBeyond, distance > 0, distance < Int64(OffsetLedger.maximumWindow) else {
            repeatedCount += 1
            return
        }
        ahead.insert(Int(distance))
        aheadCount += 1
    }

    /// The position that repeats as little as it can.
    ///
    /// A worker may have begun what is not finished, and died, whether there is a result of it or not; so that stays open up to the end.
    ///
    /// - Parameter end: The partition's end, where the group begins when all is finished.
    /// - Returns: The position with its metadata.
    public func commit(end: Int64) -> LedgerCommit {
        var finished = ahead
        finished.latest = latest
        finished.marks = marks
        return LedgerCommit(offset: mark ?? end, end: end, finished: finished)
    }
}
