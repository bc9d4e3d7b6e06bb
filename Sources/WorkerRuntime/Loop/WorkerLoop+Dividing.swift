import Delivery
import Kafka
import Observability
import PushModel

/// Batches that are not committed as a whole: because brokers are slow, or because they do not take what one holds.
extension WorkerLoop {
    /// What finished records leave to a later commit, by the slot of their partition: ascending offsets.
    typealias LeftOut = [Int: [Int64]]

    /// Takes from the outbox what the next commit holds.
    func takeBatch() -> (batch: OutcomeBatch, left: LeftOut) {
        if refusedUnits.isEmpty, !publishesInOrder, commitSize.holds(units: outbox.records.count, bytes: outbox.bytes.count) {
            let batch = outbox
            outbox = spareBatch
            spareBatch = OutcomeBatch()
            return (batch, [:])
        }
        let units = units(of: outbox).filter { !publishesInOrder || isBelowMark($0.origin) }
        // What is refused is offered by itself.
        if let refused = dueAgain(units) {
            let left = units.filter { $0.origin != refused.origin && $0.origin.slot == refused.origin.slot }
            return (outbox.remove(Set(refused.records)), [refused.origin.slot: left.map(\.origin.offset)])
        }
        var picked = Set<Int>()
        var left: LeftOut = [:]
        var (unitCount, byteCount) = (0, 0)
        for unit in units {
            let origin = unit.origin
            let isNear = left[origin.slot]?.first.map { origin.offset - $0 < Int64(OffsetLedger.maximumWindow) } ?? true
            let hasRoom =
                unitCount == 0 || unitCount < commitSize.unitLimit && byteCount + unit.byteCount <= commitSize.byteLimit
            if hasRoom && isNear && refusedUnits[origin] == nil {
                (unitCount, byteCount) = (unitCount + 1, byteCount + unit.byteCount)
                picked.formUnion(unit.records)
            } else {
                left[origin.slot, default: []].append(origin.offset)
            }
        }
        return (outbox.remove(picked), left)
    }

    /// What was refused and must be offered again: because its topics have taken others since, because it has waited, or because there is
    /// nothing else.
    private func dueAgain(_ units: [OutcomeBatch.Unit]) -> OutcomeBatch.Unit? {
        guard !refusedUnits.isEmpty else { return nil }
        let isAll = units.allSatisfy { refusedUnits[$0.origin] != nil }
        func moment(_ unit: OutcomeBatch.Unit) -> Int64 {
            refusedUnits[unit.origin].map { $0.topics.isEmpty ? .min : $0.retryAt } ?? .max
        }
        guard let unit = units.min(by: { moment($0) < moment($1) }), isAll || moment(unit) <= now else { return nil }
        return mayBeOffered(unit, among: units) ? unit : nil
    }

    /// Whether nothing is in the outbox that could be offered without delay.
    var areAllRefused: Bool { !refusedUnits.isEmpty && outbox.records.allSatisfy { refusedUnits[$0.origin] != nil } }

    /// Whether the map of what is finished can say that a unit is, and others before it are not.
    private func mayBeOffered(_ unit: OutcomeBatch.Unit, among units: [OutcomeBatch.Unit]) -> Bool {
        let first = units.first { $0.origin.slot == unit.origin.slot }
        return first.map { unit.origin.offset - $0.origin.offset < Int64(OffsetLedger.maximumWindow) } ?? true
    }

    /// Notes that the topics of a batch have taken it.
    func noteTaken(_ batch: borrowing OutcomeBatch) {
        guard !refusedUnits.isEmpty || commitSize.isSearching else { return }
        let topics = batch.records.map(\.destination.topic)
        takenInSearch.formUnion(topics)
        for record in batch.records { refusedUnits[record.origin] = nil }
        for origin in Array(refusedUnits.keys) { refusedUnits[origin]?.topics.subtract(topics) }
    }

    /// What can be committed apart. What became of large requests is committed with one position for all.
    private func units(of batch: borrowing OutcomeBatch) -> [OutcomeBatch.Unit] {
        batch.units { parents.slots.contains($0) }
    }

    /// Whether everything before a record is finished, and itself.
    func isBelowMark(_ origin: OutcomeBatch.Origin) -> Bool {
        // What parents come to has no place in an order.
        if parents.slots.contains(origin.slot) { return true }
        return partitions[origin.slot].begins(after: origin.offset)
    }

