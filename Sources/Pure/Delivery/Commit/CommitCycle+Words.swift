/// The words of a cycle: what it gets, and what it answers.
extension CommitCycle {
    /// The terms that a cycle goes by.
    public struct Terms: Sendable {
        /// The least time between two commits, nanoseconds. See `CommitSchedule`.
        public var interval: Int64
        /// The time for which brokers leave a transaction open, nanoseconds.
        public var transactionTimeout: Int64
        /// The time for which brokers reject a unit, while its topics take others, before a dead letter stands for it,
        /// nanoseconds.
        public var refusalPatience = CommitCycle.refusalPatience

        /// Terms with the default patience.
        public init(interval: Int64, transactionTimeout: Int64) {
            self.interval = interval
            self.transactionTimeout = transactionTimeout
        }
    }

    /// The progress of a batch.
    public enum Standing: Sendable {
        /// None of it shows anywhere.
        case unpublished
        /// Its records are in their topics, and only its offsets are left. Occurs without transactions.
        case written
        /// It may be published, because it is unknown how its last commit ended.
        case doubtful
    }

    /// The reason why a commit failed.
    public enum Cause: Sendable, CaseIterable {
        /// Brokers find a record, or all of them together, too large.
        case tooLarge
        /// Brokers do not take a record for another reason.
        case refused
        /// It did not end in time.
        case timedOut
        /// Brokers take the producer for an outdated one, as they do after a transaction that took too long.
        case fenced
        /// The group has gone on without this worker.
        case outOfGroup
        /// A position's metadata is longer than brokers take.
        case metadataTooLarge
        /// Anything else.
        case other
    }

    /// The kinds of what to do.
    public enum Action: Sendable, Equatable {
        /// Nothing.
        case wait
        /// Report by `noteHoldings` what there is, if there is anything.
        case check
        /// Offer this selection, with the positions of everything except the units that it leaves out.
        case offer(CommitSelection)
        /// Offer the batch again as it is. It stands so.
        case offerAgain(Standing)
        /// Take the batch's positions for the group's. `closes`: they say that nothing is in work any more.
        case settle(closes: Bool)
        /// Put the batch back to what waits.
        case putBack
        /// The same, and write no maps of finished offsets any more: results wait for those before them.
        case putBackInOrder
        /// Cut the large dead letters of the batch, which is offered again.
        case cutDeadLetters
        /// Put a dead letter for this record in the batch's place, and that back to what waits.
        case writeDeadLetter(for: CommitUnit.ID)
        /// Forget the batch: it belongs to an assignment that has ended.
        case forget
        /// Forget the batch, and begin the assignment again from the group's positions.
        case reset(ResetCause)
        /// Stop: another process has this worker's name.
        case stop
    }

    /// The reason why an assignment is begun again.
    public enum ResetCause: Sendable {
        /// The group stands where this worker did not put it.
        case overtaken
        /// A partition of held requests has gone that records are for.
        case misplaced
    }

    /// The things that there are to commit.
    public struct Holdings: Sendable {
        /// The records that wait.
        public var recordCount: Int
        /// Their bytes.
        public var byteCount: Int
        /// True if partitions are given up and no request is in work.
        public var isDrained: Bool
        /// True if positions must be committed before anything more is begun, whether or not a record can go with them.
        public var hasPositions: Bool

        /// The holdings of what there is to commit.
        public init(recordCount: Int, byteCount: Int, isDrained: Bool, hasPositions: Bool = false) {
            self.recordCount = recordCount
            self.byteCount = byteCount
            self.isDrained = isDrained
            self.hasPositions = hasPositions
        }
    }
}
