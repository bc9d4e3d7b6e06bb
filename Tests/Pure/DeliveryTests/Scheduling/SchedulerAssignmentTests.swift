import Basics
import Delivery
import PushModel
import TestSupport
import Testing

/// One scheduler serves all assignments of a loop.
struct SchedulerAssignmentTests {
    /// A record of the partition at slot 0, with its own offset.
    private func record(_ offset: Int64) -> BufferedRecord {
        let origin = RecordOrigin(topic: "t", partition: 0, offset: offset, timestamp: Timestamp(milliseconds: 1))
        return BufferedRecord(
            slot: 0, offset: offset, lane: .normal, origin: origin, receivedAt: 0, waitingSince: Timestamp(milliseconds: 1),
            envelope: RecordEnvelope(), value: ByteWriter())
    }

    private func key(_ seed: UInt64) -> RequestIdentity { RequestIdentity(seed: seed) }

    private func begin(_ scheduler: Scheduler) {
        let held = HeldRules.heldPartition(of: 0, in: .normal) ?? 0
        let partitions = [Scheduler.Partition(number: 0, lane: .normal), Scheduler.Partition(number: held, lane: nil)]
        scheduler.begin(partitions, held: 1..<2, movesPositions: false, now: 0)
    }

    @Test func nothingOfAnAssignmentOutlivesItButLanesAndHubs() {
        let (scheduler, tenant) = (Scheduler(heldWindow: 16), TenantID("a"))
        for number in 0..<2 { scheduler.buffers.addHub(number) }
        scheduler.delays.lanes = DelayLanes()
        begin(scheduler)
        #expect(scheduler.isReadingHeld(1))
        scheduler.heldIsRead(1)
        #expect(scheduler.takeTurn(of: key(1), in: 0, origin: record(1).origin))
        #expect(!scheduler.takeTurn(of: key(1), in: 0, origin: record(2).origin))
        #expect(scheduler.offer(record(2), of: key(1)))
        scheduler.buffers.noteTenant(in: .normal, now: 0)
        for number in 0..<2 { scheduler.buffers.append(record(3), of: tenant, at: number) }
        scheduler.buffers.displace(hub: 1)
        scheduler.isRefreshDue = true
        scheduler.add(.heldMissing(1))
        _ = scheduler.relieve(where: { _ in false }, now: (0, Timestamp(milliseconds: 0)))

        scheduler.end()
        #expect(!scheduler.isUsed && !scheduler.isRefreshDue && scheduler.heldSlots.isEmpty)
        #expect(scheduler.requests(of: 0) == nil && scheduler.oldestOfKeys(at: Timestamp(milliseconds: 9)) == nil)
        #expect(scheduler.buffers.nextDisplaced() == nil && scheduler.takeNotices().isEmpty)
        #expect(!scheduler.buffers.readsAhead(.normal, of: 0, now: 0) && scheduler.buffers.count(at: 0) == 0)
        #expect(scheduler.buffers.isEmpty(at: 1, in: .normal), "hubs stay")
        #expect(scheduler.delays.hasLanes, "lanes stay")

        begin(scheduler)
        #expect(scheduler.isReadingHeld(1), "held requests are read again")
        scheduler.heldIsRead(1)
        #expect(scheduler.takeTurn(of: key(1), in: 0, origin: record(1).origin), "its key is free again")
        scheduler.add(.heldMissing(1))
        #expect(scheduler.takeNotices() == [.heldMissing(1)], "a notice is due once for each assignment")
        scheduler.add(.heldMissing(2))
        #expect(scheduler.takeNotices().isEmpty)
    }
}
