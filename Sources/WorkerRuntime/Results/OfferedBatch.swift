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
