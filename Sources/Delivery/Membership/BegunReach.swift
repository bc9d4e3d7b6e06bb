import PushModel

/// Before which offset the previous owner of a partition may have begun requests: those that are not finished are ambiguous.
///
/// An owner that gave the partition up said how far it began. One that died may have begun whatever its window let it read, as far as
/// there were records. A window is no wider than offsets that hold records, or that lie between those: it crosses a gap, such as an
/// aborted transaction's, at once. So the reach grows by each gap that is found within it.
///
/// One whose end is not known may even go on for a while, until it hears that it has lost the partition. What is read meanwhile it may
/// read and begin as well, so that the reach grows with it.
public struct BegunReach: Sendable, Equatable {
    /// Before which offset.
    public private(set) var end: Int64
    /// The bound that `end` never passes: where the partition ended as it was assigned, if the owner did not say how far it
    /// began.
    private var limit: Int64
    /// True if the owner is known to have ended: it said how far it began, or there was none.
    public let ownerEnded: Bool
    /// True if it may still go on.
    public private(set) var isOverlapping: Bool

    /// Nothing was begun.
    public init() { (end, limit, ownerEnded, isOverlapping) = (0, 0, true, false) }

    /// The reach that a position gives.
    ///
    /// - Parameters:
    ///   - position: Where the group stands.
    ///   - begun: How far above it requests may have been begun; nil if its owner did not say.
    ///   - partitionEnd: Where the partition ended as it was assigned; nil if that is not known.
    init(from position: Int64, begun: Int64?, partitionEnd: Int64?) {
        let bound = max(position, partitionEnd ?? .max)
        end = min(position.addingSaturated(begun ?? Int64(OffsetLedger.maximumWindow)), bound)
        limit = begun == nil ? bound : end
        (ownerEnded, isOverlapping) = (begun != nil, begun == nil)
    }

    /// The owner has ended by now, whether it said so or not.
    public mutating func overlapEnded() { isOverlapping = false }

    /// A record was read.
    ///
    /// - Parameters:
    ///   - offset: Its offset.
    ///   - expected: The offset behind the record before it.
    public mutating func read(_ offset: Int64, expected: Int64) {
        if offset > expected, expected < end, end < limit {
            end = min(end.addingSaturated(offset - max(expected, 0)), limit)
        }
        guard isOverlapping, offset >= end else { return }
        end = offset.addingSaturated(1)
        limit = max(limit, end)
    }

    /// The end of the requests that were begun and are not finished, for the position of a partition that is given up.
    ///
    /// - Parameters:
    ///   - ledger: The partition's records.
    ///   - hasLostCalls: Whether a call was given up before its answer.
    /// - Returns: Behind which offset there is none. Nil as long as the reach may still grow, or the owner before may still go on, or where
    ///   a position cannot say it: the next owner then takes the position for that of one that died.
    public func end(of ledger: OffsetLedger, hasLostCalls: Bool) -> Int64? {
        let mark = ledger.lowWaterMark
        guard !isOverlapping, ledger.position >= end || end == limit else { return nil }
        let last = max(mark, mark < end ? end : mark, hasLostCalls ? ledger.position : mark)
        return last - mark <= FinishedOffsets.mostBegun ? last : nil
    }
}
