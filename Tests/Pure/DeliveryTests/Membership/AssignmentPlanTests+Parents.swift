import Delivery
import PushModel
import TestSupport
import Testing

/// The partitions of large requests in a plan.
extension AssignmentPlanTests {
    /// The position with its metadata, where reading begins, and up to where requests are finished.
    @Test(
        arguments: [
            (nil, "", .beginning, 0), (100, "120", .offset(100), 120), (100, "", .offset(100), 100),
            (100, "3::", .offset(100), 100), (100, "5", .offset(100), 100), (100, "120 a,ff", .offset(100), 120),
        ] as [(Int64?, String, AssignmentPlan.Start, Int64)])
    func largeRequestsBeginWhereTheOldestOpenOneStands(
        offset: Int64?, metadata: String, start: AssignmentPlan.Start, position: Int64
    ) throws {
        let committed = offset.map { LedgerCommit(offset: $0, metadata: metadata) }
        let partition = try Self.only(Plan.Assigned(.parents, committed: committed))
        #expect(partition.start == start)
        #expect(partition.ledger == nil)
        let parents = try #require(partition.parents)
        #expect(parents.position == position)
        #expect(parents.lowWaterMark == offset ?? 0)
        #expect(partition.firstOffset == offset ?? 0 && partition.begun.end == 0)
        #expect(!partition.isClosed && !partition.isDirty)
    }

    /// What was decided, where reading begins, and the position that is committed; nil when none is.
    @Test(
        arguments: [
            (.offset(3), .offset(3), LedgerCommit(offset: 3, metadata: "3 u9")),
            (.offset(9), .offset(9), LedgerCommit(offset: 9, metadata: "9")), (.refused, .end, nil), (.undecided, .end, nil),
        ] as [(StartRule.Decision, AssignmentPlan.Start, LedgerCommit?)], [nil, 100] as [Int64?])
    func largeRequestsBeginWhereItWasDecided(
        decided: (decision: StartRule.Decision, start: AssignmentPlan.Start, commit: LedgerCommit?), position: Int64?
    ) throws {
        let cause: StartRule.Cause = position == nil ? .noPosition : .lostRecord
        let ruling = Plan.Ruling(decided.decision, because: cause, end: 9, waiting: 6)
        let committed = position.map { LedgerCommit(offset: $0, metadata: "120") }
        let plan = Self.plan([Plan.Assigned(.parents, committed: committed, ruling: ruling)])
        let partition = try #require(plan.partitions.first)
        let parents = try #require(partition.parents)
        #expect(partition.start == decided.start && partition.ledger == nil && partition.marks == nil)
        #expect(partition.isDirty == (decided.commit != nil) && !partition.isClosed)
        if let commit = decided.commit { #expect(parents.commit() == commit) }
        if decided.commit == nil { #expect(parents.lowWaterMark == position ?? 0, "nothing is committed of it") }
        let refusal: StartRule.Cause? = decided.decision == .refused ? cause : nil
        let left: LeaveCause? = decided.decision == .undecided ? .leaderAway : nil
        #expect(partition.refusal == refusal && partition.left == left)
        #expect(plan.refusal?.slots == (refusal == nil ? nil : [0]) && plan.messages.count == (position == nil ? 0 : 1))
    }

    @Test func aPositionOfLargeRequestsSaysWhatWasRead() throws {
        let marks = ReadMarks(RecordMark(offset: 99, time: 7, key: nil, value: nil))
        let position = OpenParents(start: 100, position: 120).commit(marks: marks)
        let partition = try Self.only(Plan.Assigned(.parents, committed: position))
        #expect(partition.marks == marks && partition.parents?.position == 120)
    }

    @Test func largeRequestsThatAPositionLeavesOutAreFinishedByWhoeverReadsThemAgain() throws {
        let (leftOut, finished) = (ParentKey("t:0:1"), ParentKey("t:0:2"))
        let position = LedgerCommit(offset: 100, metadata: "120 " + String(leftOut.digest, radix: 16))
        let partition = try Self.only(Plan.Assigned(.parents, committed: position))
        var parents = try #require(partition.parents)
        #expect(parents.commit() == position, "until something is read, it is still left out")
        for (key, offset) in [(leftOut, 101), (finished, 102)] as [(ParentKey, Int64)] {
            parents.opened(key, record: Array("record".utf8), chunks: 1, at: offset, timestamp: 99)
        }
        let tally = PartTally(chunk: 0, state: .sent, outcome: .success)
        #expect(parents.notePart(leftOut, tally: tally, at: 103)?.key == leftOut)
        #expect(
            parents.notePart(finished, tally: tally, at: 104) == nil, "the transaction that committed the position finished it")
    }

    @Test(arguments: [
        ("120", false), ("120 a,ff", false), ("", false), ("v2:120", true), (" 120", true), ("{}", true), ("7x", true),
        ("3", false), ("120 ", true), ("1 2 3", true), ("99999999999999999999", true),
    ])
    func largeRequestsBeginOnlyWhereNoNewerVersionStands(metadata: String, isLeft: Bool) throws {
        let plan = Self.plan([
            Plan.Assigned(.parents, committed: LedgerCommit(offset: 100, metadata: metadata)), Plan.Assigned(.parents),
        ])
        let partition = try #require(plan.partitions.first)
        let cause: LeaveCause? = isLeft ? .unknownPosition(UnknownMetadata(metadata, isOfParents: true)) : nil
        let start: Plan.Start = isLeft ? .end : .offset(100)
        #expect(partition.left == cause)
        #expect(partition.start == start)
        #expect(plan.partitions.allSatisfy { $0.parents != nil }, "each has its place among those of its kind")
        #expect(partition.parents?.lowWaterMark == 100, "nothing is committed of it")
        #expect(plan.partitions.last?.left == nil)
    }
}
