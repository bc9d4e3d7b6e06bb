import Basics
import Delivery
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The partitions that are looked at, in a second, at a commit and when records are fetched on.
@Suite struct PartitionMarksTests {
    private static func marks(_ count: Int) throws -> PartitionMarks {
        PartitionMarks(try (0..<count).map { _ in try PartitionStatusTests.partition(committed: 30) })
    }

    @Test func allAreMarkedWhenTheyBegin() throws {
        let marks = try Self.marks(5)
        for set in [marks.changed, marks.uncommitted, marks.reserved] { #expect(set.slots == [0, 1, 2, 3, 4]) }
        #expect(marks.short.isEmpty && marks.left.isEmpty && marks.closedCount == 0)
        #expect(PartitionMarks().changed.isEmpty)
    }

    /// A second looks at as many partitions as there are changes and some more, however many there are.
    @Test(arguments: [8, 400, 5000]) func eachSecondLooksAtWhatChangedAndAtAFewMore(count: Int) throws {
        var marks = try Self.marks(count)
        marks.noteMeasured { _ in false }
        var seen: Set<Int> = []
        let most = PartitionMarks.lookedAtInASecond
        for _ in 0..<(count + most - 1) / most {
            marks.touch(3)
            marks.addSome()
            #expect(marks.changed.slots.count <= most + 1)
            #expect(marks.changed.slots.contains(3))
            seen.formUnion(marks.changed.slots)
            marks.noteMeasured { _ in false }
        }
        #expect(seen.count == count, "each is looked at in its turn")
    }

    @Test func whatWaitsStaysMarkedUntilItDoesNot() throws {
        var marks = try Self.marks(4)
        marks.noteMeasured { $0 == 2 }
        #expect(marks.changed.slots == [2])
        marks.noteArrivals(0)
        #expect(marks.changed.slots == [2, 0])
        var states = try (0..<4).map { _ in try PartitionStatusTests.partition(committed: 30) }
        states[1].isDirty = true
        marks.noteOffer(of: states)
        #expect(marks.uncommitted.slots == [1])
        marks.touch(3)
        #expect(marks.uncommitted.slots == [1, 3] && marks.changed.slots == [2, 0, 3])
    }

    /// A turn at rest looks at nothing again, of however many partitions.
    @Test func whatHasNothingToCommitIsLookedAtOnce() throws {
        var marks = try Self.marks(400)
        var states = try (0..<400).map { _ in try PartitionStatusTests.partition(committed: 30) }
        states[7].isDirty = true
        #expect(marks.haveUncommitted(of: states) { $0 == 300 })
        #expect(marks.uncommitted.slots.count == 400, "one has something, so all are looked at when that is offered")
        var looks = 0
        for _ in 0..<2 {
            let isFound = marks.haveUncommitted(of: states) { _ in
                looks += 1
                return false
            }
            #expect(!isFound)
        }
        #expect(looks == 401 && marks.uncommitted.slots == [7])
        marks.touch(9)
        #expect(marks.haveUncommitted(of: states) { $0 == 9 })
    }

    @Test func closedPositionsAreCounted() throws {
        var marks = try Self.marks(2)
        marks.noteCommit(of: 0, wasClosed: false, closes: true)
        marks.noteCommit(of: 1, wasClosed: false, closes: true)
        marks.noteCommit(of: 1, wasClosed: true, closes: true)
        #expect(marks.closedCount == 2)
        marks.noteCommit(of: 0, wasClosed: true, closes: false)
        #expect(marks.closedCount == 1)
    }

    @Test func theOverlapEndsForAllThatHaveBegun() throws {
        var states = try (0..<2).map { _ in try PartitionStatusTests.partition(committed: 30) }
        var marks = PartitionMarks(states)
        #expect(marks.mayOverlap)
        let now = MonotonicTime(nanoseconds: 60_000_000_000)
        let isDue = marks.isRestDue(in: states, now: now)
        #expect(!isDue && marks.reserved.isEmpty, "they have none")
        marks.notePutBack(1)
        #expect(marks.reserved.slots == [1])
        _ = marks.isRestDue(in: states, now: now)
        marks.endOverlap(of: &states)
        #expect(!marks.mayOverlap)
        #expect(marks.reserved.slots == [0, 1], "their reserves may be given back from now on")
        marks.begin(1, as: states[1])
        #expect(marks.mayOverlap, "one that begins later is told, too")
    }

    /// A partition at offset 30, which was its end. `begun` is the reserve that its position names, or nil if it names none.
    private static func atRest(begun: Int64?) throws -> PartitionState {
        var finished = FinishedOffsets()
        finished.begun = begun
        let committed = LedgerCommit(offset: 30, metadata: finished.encoded())
        let assigned = AssignmentPlan.Assigned(.requests, committed: committed, end: 30)
        let plan = try #require(AssignmentPlan([assigned], window: 100, heldWindow: 100, reach: nil).partitions.first)
        return PartitionState(
            TopicPartition(topic: "t", partition: 3), role: .requests(.normal), plan: plan, committed: committed, lag: Gauge(),
            consumed: Counter())
    }

    /// What the previous owner may have begun has no end before it has ended, so a reserve cannot be given back before.
    @Test(arguments: [nil, 50] as [Int64?]) func aReserveIsGivenBackAfterTheOverlap(begun: Int64?) throws {
        var states = [try Self.atRest(begun: begun), try Self.atRest(begun: begun)]
        var marks = PartitionMarks(states)
        let now = MonotonicTime.at(2 * BeginReserve.restPatience)
        var isDue = marks.isRestDue(in: states, now: now)
        #expect(!isDue && marks.reserved.isEmpty)
        marks.noteOffer(of: states)
        #expect(marks.uncommitted.isEmpty)
        marks.endOverlap(of: &states)
        isDue = marks.isRestDue(in: states, now: now)
        #expect(isDue && marks.uncommitted.slots == [0, 1], "a position of each is offered")
        // The first is committed, the second is not.
        for slot in states.indices {
            let end = states[slot].nextReserve(now: now)
            #expect(end == 30)
            states[slot].noteOffer(reserveEnd: end, isWhole: true)
        }
        marks.noteOffer(of: states)
        isDue = marks.isRestDue(in: states, now: now)
        #expect(!isDue && marks.reserved.isEmpty, "it is offered")
        states[0].noteCommit(of: LedgerCommit(offset: 30, metadata: ""), closes: false)
        marks.noteCommit(of: 0, wasClosed: false, closes: false)
        states[1].putBack()
        marks.notePutBack(1)
        isDue = marks.isRestDue(in: states, now: now)
        #expect(isDue && marks.reserved.slots == [1] && marks.uncommitted.slots == [1])
    }

    @Test func fetchesAreSeenToAfter10Milliseconds() throws {
        var marks = PartitionMarks()
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        let isDue = [now, now + 9_999_999, now + 10_000_000].map { marks.isRefillDue($0) }
        #expect(isDue == [true, false, true])
    }
}

/// The first records of delay lanes, which are checked when their moments come.
@Suite struct DelayedPartitionsTests {
    @Test func aPartitionIsReadWhenItsFirstRecordIsToBeChecked() {
        let now = PartitionStatusTests.now
        var delayed = DelayedPartitions(4..<8)
        while let slot = delayed.group.takeFirst() { delayed.group.noteRead(slot, canRead: false, isBlocked: false) }
        delayed.check(5, at: now.adding(milliseconds: 20))
        delayed.check(7, at: now.adding(milliseconds: 10))
        delayed.check(7, at: now.adding(milliseconds: 10))
        #expect(delayed.nextCheck(5, by: now) == 10_000_005)
        delayed.markDue(at: now.adding(milliseconds: 9))
        #expect(!delayed.group.mayHaveRecords)
        // Another first record: the moment of the one before counts no more.
        delayed.check(5, at: now.adding(milliseconds: 30))
        delayed.markDue(at: now.adding(milliseconds: 20))
        #expect(Array(delayed.group.readySlots) == [7])
        delayed.markDue(at: now.adding(milliseconds: 30))
        #expect(Array(delayed.group.readySlots) == [7, 5])
        #expect(delayed.nextCheck(5, by: now) == .never)
    }
}
