import Basics
import Delivery

/// The broker of the model: partitions with gaps, transactions, and the positions of one group.
///
/// It keeps of every record, by its number, whether its result is visible and how often its call was made, without a window, a ring or a
/// bitmap. `fault` names the first thing that is not as promised.
struct ModelBroker {
    enum Answer { case accepted, fenced, refused(CommitCycle.Cause) }

    struct Transaction {
        enum Phase {
            case idle, open
            /// The request to commit is still in the network.
            case ending
            /// The decision is durable, but not carried out.
            case prepared
        }
        var phase = Phase.idle
        /// Of the producer that may use it; an older one is fenced.
        var epoch = 0
        var outcomes: [ModelOutcome] = []
        var positions: [(partition: Int, commit: LedgerCommit)] = []
    }

    /// The present moment, nanoseconds.
    var now: Int64 = 0
    var group: ModelGroup
    /// The topics that take nothing at present, and what they say.
    var closedTopics: [CommitTopic: CommitCycle.Cause] = [:]
    /// Up to how many bits it takes positions with a map of finished offsets.
    let longestMap: Int
    private(set) var fault: String?
    private(set) var records: [ModelRecord] = []
    /// The records that have no result yet.
    private(set) var openCount = 0
    // The partitions: numbers of records, in order of their offsets.
    private(set) var logs: [[Int]]
    private(set) var ends: [Int64]
    var committed: [LedgerCommit?]
    /// The first record at or above the committed offset, as an index of the log.
    var firstUncommitted: [Int]
    private var transactions: [Transaction]
    private var takenCounts: [CommitTopic: Int] = [:]
    private(set) var counts = ModelCounts()

    init(partitions: Int, slots: Int, isStatic: Bool, longestMap: Int) {
        group = ModelGroup(slots: slots, partitions: partitions, isStatic: isStatic)
        self.longestMap = longestMap
        logs = Array(repeating: [], count: partitions)
        ends = Array(repeating: 0, count: partitions)
        committed = Array(repeating: nil, count: partitions)
        firstUncommitted = Array(repeating: 0, count: partitions)
        transactions = Array(repeating: Transaction(), count: slots)
    }

    var moment: MonotonicTime { MonotonicTime(nanoseconds: now) }

    mutating func fail(_ text: String) { if fault == nil { fault = text } }

    mutating func count(_ event: WritableKeyPath<ModelCounts, Int>) { counts[keyPath: event] += 1 }

    func name(_ record: Int) -> String { "\(records[record].partition)@\(records[record].offset)" }
}

// The partitions.
extension ModelBroker {
    /// Writes records, whose flavours are spread from `flavour` on.
    mutating func append(_ count: Int, to partition: Int, flavour: Int, mayBeRejected: Bool = false) {
        for index in 0..<count {
            logs[partition].append(records.count)
            records.append(ModelRecord(partition, ends[partition], flavour: flavour + index * 37, mayBeRejected: mayBeRejected))
            ends[partition] += 1
        }
        openCount += count
    }

    /// Offsets without records: transaction markers, aborted or compacted records.
    mutating func skip(_ width: Int64, in partition: Int) { ends[partition] += width }

    /// An operator gives the topic one more partition.
    mutating func grow() {
        logs.append([])
        ends.append(0)
        committed.append(nil)
        firstUncommitted.append(0)
        group.grow()
    }

    /// Compaction takes away a record that was not committed, read or not.
    mutating func delete(_ value: Int, in partition: Int) {
        let first = firstUncommitted[partition]
        guard first < logs[partition].count else { return }
        let record = logs[partition][first + value % (logs[partition].count - first)]
        if !records[record].isDeleted && records[record].resultCount == 0 { openCount -= 1 }
        records[record].isDeleted = true
    }

    /// The next record from an index of the log on, with its index; nil at the end.
    func next(_ partition: Int, from index: Int) -> Int? {
        var index = index
        while index < logs[partition].count {
            if !records[logs[partition][index]].isDeleted { return index }
            index += 1
        }
        return nil
    }