    /// Puts a batch of which nothing is published back, to be offered again and perhaps otherwise.
    func putBack(_ commit: OfferedCommit) {
        var batch = commit.job.batch
        batch.append(contentsOf: outbox)
        outbox = batch
        for slot in commit.slots { partitions[slot].isDirty = true }
    }

    /// Sees to a batch of which nothing is published.
    ///
    /// - Returns: Whether it is offered again as it is.
    func cure(_ commit: inout OfferedCommit, _ error: KafkaError) -> Bool {
        if error.refusesRecords, commit.job.batch.cutLargeDeadLetters() > 0 { return true }
        let failure = failure(of: commit, error)
        let units = failure == .unrelated ? [] : units(of: commit.job.batch)
        let bytes = units.reduce(0) { $0 + $1.byteCount }
        let known = units.first.flatMap { refusedUnits[$0.origin] }
        if failure == .refused && !commitSize.isSearching { takenInSearch.removeAll() }
        switch commitSize.failed(
            failure, units: units.count, bytes: bytes, isProven: units.count == 1 && known?.topics.isEmpty ?? false)
        {
        case .again: return true
        case .divide: break
        case .setAside: if let unit = units.first { setAside(unit, commit.job.batch) }
        case .replace:
            guard let unit = units.first else { break }
            if commit.job.batch.records.allSatisfy({ $0.destination == .deadLetters }) {
                setAside(unit, commit.job.batch)
            } else {
                refusedUnits[unit.origin] = nil
                replace(&commit.job.batch, of: unit.origin, error)
            }
        }
        putBack(commit)
        return false
    }

    private func setAside(_ unit: OutcomeBatch.Unit, _ batch: borrowing OutcomeBatch) {
        let wait = min((refusedUnits[unit.origin]?.wait ?? RefusedUnit.firstWait / 2) * 2, RefusedUnit.longestWait)
        let topics = refusedUnits[unit.origin]?.topics ?? Set(unit.records.map { batch.records[$0].destination.topic })
        refusedUnits[unit.origin] = RefusedUnit(topics: topics.subtracting(takenInSearch), wait: wait, retryAt: now + wait)
    }

    private func failure(of commit: OfferedCommit, _ error: KafkaError) -> CommitSize.Failure {
        if error.refusesRecords { return .refused }
        // Brokers fence a producer whose transaction they have given up.
        let isOverlong = now - commit.begun > configuration.transactionTimeout.nanoseconds / 10 * 9
        return error.isTimeout || commit.hasTimedOut || error.isFenced && isOverlong ? .timedOut : .unrelated
    }

    /// What the brokers do not take becomes a dead letter that says so.
    private func replace(_ batch: inout OutcomeBatch, of origin: OutcomeBatch.Origin, _ error: KafkaError) {
        let id = partitions[origin.slot].id
        let place = RecordOrigin(topic: id.topic, partition: id.partition, offset: origin.offset, timestamp: wallClock)
        // What is held already was taken before, as large as it is.
        let wasMoving =
            partitions[origin.slot].role.hasRequests
            && batch.records.contains { if case .held = $0.destination { true } else { false } }
        batch = OutcomeBatch()
        let failure = UnreadableRecord.notTaken(error.name)
        deadLetters.record(place, slot: origin.slot, failure, into: &batch)
        if wasMoving { ordered.queues[origin.slot].neverArrives(publishedAt: origin.offset) }
        metrics.deadLettered(failure.reason, topic: id.topic)
        log.error(
            .deadLettered, "broker rejects the result of this request but accepts others; writing a dead letter",
            [
                .topic: .string(id.topic), .partition: LogValue(id.partition), .offset: LogValue(origin.offset),
                .reason: .string(error.description),
            ])
    }
}

/// What brokers have refused alone; it is in the outbox.
struct RefusedUnit {
    /// The topics of it that have taken nothing since.
    var topics: Set<OutcomeBatch.Destination.Topic>
    /// How long it waits if they take nothing, nanoseconds.
    let wait: Int64
    /// Until then, monotonic nanoseconds.
    let retryAt: Int64

    static let firstWait: Int64 = 500_000_000
    static let longestWait: Int64 = 30_000_000_000
}

extension OutcomeBatch.Destination {
    /// Which topic records go to.
    enum Topic: Hashable {
        case results, deadLetters, delay(Int), held, own, parents, handles
    }

    var topic: Topic {
        switch self {
        case .results: .results
        case .deadLetters: .deadLetters
        case .delay(let lane), .poll(let lane): .delay(lane)
        case .held: .held
        case .own: .own
        case .parents: .parents
        case .handles: .handles
        }
    }
}
