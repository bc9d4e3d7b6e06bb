import Delivery
import PushModel
import TestSupport
import Testing

/// How far an owner of a partition before this one may have begun requests.
struct StartedRangeTests {
    /// What the position says of its owner, where the partition ended, and before which offset requests may have been begun.
    @Test(
        arguments: [
            // Nothing: its owner may have died, and begun all that its window and the partition's end let it read.
            (100, nil, nil, 16_484), (100, nil, 20_000, 16_484), (100, nil, 150, 150), (100, nil, 100, 100), (100, nil, 90, 100),
            (.max - 10, nil, nil, .max),
            // How far they were begun: no worker is at work.
            (100, 0, nil, 100), (100, 0, 150, 100), (100, 20, nil, 120), (100, 20, 150, 120), (100, 20, 110, 110),
            (100, 32_768, nil, 32_868),
        ] as [(Int64, Int64?, Int64?, Int64)])
    func aPositionSaysHowFarRequestsMayHaveBeenBegun(
        offset: Int64, begun: Int64?, end: Int64?, begunBefore: Int64
    ) throws {
        let assigned = AssignmentPlan.Assigned(.requests, committed: AssignmentPlanTests.position(offset, begun: begun), end: end)
        let partition = try AssignmentPlanTests.only(assigned)
        #expect(partition.begun.end == begunBefore)
        #expect(!partition.isClosed && partition.reserve == BeginReserve(end: begun.map { offset + $0 }))
    }

    /// Owners cross a gap at once, so what lies behind it may have been begun as well.
    @Test(
        arguments: [
            (nil, [1, 2], 16_385), (nil, [1, 16_390], 32_773), (nil, [20_001, 20_002], 36_385), (nil, [1, 90_000], 50_000),
            (nil, [0, 2], 16_386), (0, [20_001], 1), (30, [20_001], 31),
        ] as [(Int64?, [Int64], Int64)])
    func aGapIsNoEndOfWhatADeadOwnerMayHaveBegun(begun: Int64?, offsets: [Int64], end: Int64) throws {
        let assigned = AssignmentPlan.Assigned(.requests, committed: AssignmentPlanTests.position(1, begun: begun), end: 50_000)
        var reach = try AssignmentPlanTests.only(assigned).begun
        reach.overlapEnded()
        var expected: Int64 = 1
        for offset in offsets {
            reach.read(offset, expected: expected)
            expected = offset + 1
        }
        #expect(reach.end == end)
    }

    /// What is read, what is finished of it, and what a position can say if the partition is given up then.
    @Test(
        arguments: [
            // Its owner may have died, and a gap may let the reach grow.
            (nil, [], [], nil), (nil, [1, 2], [1, 2], nil), (nil, [1, 20_000], [], nil),
            // It grew to the end of the partition, or is behind what was read.
            (nil, [40_000, 40_001], [], 50_000), (nil, [49_999], [], 50_000), (nil, [49_999], [49_999], 50_000),
            // How far requests were begun was said.
            (0, [], [], 1), (0, [1, 2], [1], 2), (30, [1], [1], 31), (30, [1, 40_000], [1], 40_000),
            (30, [40_000], [40_000], 40_001),
        ] as [(Int64?, [Int64], [Int64], Int64?)])
    func aPartitionIsNotClosedWhileTheReachOfADeadOwnerMayGrow(
        begun: Int64?, offsets: [Int64], finished: [Int64], end: Int64?
    ) throws {
        let assigned = AssignmentPlan.Assigned(.requests, committed: AssignmentPlanTests.position(1, begun: begun), end: 50_000)
        let plan = try AssignmentPlanTests.only(assigned)
        var (reach, ledger) = (plan.begun, try #require(plan.ledger))
        reach.overlapEnded()
        for offset in offsets {
            reach.read(offset, expected: ledger.position)
            _ = ledger.received(offset)
        }
        for offset in finished { ledger.finished(offset) }
        #expect(reach.end(of: ledger, hasLostCalls: false) == end)
    }

    /// What the position at 10 says of its owner, what is read while that one may go on and after it, and before which offset requests may
    /// have been begun. The partition ended at 12 as it was assigned.
    @Test(
        arguments: [
            (nil, [10, 11, 12, 13], [14, 15], 14), (nil, [10], [11, 12], 12), (nil, [], [10, 12], 12), (nil, [10, 30], [31], 31),
            (0, [10, 11, 12, 13], [14], 10), (1, [10, 11, 12, 13], [14], 11),
            // It may begin more than there was, and no more than it said.
            (5, [10, 11, 12, 13], [14], 14), (5, [10, 11, 12, 13, 14, 15], [], 15), (5, [], [10, 12], 12),
            (10, [10, 30], [31], 12),
        ] as [(Int64?, [Int64], [Int64], Int64)])
    func anOwnerWhoseEndIsNotKnownMayReadOnForAWhile(
        begun: Int64?, during: [Int64], after: [Int64], end: Int64
    ) throws {
        let plan = try AssignmentPlanTests.only(
            AssignmentPlan.Assigned(.requests, committed: AssignmentPlanTests.position(10, begun: begun), end: 12))
        var (reach, ledger) = (plan.begun, try #require(plan.ledger))
        #expect(reach.isOverlapping == (begun ?? .max > 2))
        for offset in during {
            reach.read(offset, expected: ledger.position)
            _ = ledger.received(offset)
        }
        let early = reach.end(of: ledger, hasLostCalls: false)
        #expect(early == begun.map { max(end, 10 + $0) }, "a position says all that it may begin, or nothing")
        reach.overlapEnded()
        for offset in after {
            reach.read(offset, expected: ledger.position)
            _ = ledger.received(offset)
        }
        #expect(reach.end == end)
        #expect(reach.end(of: ledger, hasLostCalls: false) == end)
    }
}
