/// The fate of a transaction whose commit was never answered, inferred from where the group stands afterwards.
///
/// A transaction moves all of its partitions or none, so one that stands at its new position tells about all of them. The answer
/// is exact only once the transaction is settled: after its producer's successor has initialised, and from stable positions.
public enum DoubtfulCommit: Sendable, Equatable {
    /// It took place: its results are there, once.
    case committed
    /// It did not take place and never will: its results must be published again.
    case notCommitted
    /// A partition stands where neither the transaction nor its predecessor put it, so another worker owns it by now: nothing may be
    /// published.
    case superseded
    /// Some partitions moved and others did not, or none would have moved: nothing may be concluded, and nothing published.
    case inconclusive

    /// The knowledge of one partition of the transaction.
    public struct Position: Sendable, Equatable {
        /// The group's position before, or nil if it had none.
        public var before: LedgerCommit?
        /// The position that the transaction would give it.
        public var intended: LedgerCommit
        /// The group's position now, or nil if it has none.
        public var found: LedgerCommit?

        /// The knowledge of one partition.
        public init(before: LedgerCommit?, intended: LedgerCommit, found: LedgerCommit?) {
            self.before = before
            self.intended = intended
            self.found = found
        }
    }

    /// Decides from all partitions whose position one transaction was to set.
    public init(_ positions: [Position]) {
        var moved = 0
        var unmoved = 0
        for position in positions {
            let isMoved = position.found == position.intended
            let isUnmoved = position.found == position.before
            guard isMoved || isUnmoved else {
                self = .superseded
                return
            }
            // One that was to stay where it was tells nothing.
            if isMoved && !isUnmoved { moved += 1 }
            if isUnmoved && !isMoved { unmoved += 1 }
        }
        switch (moved > 0, unmoved > 0) {
        case (true, false): self = .committed
        case (false, true): self = .notCommitted
        case (true, true), (false, false): self = .inconclusive
        }
    }
}
