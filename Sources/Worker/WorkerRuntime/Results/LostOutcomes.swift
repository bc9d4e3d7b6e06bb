import Delivery
import Kafka
import PushModel

extension OfferedBatch {
    /// A partition of requests that is forgotten, and its position.
    struct Lost {
        var slot: Int
        var partition: TopicPartition
        var committed: LedgerCommit?
    }

    /// Keeps what is known and not committed of partitions that are forgotten. If there are any, what is offered belongs to them.
    mutating func keep(_ outbox: borrowing OutcomeBatch, of partitions: [Lost]) {
        guard !partitions.isEmpty else { return }
        var entries = outbox.knownEntries()
        if let job { entries.merge(job.batch.knownEntries(isWritten: job.standing == .written)) { $0 + $1 } }
        for lost in partitions {
            let next = slots.firstIndex(of: lost.slot).flatMap { job?.offsets[$0] }
            known.noteLost(
                Membership.Partition(lost.partition), at: [lost.committed, next.map { LedgerCommit($0) }].compactMap { $0 },
                knowing: entries[lost.slot] ?? [])
        }
    }

    /// Notes that the records of the offered batch are written. Its partitions may have been lost meanwhile: then they are not written again
    /// when these come back.
    mutating func noteWritten() {
        guard known.count > 0, let job else { return }
        for (slot, entries) in job.batch.knownEntries(isWritten: true) {
            guard let place = slots.firstIndex(of: slot) else { continue }
            known.replace(with: entries, of: Membership.Partition(job.offsets[place].partition))
        }
    }
}

extension OutcomeBatch {
    /// The outcomes of requests that a device may have heard of, by their partitions' slots, as far as each is its result and
    /// what goes with it, or its history for a delay lane. They are empty if all are written, and only the positions are missing.
    /// What was on its way to the held requests, where a key has its order, or into parts is read again and begun again.
    func knownEntries(isWritten: Bool = false) -> [Int: [UncommittedResults<OutcomeBatch>.Entry]] {
        var entries: [Int: [UncommittedResults<OutcomeBatch>.Entry]] = [:]
        guard records.contains(where: { $0.source != nil }) else { return entries }
        // No more is kept in the end.
        var room = UncommittedResults<OutcomeBatch>.greatestByteCount
        for unit in units() where unit.places.allSatisfy({ records[$0].destination.canBeWrittenLater }) {
            guard let request = unit.places.lazy.compactMap({ knownRequest(of: records[$0]) }).first else { continue }
            room -= unit.byteCount
            guard room >= 0 else { break }
            let outcome = isWritten ? OutcomeBatch() : copy(of: unit.places)
            entries[unit.id.slot, default: []].append(.init(outcome, of: request, byteCount: unit.byteCount))
        }
        return entries
    }

    /// The request whose result or history a record is, or nil if it is none, or no device can have heard of the request.
    private func knownRequest(of record: Record) -> KnownRequest? {
        guard let source = record.source, let id = source.id ?? record.key.map({ RequestIdentity(ofID: span($0, of: record)) })
        else { return nil }
        return KnownRequest(
            offset: record.origin.offset, time: source.time.milliseconds, byteCount: source.byteCount, id: id)
    }
}

extension OutcomeBatch.Destination {
    /// True if its records can be written at any later time.
    fileprivate var canBeWrittenLater: Bool {
        switch self {
        case .results, .delay, .poll, .parents, .handles: true
        case .deadLetters, .held, .own: false
        }
    }
}

extension KnownRequest {
    /// The request that a flight carries.
    init(_ flight: Flight) {
        self.init(
            offset: flight.place.offset, time: flight.place.origin.timestamp.milliseconds, byteCount: flight.place.valueByteCount,
            id: lend(&flight.request) { RequestIdentity(ofID: $0.document.span($0.id)) })
    }
}

extension RequestIdentity {
    /// The name by which a request's id is known in this process.
    fileprivate init(ofID id: Span<UInt8>) {
        self.init(seed: 0)
        add(id)
    }
}

extension Conclusion {
    /// True if a device may have heard of the request.
    var mayHaveArrived: Bool { outcome == .success || outcome == .ambiguous || state == .partial }
}
