/// The position that a commit names for one partition.
public struct LedgerCommit: Sendable, Equatable {
    /// The first offset without an outcome.
    public var offset: Int64
    /// The offsets that are finished above it, as `FinishedOffsets` writes them.
    public var metadata: String

    /// A position with its metadata.
    public init(offset: Int64, metadata: String) {
        self.offset = offset
        self.metadata = metadata
    }

    /// The position that a partition is given while no worker is at work. A worker that died may have begun what lies before the
    /// partition's end, with or without a result. What comes later was not begun.
    ///
    /// - Parameters:
    ///   - offset: Where the group goes on.
    ///   - end: Where the partition ends. Further behind `offset` than a worker's window is wide, the position does not name it, and is
    ///     taken for that of an owner that died.
    ///   - finished: What is finished above `offset`.
    public init(offset: Int64, end: Int64, finished: FinishedOffsets = FinishedOffsets()) {
        var finished = finished
        let (distance, isBeyond) = end.subtractingReportingOverflow(offset)
        finished.begun = isBeyond || distance > Int64(OffsetLedger.maximumWindow) ? nil : max(0, distance)
        self.init(offset: offset, metadata: finished.encoded())
    }

    /// The same position for brokers that take no longer metadata: of what is finished above it, it names only what an earlier one named.
    /// The results of that are published, and would be published again.
    ///
    /// Brokers took the earlier one. So as long as it names an offset, the metadata is no longer than that one's: it does without `begun`
    /// and then without `latest` where they would make it longer. Both only make the next owner more careful.
    ///
    /// - Parameter earlier: The position that the group has; nil if it does not belong to this ledger.
    /// - Returns: The position.
    public func inOrder(after earlier: LedgerCommit?) -> LedgerCommit {
        guard let own = try? FinishedOffsets(decoding: metadata) else { return self }
        var finished = earlier?.finished(from: offset) ?? FinishedOffsets()
        finished.latest = own.latest
        finished.begun = own.begun
        if finished.bitCount > 0, let limit = earlier?.metadata.utf8.count {
            if finished.encoded().utf8.count > limit { finished.begun = nil }
            if finished.encoded().utf8.count > limit { finished.latest = nil }
        }
        return LedgerCommit(offset: offset, metadata: finished.encoded())
    }

    /// The offsets that it says are finished from `start` on, or nil if it lies behind that, or cannot be read.
    private func finished(from start: Int64) -> FinishedOffsets? {
        let (passed, isBeyond) = start.subtractingReportingOverflow(offset)
        guard !isBeyond, passed >= 0 else { return nil }
        return (try? FinishedOffsets(decoding: metadata))?.rest(above: passed)
    }
}
