import Delivery
import Kafka
import Observability
import PushModel

/// One assigned partition, as the loop sees it.
struct PartitionState {
    let id: TopicPartition
    /// What is finished; nil until the first record says where the partition begins.
    var ledger: OffsetLedger?
    /// Whether a read may find a record; after an empty one, only a wake-up can change that.
    var mayHaveRecords = true
    /// A record that lies beyond the window and waits for it to move.
    var parked: Flight?
    /// Whether something finished since the last commit.
    var isDirty = false
    /// The low-water mark that the group knows, or will know with the commit under way.
    var committedMark: Int64?
    /// When the last record that was taken was published.
    var lastTimestamp: Timestamp?
    let lag: Gauge

    init(_ id: TopicPartition, ledger: OffsetLedger?, lag: Gauge) {
        self.id = id
        self.ledger = ledger
        committedMark = ledger?.lowWaterMark
        self.lag = lag
    }

    /// Whether the mark has moved over offsets that hold no record, which nothing else would commit.
    var hasUncommittedGap: Bool { ledger.map { $0.lowWaterMark > committedMark ?? $0.lowWaterMark } ?? false }

    /// Whether a record may be read now.
    var canRead: Bool { mayHaveRecords && parked == nil && ledger?.hasRoom ?? true }
}
