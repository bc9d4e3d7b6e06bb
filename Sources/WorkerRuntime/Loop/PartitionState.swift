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
    /// Where the group stands; nil if it has no position.
    var committed: LedgerCommit?
    /// When the last record that was taken was published.
    var lastTimestamp: Timestamp?
    /// Since when records wait to be taken.
    var backlog = BacklogAge()
    let lag: Gauge

    init(_ id: TopicPartition, committed: LedgerCommit?, ledger: OffsetLedger?, lag: Gauge) {
        self.id = id
        self.ledger = ledger
        self.committed = committed
        self.lag = lag
    }

    /// Whether the mark has moved over offsets that hold no record, which nothing else would commit.
    var hasUncommittedGap: Bool {
        guard let ledger, let committed else { return false }
        return ledger.lowWaterMark > committed.offset
    }

    /// Whether the ledger begins behind `offset`, at which a record is after all.
    func begins(after offset: Int64) -> Bool { ledger.map { offset < $0.lowWaterMark } ?? false }

    /// Takes in a record at `offset`, which is where the ledger begins if there is none yet.
    mutating func received(_ offset: Int64, window: Int) -> OffsetLedger.Reception? {
        if ledger == nil { ledger = OffsetLedger(start: offset, window: window) }
        return ledger?.received(offset)
    }

    /// Whether a record may be read now.
    var canRead: Bool { mayHaveRecords && parked == nil && ledger?.hasRoom ?? true }
}
