import Delivery

/// The broker of the model: partitions with gaps, transactions, and the positions of one group.
///
/// It is the judge, too. It keeps of every record, by its number, whether its result is visible and how often its call was made,
/// without a window, a ring or a bitmap; `fault` names the first thing that is not as promised.
struct ModelBroker {
    enum Answer { case accepted, fenced, refused }

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
        var results: [Int] = []
        var positions: [(partition: Int, commit: LedgerCommit)] = []
    }

    private(set) var fault: String?
    var group: ModelGroup
    // What is known of each record.
    private(set) var offsets: [Int64] = []
    private var partitions: [Int] = []
    private var isDeleted: [Bool] = []
    private var resultCounts: [Int] = []
    private var callCounts: [Int] = []
    /// How often a call may have to be made again, because who made it went away without a commit.
    private var excuses: [Int] = []
    /// The records that have no result yet.
    private(set) var openCount = 0
    // The partitions: numbers of records, in order of their offsets.
    private(set) var logs: [[Int]]
    private(set) var ends: [Int64]
    private var committed: [LedgerCommit?]
    /// The first record at or above the committed offset, as an index of the log.
    private(set) var firstUncommitted: [Int]
    private var transactions: [Transaction]
    private(set) var counts = ModelCounts()

    init(partitions: Int, slots: Int, isStatic: Bool) {
        group = ModelGroup(slots: slots, partitions: partitions, isStatic: isStatic)
        logs = Array(repeating: [], count: partitions)
        ends = Array(repeating: 0, count: partitions)
        committed = Array(repeating: nil, count: partitions)
        firstUncommitted = Array(repeating: 0, count: partitions)
        transactions = Array(repeating: Transaction(), count: slots)
    }

    mutating func fail(_ text: String) { if fault == nil { fault = text } }

    mutating func count(_ event: WritableKeyPath<ModelCounts, Int>) { counts[keyPath: event] += 1 }
}

// The partitions.
extension ModelBroker {
    mutating func append(_ count: Int, to partition: Int) {
        for _ in 0..<count {
            logs[partition].append(offsets.count)
            offsets.append(ends[partition])
            partitions.append(partition)
            isDeleted.append(false)
            resultCounts.append(0)
            callCounts.append(0)
            excuses.append(0)
            ends[partition] += 1
        }
        openCount += count
    }

    /// Offsets without records: transaction markers, aborted or compacted records.
    mutating func skip(_ width: Int64, in partition: Int) { ends[partition] += width }

    /// Compaction takes away a record that was not committed, read or not.
    mutating func delete(_ value: Int, in partition: Int) {
        let first = firstUncommitted[partition]
        guard first < logs[partition].count else { return }
        let record = logs[partition][first + value % (logs[partition].count - first)]
        if !isDeleted[record] && resultCounts[record] == 0 { openCount -= 1 }
        isDeleted[record] = true
    }

    /// The next record from an index of the log on, with its index; nil at the end.
    func next(_ partition: Int, from index: Int) -> Int? {
        var index = index
        while index < logs[partition].count {
            if !isDeleted[logs[partition][index]] { return index }
            index += 1
        }
        return nil
    }
}

// Calls.
extension ModelBroker {
    /// A call is made for a record.
    mutating func called(_ record: Int, by member: ModelGroup.Member) {
        if !group.isOwner(member, of: partitions[record]) {
            excuses[record] += 1
        } else if resultCounts[record] > 0 {
            fail("\(name(record)) is called again although its result is there")
        }
        callCounts[record] += 1
        counts.calls += 1
        if callCounts[record] > 1 { counts.repeated += 1 }
        if callCounts[record] > 1 + excuses[record] { fail("\(name(record)) is called again without need") }
    }

    mutating func excuse(_ record: Int) { excuses[record] += 1 }

    /// A record is dropped on arrival because the map says that it has its result.
    mutating func dropped(_ record: Int) {
        if resultCounts[record] == 0 { fail("\(name(record)) was dropped without a result") }
    }

    func name(_ record: Int) -> String { "\(partitions[record])@\(offsets[record])" }
}

