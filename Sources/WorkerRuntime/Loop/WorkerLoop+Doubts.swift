import Delivery
import GroupPositions
import Kafka
import Observability
import PushModel

/// Partitions whose logs may not be those that were read: a topic may be deleted and made again while it is read, and then other records
/// have the places of those that are known.
extension WorkerLoop {
    /// Reads a partition no further until it is known whether it holds what was read of it. One of which nothing was read has nothing to
    /// be taken for.
    func doubt(_ slot: Int) {
        guard partitions[slot].left == nil, partitions[slot].refusal == nil, partitions[slot].readPosition != nil else { return }
        let id = partitions[slot].id
        partitions[slot].left = .doubted
        if parents.slots.contains(slot) { parents.leave(slot) }
        marks.touch(slot)
        membership.foundDoubt(Membership.Partition(id), now: now)
        log.warning(
            .kafkaError, "a topic may not be the one that was read; brokers are asked what it holds",
            [.topic: .string(id.topic), .partition: LogValue(id.partition)])
    }

    /// Has brokers asked what partitions hold.
    func examine(_ list: [Membership.Partition], epoch: Int) {
        let wanted = Set(list.map { TopicPartition($0) })
        committer.submit(
            .examine(
                partitions.filter { wanted.contains($0.id) }.compactMap { state in
                    state.readPosition.map { CommittedOffset(partition: state.id, offset: $0.offset, metadata: $0.metadata) }
                }, epoch: epoch))
    }

    /// Reads on where partitions hold what was read. Where one does not, the assignment begins again.
    func examined(_ findings: GroupReader.Findings, epoch: Int) {
        let (same, changed) = (findings.same.map { Membership.Partition($0) }, findings.changed.map { Membership.Partition($0) })
        guard membership.examined(same: same, changed: changed, epoch: epoch, now: now) else { return }
        let known = Set(findings.same)
        for slot in partitions.indices where partitions[slot].left == .doubted && known.contains(partitions[slot].id) {
            partitions[slot].left = nil
            if parents.slots.contains(slot) { parents.goOn(slot) }
            noteArrivals(in: slot)
        }
    }
}
