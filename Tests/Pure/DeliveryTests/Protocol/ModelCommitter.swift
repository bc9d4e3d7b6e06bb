import Delivery

/// The committer of a model worker, with its producer: it does what `OutcomePublisher` does, and `DoubtfulCommit` says what became of a commit
/// without an answer.
struct ModelCommitter {
    /// Outcomes on their way, with the positions that make them final.
    struct Job {
        var batch: [ModelOutcome]
        var slots: [Int] = []
        var positions: [(partition: Int, commit: LedgerCommit)] = []
        /// Where the group stood before, for each of `positions`.
        var before: [LedgerCommit?] = []
        /// Of the assignment that it belongs to.
        let epoch: Int
        var standing = CommitCycle.Standing.unpublished
        /// The worker's place in the group when the batch was handed over.
        var member: ModelGroup.Member

        var byteCount: Int { batch.reduce(0) { $0 + $1.byteCount } }

        /// Whether there is nothing that could be lost or repeated.
        var changesNothing: Bool { batch.isEmpty && zip(positions, before).allSatisfy { $0.commit == $1 } }
    }

    enum Reply {
        case committed, overtaken, fenced
        case failed(CommitCycle.Cause, CommitCycle.Standing)
    }

    /// What became of a transaction whose end was not heard of.
    enum Fate { case carriedOut, underWay, prepared, neverSent }

    /// From how many times in a row on it is a second process that fences.
    private static let fencingLimit = 5
    /// After what time a commit may have been lost although it was confirmed: 1 s in nanoseconds.
    private static let promptness: Int64 = 1_000_000_000

    let slot: Int
    let transactionTimeout: Int64
    private(set) var job: Job?
    private(set) var isOpen = false
    /// What it is asked beside commits, in this order.
    var questions: [Question] = []
    /// What it has found out; the worker hears of it later.
    var answers: [Answer] = []
    /// Nil until the next producer is initialised.
    private var producerEpoch: Int?
    private var fencedCount = 0
    private var begun: Int64 = 0

    init(_ slot: Int, transactionTimeout: Int64) {
        self.slot = slot
        self.transactionTimeout = transactionTimeout
    }

    /// Whether it has something to do.
    var isBusy: Bool { job != nil || !questions.isEmpty }

    mutating func take(_ job: Job, _ broker: inout ModelBroker) {
        if self.job != nil { broker.fail("two batches are offered at once") }
        self.job = job
    }

    /// The producer; the first time, the broker settles what its predecessor left.
    @discardableResult
    mutating func prepare(_ broker: inout ModelBroker) -> Int {
        if let producerEpoch { return producerEpoch }
        let fresh = broker.initTransactions(slot)
        producerEpoch = fresh
        return fresh
    }

    /// Fills a transaction, or finds out whether the last one took place.
    mutating func publish(to broker: inout ModelBroker) -> Reply? {
        let epoch = prepare(&broker)
        guard let job, !isOpen else { return nil }
        if job.standing == .doubtful, !job.changesNothing { return end(resolveDoubt(about: job, &broker)) }
        begun = broker.now
        switch broker.publish(job, producerEpoch: epoch) {
        case .accepted:
            isOpen = true
            return nil
        case .fenced: return end(fenced(job.standing, &broker))
        case .refused(let cause):
            if cause == .outOfGroup { broker.count(\.refused) }
            _ = broker.abort(slot, producerEpoch: epoch)
            return end(.failed(cause, job.standing))
        }
    }

    mutating func commit(to broker: inout ModelBroker) -> Reply? {
        guard isOpen, let job, let producerEpoch else { return nil }
        switch broker.commit(slot, producerEpoch: producerEpoch) {
        case .accepted:
            if broker.now - begun < Self.promptness || job.changesNothing { return end(.committed) }
            broker.count(\.slow)
            return end(resolveDoubt(about: job, &broker))
        case .fenced, .refused: return end(fenced(.doubtful, &broker))
        }
    }

    /// The transaction fails before its commit was asked for.
    mutating func fail(isTimeout: Bool, _ broker: inout ModelBroker) -> Reply? {
        guard isOpen, let job, let producerEpoch else { return nil }
        if isTimeout {
            // A request may still be on its way; only a new producer keeps it out of the next transaction.
            self.producerEpoch = nil
            return end(.failed(.timedOut, job.standing))
        }
        if case .fenced = broker.abort(slot, producerEpoch: producerEpoch) { return end(fenced(job.standing, &broker)) }
        return end(.failed(.other, job.standing))
    }

    /// The commit is asked for, and no answer comes.
    mutating func commitUnanswered(_ fate: Fate, _ broker: inout ModelBroker) -> Reply? {
        guard isOpen else { return nil }
        leave(fate, &broker)
        return end(.failed(.timedOut, .doubtful))
    }

    /// It hangs and is given up, with its producer.
    mutating func abandon(_ fate: Fate, _ broker: inout ModelBroker) {
        if isOpen { leave(fate, &broker) }
        self = ModelCommitter(slot, transactionTimeout: transactionTimeout)
    }

    private mutating func leave(_ fate: Fate, _ broker: inout ModelBroker) {
        guard let producerEpoch else { return }
        switch fate {
        case .carriedOut: _ = broker.commit(slot, producerEpoch: producerEpoch)
        case .underWay: broker.beginEnding(slot, producerEpoch: producerEpoch, .ending)
        case .prepared: broker.beginEnding(slot, producerEpoch: producerEpoch, .prepared)
        case .neverSent: break
        }
        self.producerEpoch = nil
    }

    private mutating func resolveDoubt(about job: Job, _ broker: inout ModelBroker) -> Reply {
        var positions: [DoubtfulCommit.Position] = []
        for (index, position) in job.positions.enumerated() {
            guard broker.isStable(position.partition) else { return .failed(.timedOut, .doubtful) }
            let found = broker.position(position.partition)
            positions.append(DoubtfulCommit.Position(before: job.before[index], intended: position.commit, found: found))
        }
        switch DoubtfulCommit(positions) {
        case .committed:
            broker.count(\.foundCommitted)
            return .committed
        case .notCommitted:
            broker.count(\.foundNotCommitted)
            return .failed(.other, .unpublished)
        case .superseded, .inconclusive:
            broker.count(\.superseded)
            return .overtaken
        }
    }

    /// A producer that is fenced has a successor, or the broker lost patience with its transaction.
    private mutating func fenced(_ standing: CommitCycle.Standing, _ broker: inout ModelBroker) -> Reply {
        broker.count(\.fenced)
        producerEpoch = nil
        if broker.now - begun < transactionTimeout / 10 * 9 { fencedCount += 1 }
        return fencedCount >= Self.fencingLimit ? .fenced : .failed(.fenced, standing)
    }

    private mutating func end(_ reply: Reply) -> Reply {
        if case .committed = reply { fencedCount = 0 }
        job = nil
        isOpen = false
        return reply
    }
}
