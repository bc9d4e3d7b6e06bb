import Delivery

/// What the model knows of one record of a partition, and of its outcome.
struct ModelRecord {
    /// That brokers rejected a batch with its outcome.
    struct Refusal {
        /// When they did so first.
        let since: Int64
        /// How many records each topic had taken by then.
        let takenCounts: [CommitTopic: Int]
    }

    let partition: Int
    let offset: Int64
    /// Where the records go that finish it, the result first.
    let topics: [CommitTopic]
    /// Of each of these records.
    let byteCount: Int
    /// Why brokers never take its result; nil if they do.
    let rejection: CommitCycle.Cause?
    var isDeleted = false
    var resultCount = 0
    var callCount = 0
    /// How often a call may have to be made again, because who made it went away without a commit.
    var excuseCount = 0
    /// Whether an owner of its partition has begun it.
    var wasBegun = false
    var refusal: Refusal?

    /// A record whose outcome depends on `flavour`: mostly one small result that brokers take.
    init(_ partition: Int, _ offset: Int64, flavour: Int, mayBeRejected: Bool) {
        self.partition = partition
        self.offset = offset
        let first: CommitTopic = flavour % 4 == 3 ? .delay(0) : .results
        topics = flavour % 7 == 6 ? [first, .own] : [first]
        byteCount = flavour % 13 == 12 ? 400_000 : flavour % 5 == 4 ? 30_000 : 1000
        let kind = mayBeRejected ? flavour % 97 : 0
        rejection = kind == 96 ? .refused : kind == 95 ? .tooLarge : nil
    }
}

/// One of the records that finish a record.
struct ModelOutcome {
    /// The finished record.
    let record: Int
    let id: CommitUnit.ID
    let topic: CommitTopic
    let byteCount: Int
}
