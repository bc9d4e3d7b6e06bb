package import Delivery
package import Kafka
import PushModel

/// The position of a group in one partition.
package struct GroupPosition: Sendable, Equatable {
    /// The partition.
    package let partition: TopicPartition
    /// The offset of the oldest record that is kept.
    package let low: Int64
    /// The offset that the next record will get.
    package let high: Int64
    /// The first offset without an outcome, or nil when the group never committed one.
    package let committed: Int64?
    /// The text kept with that, empty if there is none.
    package let metadata: String
    /// The offsets finished above it, or nil when no version known here wrote them, and in the topic of parents.
    package let finished: FinishedOffsets?

    /// A position, and what it holds. `high` is the offset that the next record will get.
    package init(_ partition: TopicPartition, low: Int64, high: Int64, committed: Int64?, metadata: String = "") {
        self.partition = partition
        self.low = low
        self.high = high
        self.committed = committed
        finished = try? FinishedOffsets(decoding: metadata)
        self.metadata = metadata
    }

    /// The metadata that no version known here wrote, or nil when it can be read. Not of the topic of parents.
    package var unknownMetadata: UnknownMetadata? { finished == nil ? UnknownMetadata(metadata) : nil }

    /// The offset at which the group continues: its position, or the beginning, or the end if the topic was recreated and is
    /// shorter.
    package var start: Int64 { min(max(committed ?? low, low), high) }

    /// The first and the last record that were read, or nil when they are not known.
    package var marks: ReadMarks? { ReadMarks(metadata: metadata) }

    /// The offsets that wait for an outcome, of which some may hold no record.
    package var lag: Int64 { max(0, high - start - Int64(finishedOffsets.count)) }

    /// The offsets that have their outcome although an earlier one has not.
    package var finishedOffsets: [Int64] {
        guard let finished, let committed else { return [] }
        return (0..<finished.bitCount).filter { finished.contains($0) }.map { committed.addingSaturated(Int64($0)) }
            .filter { $0 >= start && $0 < high }
    }

    /// The share of the largest window between the position and the last finished offset, 0 to 1.
    package var windowUse: Double {
        guard let committed, let last = finishedOffsets.last else { return 0 }
        return min(1, Double(last + 1 - committed) / Double(OffsetLedger.maximumWindow))
    }

    /// The records that were removed before the group had read them.
    package var lostCount: Int64 { committed.map { max(0, low - $0) } ?? 0 }

    /// The position is beyond the log end: the topic was recreated or truncated.
    package var isBeyondEnd: Bool { committed.map { $0 > high } ?? false }
}