    /// Where in the log reading begins.
    func index(of start: AssignmentPlan.Start, in partition: Int) -> Int {
        switch start {
        case .beginning: return 0
        case .end: return logs[partition].count
        case .offset(let offset):
            var (low, high) = (0, logs[partition].count)
            while low < high {
                let middle = (low + high) / 2
                if records[logs[partition][middle]].offset < offset { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

// Calls.
extension ModelBroker {
    /// A call is made for a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - member: Who makes it.
    ///   - isSuspected: Whether that worker knows that an owner before it may have begun the record.
    mutating func called(_ record: Int, by member: ModelGroup.Member, isSuspected: Bool) {
        if !group.isOwner(member, of: records[record].partition) {
            records[record].excuseCount += 1
        } else {
            if records[record].resultCount > 0 { fail("\(name(record)) is called again although its result is there") }
            if records[record].wasBegun && !isSuspected { fail("\(name(record)) is called again and counts as not begun") }
            records[record].wasBegun = true
        }
        records[record].callCount += 1
        counts.calls += 1
        if records[record].callCount > 1 { counts.repeated += 1 }
        if records[record].callCount > 1 + records[record].excuseCount { fail("\(name(record)) is called again without need") }
    }

    /// An owner begins a partition without a position: nothing says what an owner before it has begun.
    mutating func forgetBegun(_ partition: Int) { for record in logs[partition] { records[record].wasBegun = false } }

    mutating func excuse(_ record: Int) { records[record].excuseCount += 1 }

    /// A record is dropped on arrival because the map says that it has its result.
    mutating func dropped(_ record: Int) {
        if records[record].resultCount == 0 { fail("\(name(record)) was dropped without a result") }
    }

    /// A dead letter is written in place of a result. In order nothing may be offered behind it that could prove it.
    mutating func gaveUp(_ record: Int, patience: Int64, isInOrder: Bool) {
        counts.givenUp += 1
        guard let refusal = records[record].refusal else {
            fail("\(name(record)) is given up and was not rejected")
            return
        }
        if now - refusal.since < patience { fail("\(name(record)) is given up \(now - refusal.since) ns after its rejection") }
        if isInOrder { return }
        for topic in records[record].topics where takenCounts[topic] == refusal.takenCounts[topic] {
            fail("\(name(record)) is given up although \(topic) takes no other either")
        }
    }
}

// Transactions.
extension ModelBroker {
    /// Settles what the producer's predecessor left, and gives the next epoch.
    mutating func initTransactions(_ slot: Int) -> Int {
        if transactions[slot].phase == .prepared { carryOut(slot) }
        discard(slot)
        return transactions[slot].epoch
    }

    /// Begins a transaction with the job's records and then its positions.
    mutating func publish(_ job: ModelCommitter.Job, producerEpoch: Int) -> Answer {
        let slot = job.member.slot
        guard producerEpoch == transactions[slot].epoch else { return .fenced }
        transactions[slot].phase = .open
        checkUnits(of: job)
        if let cause = rejection(of: job.batch) { return .refused(cause) }
        transactions[slot].outcomes = job.batch
        guard group.accepts(job.member) else { return .refused(.outOfGroup) }
        for (partition, commit) in job.positions {
            if !takes(commit) { return .refused(.metadataTooLarge) }
            if !group.isOwner(job.member, of: partition) {
                fail("the position of \(partition) was taken from a worker that does not own it")
            }
        }
        transactions[slot].positions = job.positions
        return .accepted
    }

    func takes(_ position: LedgerCommit) -> Bool {
        (try? FinishedOffsets(decoding: position.metadata)).map { $0.bitCount <= longestMap } ?? false
    }

    /// What finishes a record goes out as a whole, and with the position of its partition.
    private mutating func checkUnits(of job: ModelCommitter.Job) {
        let partitions = Set(job.positions.map(\.partition))
        var counts: [Int: Int] = [:]
        for outcome in job.batch { counts[outcome.record, default: 0] += outcome.topic == .deadLetters ? 1000 : 1 }
        for (record, count) in counts {
            if count != 1000 && count != records[record].topics.count { fail("\(name(record)) is published in part") }
            if !partitions.contains(records[record].partition) { fail("\(name(record)) is published without a position") }
        }
    }

    private mutating func rejection(of batch: [ModelOutcome]) -> CommitCycle.Cause? {
        for outcome in batch {
            let known = records[outcome.record]
            let own = outcome.topic == known.topics[0] ? known.rejection : nil
            guard let cause = own ?? closedTopics[outcome.topic] else { continue }
            for other in batch where records[other.record].refusal == nil {
                records[other.record].refusal = ModelRecord.Refusal(since: now, takenCounts: takenCounts)
            }
            counts.rejected += 1
            return cause
        }
        return nil
    }

    mutating func commit(_ slot: Int, producerEpoch: Int) -> Answer {
        guard producerEpoch == transactions[slot].epoch, transactions[slot].phase == .open else { return .fenced }
        carryOut(slot)
        return .accepted
    }

    mutating func abort(_ slot: Int, producerEpoch: Int) -> Answer {
        guard producerEpoch == transactions[slot].epoch else { return .fenced }
        transactions[slot] = Transaction(epoch: producerEpoch)
        return .accepted
    }

    /// The request to commit stays in the network, or its decision is made but not carried out.
    mutating func beginEnding(_ slot: Int, producerEpoch: Int, _ phase: Transaction.Phase) {
        guard producerEpoch == transactions[slot].epoch, transactions[slot].phase == .open else { return }
        transactions[slot].phase = phase
    }

    /// What was on its way arrives.
    mutating func arrive(_ slot: Int) {
        if transactions[slot].phase == .ending || transactions[slot].phase == .prepared { carryOut(slot) }
    }

    /// The transaction timeout is over.
    mutating func timeOut(_ slot: Int) {
        if transactions[slot].phase == .open || transactions[slot].phase == .ending { discard(slot) }
    }

    /// Whether no open transaction may still move the group's position.
    func isStable(_ partition: Int) -> Bool {
        for slot in transactions.indices where transactions[slot].phase != .idle {
            for position in transactions[slot].positions where position.partition == partition { return false }
        }
        return true
    }

    /// The group's position; nil if it has none.
    func position(_ partition: Int) -> LedgerCommit? { committed[partition] }

    private mutating func discard(_ slot: Int) { transactions[slot] = Transaction(epoch: transactions[slot].epoch + 1) }

    private mutating func carryOut(_ slot: Int) {
        let transaction = transactions[slot]
        transactions[slot] = Transaction(epoch: transaction.epoch)
        for outcome in transaction.outcomes {
            takenCounts[outcome.topic, default: 0] += 1
            let record = outcome.record
            guard outcome.topic == .deadLetters || outcome.topic == records[record].topics[0] else { continue }
            records[record].resultCount += 1
            if records[record].resultCount > 1 { fail("\(name(record)) has two results") }
            if !records[record].isDeleted { openCount -= 1 }
        }
        for (partition, commit) in transaction.positions {
            if let before = committed[partition], commit.offset < before.offset {
                fail("the position of \(partition) went back from \(before.offset) to \(commit.offset)")
            }
            if commit.offset > ends[partition] { fail("\(commit.offset) is committed beyond the end of \(partition)") }
            committed[partition] = commit
        }
        for (partition, _) in transaction.positions { check(partition, from: firstUncommitted[partition]) }
        counts.commits += 1
    }
}
