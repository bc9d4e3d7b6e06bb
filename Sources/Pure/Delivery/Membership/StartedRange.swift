import PushModel

/// Before which offset the previous owner of a partition may have begun requests: those that are not finished are ambiguous.
///
/// An owner says in its position how far it begins, and one that gives the partition up how far it began. Of one that did not say it, it may
/// be whatever its window let it read, as far as there were records. A window is no wider than offsets that hold records, or that lie
/// between those: it crosses a gap, such as an aborted transaction's, at once. So that reach grows by each gap that is found within it.
///
/// One whose end is not known may even go on for a while, until it hears that it has lost the partition. What is read meanwhile it may
/// read and begin as well, so that the reach grows with it, as far as the owner may begin.
public struct StartedRange: Sendable, Equatable {
    /// Before which offset.
    public private(set) var end: Int64
    /// The bound that `end` never passes while no owner goes on: where the partition ended as it was assigned.
    private var limit: Int64
    /// The offset before which the owner may begin at all, or nil if it did not say.
    private let most: Int64?
    /// True if it may still go on.
    public private(set) var isOverlapping: Bool

    /// Nothing was begun.
    public init() { (end, limit, most, isOverlapping) = (0, 0, 0, false) }

    /// The reach that a group's position gives. `begun` is how far above it requests may have been begun, and `partitionEnd`
    /// where the partition ended as it was assigned, if these are known.
    init(from position: Int64, begun: Int64?, partitionEnd: Int64?) {
        let bound = max(position, partitionEnd ?? .max)
        most = begun.map { position.addingSaturated($0) }
        end = min(most ?? position.addingSaturated(Int64(OffsetLedger.maximumWindow)), bound)
        limit = begun == nil ? bound : end
        isOverlapping = most ?? .max > end
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
        guard isOverlapping, offset >= end, offset < most ?? .max else { return }
        end = offset.addingSaturated(1)
        limit = max(limit, end)
    }

    /// The end of the requests that were begun and are not finished, for a position of the partition.
    ///
    /// - Parameters:
    ///   - ledger: The partition's records.
    ///   - hasLostCalls: Whether a call was given up before its answer.
    /// - Returns: Behind which offset there is none. Nil as long as the reach may still grow without a bound, or where a position cannot
    ///   say it: the next owner then takes the position for that of one that may have begun anything.
    public func end(of ledger: OffsetLedger, hasLostCalls: Bool) -> Int64? {
        let mark = ledger.lowWaterMark
        let reach: Int64
        if isOverlapping {
            guard let most else { return nil }
            reach = most
        } else {
            guard ledger.position >= end || end == limit else { return nil }
            reach = end
        }
        let last = max(mark, reach, hasLostCalls ? ledger.position : mark)
        return last - mark <= FinishedOffsets.mostBegun ? last : nil
    }
}
