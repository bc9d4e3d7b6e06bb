import Delivery
import Kafka
import Observability
import PushModel

/// The topic of parents: what became of the parts of large requests, and the result of each when its last part has ended.
///
/// Its partitions are assigned by the group like those of requests, so each has one owner, whose commits the group fences.
extension WorkerLoop {
    /// Records of a partition in a row before the next one has its turn.
    private static let parentRecordsPerTurn = 256

    /// True if there is room for results of large requests.
    var canReadParents: Bool { mode == .running && membership.isProducerReady && hasRoomForOutcomes }

    /// Takes what has come in the partitions of the topic of parents.
    func readParents() {
        guard canReadParents else { return }
        for slot in parents.takeRound() {
            var budget = Self.parentRecordsPerTurn
            while budget > 0 && parents.mayHaveRecord(slot) && canReadParents && membership.behindCommit.isEmpty {
                budget -= 1
                if let (parent, offset) = parents[slot].takeUnfinished() {
                    finish(parent, in: slot, at: offset)
                    continue
                }
                let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { takeParent($0, in: slot) }
                switch result {
                case .record: break
                case .empty: parents.wasEmpty(slot)
                case .endOfPartition(let offset) where offset < parents[slot].position: doubt(slot)
                case .endOfPartition(let offset): parents[slot].passed(offset)
                case .error(let error): note(error, of: slot)
                }
            }
            parents.noteRead(slot)
            marks.touch(slot)
        }
    }

    private func takeParent(_ record: borrowing ConsumedRecord, in slot: Int) {
        guard !parents[slot].begins(after: record.offset) else {
            return membership.foundBehindCommit(Membership.Partition(partitions[slot].id))
        }
        guard !partitions[slot].leaves(at: record, group: configuration.groupID) else { return parents.leave(slot) }
        partitions[slot].noteRead(record)
        partitions[slot].consumed.increment()
        let (offset, time) = (record.offset, record.timestamp.map { Timestamp(milliseconds: $0) } ?? wallClock)
        switch parents[slot].take(key: record.key, value: record.value, at: offset, timestamp: time) {
        case .none: break
        case .finish(let parent): finish(parent, in: slot, at: offset)
        case .delete(let key, let chunk):
            recorders.expansions.delete(
                chunk, of: key, partition: partitions[slot].id.partition, from: .init(slot: slot, offset: offset), into: &outbox)
            markDirty(slot)
        case .unreadable: noteUnknownParent(offset, in: slot)
        }
    }

    /// Writes the one final result of a large request, and deletes its records, in one transaction with the partition's new position.
    private func finish(_ parent: OpenParents.Finished, in slot: Int, at offset: Int64) {
        guard let record = ParentRecord(parent.record.span) else { return }
        let id = partitions[slot].id
        let hub = configuration.hubName(of: record)
        let place = RecordOrigin(
            topic: id.topic, partition: id.partition, offset: parent.offset, timestamp: parent.timestamp)
        let origin = record.origin ?? place
        let conclusion = recorders.finish(
            parent, record: record, hub: hub.map(ResultWriter.hub) ?? ByteWriter(), origin: origin, partition: id.partition,
            from: .init(slot: slot, offset: offset), now: wallClock, into: &outbox)
        markDirty(slot)
        ports.countingPort(named: hub).metrics.finished(conclusion, nanoseconds: wallClock.nanoseconds(since: origin.timestamp))
        requestLog.note(conclusion, of: record.id, attempts: parent.totals.attempts, at: origin)
    }

    private func noteUnknownParent(_ offset: Int64, in slot: Int) {
        log.error(
            .requestExpanded, "a record of the topic of parents cannot be read; its request may stay without a result",
            [
                .topic: .string(partitions[slot].id.topic), .partition: LogValue(partitions[slot].id.partition),
                .offset: LogValue(offset),
            ])
    }
}
