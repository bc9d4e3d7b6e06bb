import Delivery
import Kafka

/// A batch that was offered to the committer and is not confirmed, kept here whatever becomes of the committer, and memory for a
/// next one. Beside it, what could not be committed before its partitions were lost.
struct OfferedBatch {
    /// Nil while nothing is offered.
    var job: CommitJob?
    /// The slots of the partitions whose positions it moves.
    var slots: [Int] = []
    /// An empty batch.
    var spare = OutcomeBatch()
    /// The known outcomes of partitions that were lost.
    var known = UncommittedResults<OutcomeBatch>()

    /// The records that are offered.
    var recordCount: Int { job?.batch.records.count ?? 0 }

    /// The slots of the partitions whose positions it moves, with these.
    var positions: Zip2Sequence<[Int], [OffsetCommit]> { zip(slots, job?.offsets ?? []) }

    /// Takes what is selected out of the outbox. Positions are added to it.
    mutating func take(_ selection: CommitSelection, from outbox: inout OutcomeBatch) {
        let batch: OutcomeBatch
        if selection.isAll {
            batch = outbox
            outbox = spare
            spare = OutcomeBatch()
        } else {
            batch = outbox.remove(selection.places)
        }
        job = CommitJob(batch: batch, offsets: [], before: [])
        slots = []
    }

    /// Adds a position of a partition, which has another at present, or none.
    mutating func add(_ position: LedgerCommit, of slot: Int, partition: TopicPartition, before: LedgerCommit?) {
        job?.offsets.append(OffsetCommit(partition, offset: position.offset, metadata: position.metadata))
        job?.before.append(before)
        slots.append(slot)
    }

    /// Puts the batch back in front of what has come into the outbox since. Returns the slots whose positions are not moved.
    mutating func putBack(into outbox: inout OutcomeBatch) -> [Int] {
        guard var batch = job?.batch else { return [] }
        job = nil
        batch.append(contentsOf: outbox)
        outbox = batch
        return slots
    }

    /// Forgets the batch but for its memory.
    mutating func recycle() {
        guard var done = job else { return }
        job = nil
        spare = OutcomeBatch()
        swap(&spare, &done.batch)
        spare.removeAll()
    }
}

extension CommitCycle.Cause {
    /// The meaning of an error for a commit.
    init(_ error: KafkaError) {
        if error.isMetadataTooLarge {
            self = .metadataTooLarge
        } else if error.isTooLarge {
            self = .tooLarge
        } else if error.refusesRecords {
            self = .refused
        } else if error.isTimeout {
            self = .timedOut
        } else if error.isFenced {
            self = .fenced
        } else {
            self = error.isOutOfGroup ? .outOfGroup : .other
        }
    }
}

extension CommitCycle.ResetCause {
    /// The reason in words.
    var text: String {
        switch self {
        case .overtaken: "another member or tool has moved the group's positions"
        case .misplaced: "the topic of held requests has fewer partitions than it had"
        }
    }
}
