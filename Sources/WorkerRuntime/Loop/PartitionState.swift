import Delivery
import Kafka
import Observability

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
    let lag: Gauge

    init(_ id: TopicPartition, ledger: OffsetLedger?, lag: Gauge) {
        self.id = id
        self.ledger = ledger
        self.lag = lag
    }

    /// Whether a record may be read now.
    var canRead: Bool { mayHaveRecords && parked == nil && ledger?.hasRoom ?? true }
}
