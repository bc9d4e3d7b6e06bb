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

    private func record(_ offset: Int64, slot: Int = 0) -> BufferedRecord {
        let origin = RecordOrigin(topic: "t", partition: 0, offset: offset, timestamp: Timestamp(milliseconds: 0))
        return BufferedRecord(
            slot: slot, offset: offset, lane: .normal, origin: origin, receivedAt: 0, waitingSince: origin.timestamp,
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

    /// Requests behind one key and behind others, one for each, and those that are said to wait for the one.
    @Test(arguments: [(19, 0, nil), (20, 0, 20), (25, 24, 25), (25, 25, nil), (5, 100, nil)] as [(Int, Int, Int?)])
    func theKeyIsFoundBehindWhichMostWait(behind: Int, others: Int, expected: Int?) {
        let scheduler = scheduler()
        var offset: Int64 = 100
        func add(_ count: Int, behind key: RequestIdentity) {
            let hasTurn = scheduler.takeTurn(of: key, in: 0, origin: record(offset).origin)
            let areAdded = (0..<count).map { scheduler.offer(record(offset + 1 + Int64($0)), of: key) }
            #expect(hasTurn && areAdded.allSatisfy { $0 })
            offset += Int64(count) + 1
        }
        add(behind, behind: key)
        for place in 0..<others { add(1, behind: RequestIdentity(seed: UInt64(place) + 100)) }
        let found = scheduler.longestKey
        #expect(found?.key == expected.map { LongestKey(offset: 100, waiting: $0, of: behind + others) })
        #expect(found?.slot == expected.map { _ in 0 })
    }

    private func holdingScheduler() -> Scheduler {
        let scheduler = Scheduler(heldWindow: 64)
        let held = HeldRules.heldPartition(of: 0, in: .normal) ?? 0
        scheduler.begin(
            [.init(number: 0, lane: .normal), .init(number: held, lane: nil)], held: 1..<2, movesPositions: false, now: 0)
        scheduler.heldIsRead(1)
        return scheduler
    }

    /// Held records used to count, so that a partition stopped for as long as they waited.
    @Test func whatIsHeldDoesNotEndTheReadingOfItsPartition() {
        let scheduler = holdingScheduler()
        #expect(scheduler.offer(record(1, slot: 1), of: key, due: .never))
        #expect(!scheduler.isFull(0) { _ in 1 })
        #expect(scheduler.offer(record(2), of: key))
        #expect(scheduler.isFull(0) { _ in 384 })
    }

    @Test func aTenantWithItsShareFindsNoPlaceForAnotherFarMomentAndTheOthersDo() {
        let scheduler = holdingScheduler()
        let (far, now) = (Timestamp(milliseconds: 3_600_000), Timestamp(milliseconds: 0))
        func hasNoPlace(_ tenant: String, until due: Timestamp) -> Bool {
            scheduler.hasNoPlace(of: TenantID(tenant), in: 0, until: due, byteCount: 10, now: now)
        }
        for number in 0..<12 as Range<Int64> {
            let key = RequestIdentity(seed: UInt64(number))
            #expect(!hasNoPlace("a", until: far))
            #expect(scheduler.takeTurn(of: key, in: 0, origin: record(number).origin))
            let held = scheduler.hold(
                key, in: 0, until: far, byteCount: 10, isLeft: false, tenant: TenantID("a"), now: now)
            #expect(held != nil)
        }
        #expect(hasNoPlace("a", until: far))
        #expect(!hasNoPlace("a", until: Timestamp(milliseconds: 10_000)), "a short wait is spent in memory")
        #expect(!hasNoPlace("b", until: far))
    }

    /// The requests of a key are started one after the other, and their partitions take turns, so that none with much to do holds up another.
    @Test func partitionsOfALaneTakeTurnsAndThoseOfOthersHaveNone() {
        let scheduler = Scheduler(heldWindow: 64)
        let lanes: [Lane] = [.normal, .normal, .bulk]
        let partitions = lanes.enumerated().map { Scheduler.Partition(number: Int32($0), lane: $1) }
        scheduler.begin(partitions, held: 3..<3, movesPositions: false, now: 0)
        for slot in [2, 1, 0] {
            for number in 0..<3 {
                let key = RequestIdentity(seed: UInt64(10 * slot + number))
                #expect(scheduler.takeTurn(of: key, in: slot, origin: record(0).origin))
                #expect(scheduler.offer(record(1, slot: slot), of: key))
                scheduler.completed(key, in: slot)
            }
        }
        #expect(scheduler.nextMoment(in: .normal) == .past && scheduler.nextMoment(in: .high) == nil)
        #expect(scheduler.oldestOfKeys(at: Timestamp(milliseconds: 1)) == Timestamp(milliseconds: 0))
        func slots(_ lane: Lane, most: Int) -> [Int] {
            var found: [Int] = []
            while found.count < most, let next = scheduler.nextOfKeys(in: lane, now: Timestamp(milliseconds: 1)) {
                found.append(next.slot)
            }
            return found
        }
        #expect(slots(.normal, most: 3) == [1, 0, 1])
        #expect(slots(.normal, most: 9) == [0, 1, 0])
        #expect(slots(.bulk, most: 9) == [2, 2, 2] && slots(.high, most: 9).isEmpty)
        #expect(scheduler.nextMoment(in: .normal) == nil && scheduler.oldestOfKeys(at: Timestamp(milliseconds: 1)) == nil)
    }

    @Test func hubsWithBufferedRecordsAreKnown() {
        let scheduler = scheduler()
        for number in 1..<3 { scheduler.buffers.addHub(number) }
        #expect(scheduler.buffers.hubs.isEmpty)
        for (hub, tenant) in [(2, "a"), (2, "b"), (0, "a")] { scheduler.buffers.append(record(0), of: TenantID(tenant), at: hub) }
        #expect(Set(scheduler.buffers.hubs) == [0, 2])
        _ = scheduler.buffers.nextOfTenant(TenantID("a"), at: 2, in: .normal)
        #expect(Set(scheduler.buffers.hubs) == [0, 2])
        _ = scheduler.buffers.removeAll(of: 0, in: .normal, at: 2, before: .max, readBefore: .never)
        #expect(scheduler.buffers.hubs == [0])
        scheduler.buffers.displace(hub: 0)
        #expect(scheduler.buffers.hubs.isEmpty)
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