// Transactions.
extension ModelBroker {
    /// Settles what the producer's predecessor left, and gives the next epoch.
    mutating func initTransactions(_ slot: Int) -> Int {
        if transactions[slot].phase == .prepared { carryOut(slot) }
        discard(slot)
        return transactions[slot].epoch
    }

    /// Begins a transaction with `results` and then `positions`.
    mutating func publish(
        _ results: [Int], _ positions: [(partition: Int, commit: LedgerCommit)], by member: ModelGroup.Member, producerEpoch: Int
    ) -> Answer {
        let slot = member.slot
        guard producerEpoch == transactions[slot].epoch else { return .fenced }
        transactions[slot].phase = .open
        transactions[slot].results = results
        guard group.accepts(member) else { return .refused }
        for position in positions where !group.isOwner(member, of: position.partition) {
            fail("the position of \(position.partition) was taken from a worker that does not own it")
        }
        transactions[slot].positions = positions
        return .accepted
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

    /// What was under way arrives.
    mutating func arrive(_ slot: Int) {
        if transactions[slot].phase == .ending || transactions[slot].phase == .prepared { carryOut(slot) }
    }

    /// The transaction timeout is over.
    mutating func timeOut(_ slot: Int) {
        if transactions[slot].phase == .open || transactions[slot].phase == .ending { discard(slot) }
    }

    /// Whether no transaction under way may still move the group's position.
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
        for record in transaction.results {
            resultCounts[record] += 1
            if resultCounts[record] > 1 { fail("\(name(record)) has two results") }
            if !isDeleted[record] { openCount -= 1 }
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

// The promise.
extension ModelBroker {
    /// Every record has either one result or none and is pending: at or above the committed offset and not in its map.
    private mutating func check(_ partition: Int, from start: Int) {
        let position = committed[partition] ?? LedgerCommit(offset: 0, metadata: "")
        guard let map = try? FinishedOffsets(decoding: position.metadata) else {
            fail("the metadata of \(partition) cannot be read")
            return
        }
        let log = logs[partition]
        var index = start
        while index < log.count {
            let record = log[index]
            let distance = offsets[record] - position.offset
            index += 1
            if distance < 0 { firstUncommitted[partition] = index }
            let isDone = distance < 0 || (distance < Int64(map.bitCount) && map.contains(Int(distance)))
            let hasResult = resultCounts[record] == 1
            // One that was deleted may count as done without a result.
            if isDone == hasResult || (isDone && isDeleted[record]) { continue }
            fail("\(name(record)) is \(isDone ? "done" : "pending") and has \(resultCounts[record]) results")
        }
    }

    /// Checks everything from the first record on.
    mutating func checkAll() {
        for partition in logs.indices { check(partition, from: 0) }
        var open = 0
        for record in offsets.indices where resultCounts[record] == 0 && !isDeleted[record] { open += 1 }
        if open != openCount { fail("\(open) records have no result, \(openCount) were counted") }
    }
}

/// How often the interesting cases came up.
struct ModelCounts {
    var commits = 0
    var foundCommitted = 0
    var foundNotCommitted = 0
    var superseded = 0
    var inconclusive = 0
    var refused = 0
    var fenced = 0
    var guarded = 0
    var drained = 0
    var cut = 0
    var lost = 0
    var waits = 0
    var parked = 0
    var lateCompletions = 0
    var takeovers = 0
    var calls = 0
    var repeated = 0

    static func += (sum: inout ModelCounts, part: ModelCounts) {
        for count in all { sum[keyPath: count] += part[keyPath: count] }
    }

    static var all: [WritableKeyPath<ModelCounts, Int>] { frequent + [\.superseded, \.inconclusive] }

    /// What comes up in every hundred thousand steps.
    static var frequent: [WritableKeyPath<ModelCounts, Int>] {
        [
            \.commits, \.foundCommitted, \.foundNotCommitted, \.refused, \.fenced, \.guarded, \.drained, \.cut, \.lost,
            \.waits, \.parked, \.lateCompletions, \.takeovers, \.calls, \.repeated,
        ]
    }
}
