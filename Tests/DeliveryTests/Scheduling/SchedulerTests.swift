import Basics
import PushModel
import TestSupport
import Testing

@testable import Delivery

/// The memory of what waits, and the records whose hub is gone.
@Suite struct SchedulerTests {
    private let key = RequestIdentity(seed: 1)

    private func scheduler() -> Scheduler {
        let scheduler = Scheduler(heldWindow: 64)
        scheduler.buffers.addHub(0)
        scheduler.begin([.init(number: 0, lane: .normal)], held: 1..<1, movesPositions: false, now: 0)
        return scheduler
    }

    private func record(_ offset: Int64) -> BufferedRecord {
        let origin = RecordOrigin(topic: "t", partition: 0, offset: offset, timestamp: Timestamp(milliseconds: 0))
        return BufferedRecord(
            slot: 0, offset: offset, lane: .normal, origin: origin, receivedAt: 0, waitingSince: origin.timestamp,
            envelope: RecordEnvelope(), value: ByteWriter())
    }

    /// What is said of memory on page Scheduling, some 60,000 records of a lane, counts a record of 300 bytes at 556.
    @Test func aRecordTakesAsMuchMemoryWhereverItWaitsAndItsPlaceBehindAKeySomeMore() {
        let scheduler = scheduler()
        scheduler.buffers.append(record(0), of: TenantID("a"), at: 0)
        #expect(scheduler.buffers.byteCount(at: 0, in: .normal) == 256)
        let hasTurn = scheduler.takeTurn(of: key, in: 0, origin: record(1).origin)
        let isAdded = scheduler.offer(record(2), of: key)
        #expect(hasTurn && isAdded)
        #expect(scheduler.isFull(0) { _ in 384 })
        #expect(!scheduler.isFull(0) { _ in 385 })
    }

    @Test func recordsOfAHubThatIsGoneWaitForNoTurnAndEndWithTheAssignment() {
        let scheduler = scheduler()
        scheduler.buffers.append(record(0), of: TenantID("a"), at: 0)
        scheduler.buffers.append(record(1), of: TenantID("b"), at: 0)
        scheduler.buffers.displace(hub: 0)
        #expect(scheduler.buffers.count(at: 0) == 0)
        let first = scheduler.buffers.nextDisplaced()
        scheduler.end()
        let second = scheduler.buffers.nextDisplaced()
        #expect(first != nil && second == nil)
    }
}
