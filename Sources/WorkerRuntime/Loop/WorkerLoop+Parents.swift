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
        guard parents.mayHaveRecords else { return }
        for slot in parents.slots {
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
                case .endOfPartition(let offset): parents[slot].passed(offset)
                case .error(let error): noteKafkaError(error)
                }
            }
        }
    }

    private func takeParent(_ record: borrowing ConsumedRecord, in slot: Int) {
        guard !parents[slot].begins(after: record.offset) else {
            return membership.foundBehindCommit(Membership.Partition(partitions[slot].id))
        }
        guard !partitions[slot].leaves(at: record, group: configuration.groupID) else { return parents.leave(slot) }
        partitions[slot].noteRead(record)
        partitions[slot].consumed.increment()
        guard let bytes = record.key, let (key, role) = ParentKey.read(bytes) else {
            noteUnknownParent(record.offset, in: slot)
            return
        }
        guard let value = record.value else {
            if role == .parent { parents[slot].deleted(key, at: record.offset) } else { parents[slot].passed(record.offset + 1) }
            return
        }
        switch role {
        case .parent: open(key, value: value, offset: record.offset, at: record.timestamp, in: slot)
        case .part(let chunk): end(key, chunk: chunk, value: value, at: record.offset, in: slot)
        case .progress, .claim: parents[slot].passed(record.offset + 1)
        }
    }

    private func open(_ key: ParentKey, value: Span<UInt8>, offset: Int64, at timestamp: Int64?, in slot: Int) {
        guard let record = ParentRecord(value) else {
            noteUnknownParent(offset, in: slot)
            return
        }
        let bytes = value.withUnsafeBufferPointer { Array($0) }
        let time = timestamp.map { Timestamp(milliseconds: $0) } ?? wallClock
        parents[slot].opened(key, record: bytes, chunks: record.chunks, at: offset, timestamp: time)
    }

    private func end(_ key: ParentKey, chunk: Int, value: Span<UInt8>, at offset: Int64, in slot: Int) {
        guard let tally = PartTally(value, chunk: chunk) else {
            noteUnknownParent(offset, in: slot)
            return
        }
        if parents[slot].isStray(key, chunk: chunk, at: offset) {
            expansionRecorder.delete(
                chunk, of: key, partition: partitions[slot].id.partition, from: .init(slot: slot, offset: offset), into: &outbox)
            parents[slot].deletes(key, at: offset)
            partitions[slot].isDirty = true
        }
        if let parent = parents[slot].notePart(key, tally: tally, at: offset) { finish(parent, in: slot, at: offset) }
    }

    /// Writes the one final result of a large request, and deletes its records, in one transaction with the partition's new position.
    private func finish(_ parent: OpenParents.Finished, in slot: Int, at offset: Int64) {
        guard let record = ParentRecord(parent.record.span) else { return }
        let id = partitions[slot].id
        let origin =
            record.origin
            ?? RecordOrigin(
                topic: id.topic, partition: id.partition, offset: parent.offset, timestamp: parent.timestamp)
        let source = OutcomeBatch.Origin(slot: slot, offset: offset)
        let hub = configuration.hubName(of: record)
        let member = hub.map(ResultWriter.hub) ?? ByteWriter()
        let conclusion = recorder.record(
            record, totals: parent.totals, hub: member, origin: origin, from: source, now: wallClock, into: &outbox)
        expansionRecorder.close(parent, partition: id.partition, from: source, into: &outbox)
        partitions[slot].isDirty = true
        ports.countingPort(named: hub).metrics.finished(
            conclusion, nanoseconds: wallClock.nanoseconds(since: origin.timestamp))
        log.info(
            .requestFinished, "a request has its final result",
            [
                .requestID: .string(record.id), .outcome: .string(conclusion.outcome.rawValue),
                .attempt: LogValue(parent.totals.attempts), .count: LogValue(parent.chunks),
                .partition: LogValue(origin.partition), .offset: LogValue(origin.offset),
            ])
    }

    private func noteUnknownParent(_ offset: Int64, in slot: Int) {
        parents[slot].passed(offset + 1)
        log.error(
            .requestExpanded, "a record of the topic of parents cannot be read; its request may stay without a result",
            [
                .topic: .string(partitions[slot].id.topic), .partition: LogValue(partitions[slot].id.partition),
                .offset: LogValue(offset),
            ])
    }
}
