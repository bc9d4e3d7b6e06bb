import Delivery
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Partitions of the topic of parents, and when they are read.
@Suite struct ParentPartitionsTests {
    /// The first slot of the topic: others are before it.
    private static let first = 6

    /// The reason why a partition is not read at first.
    enum Absence: CaseIterable {
        case unanswered, refused, newer

        var assigned: AssignmentPlan.Assigned {
            switch self {
            case .unanswered: .init(.parents, isUnanswered: true)
            case .refused: .init(.parents, ruling: .init(.refused, because: .noPosition, end: 9, waiting: 2))
            case .newer: .init(.parents, committed: LedgerCommit(offset: 7, metadata: "x"))
            }
        }
    }

    private static func plan(_ assigned: [AssignmentPlan.Assigned]) -> [AssignmentPlan.Partition] {
        AssignmentPlan(assigned, window: 64, heldWindow: 64, reach: nil).partitions
    }

    /// Partitions of which those at `places` are not read.
    private static func partitions(_ count: Int, without places: [Int], because absence: Absence) -> ParentPartitions {
        let assigned = (0..<count).map { places.contains($0) ? absence.assigned : .init(.parents) }
        return ParentPartitions(plan(assigned)[...], at: first)
    }

    /// Reads a round to the end of each partition, and returns those in which a record could have been.
    private static func round(of parents: inout ParentPartitions) -> [Int] {
        parents.takeRound().filter { slot in
            defer {
                parents.wasEmpty(slot)
                parents.noteRead(slot)
            }
            return parents.mayHaveRecord(slot)
        }
    }

    /// The places that begin later: the first, the last, one in the middle, several, and all.
    @Test(arguments: [[], [0], [2], [1], [0, 2], [1, 2], [0, 1, 2]], Absence.allCases)
    func onesThatBeginLaterAreReadLikeTheOthers(_ places: [Int], because absence: Absence) throws {
        var parents = Self.partitions(3, without: places, because: absence)
        let slots = Array(Self.first..<Self.first + 3)
        let late = places.map { Self.first + $0 }
        #expect(parents.mayHaveRecords && Self.round(of: &parents) == slots.filter { !late.contains($0) })
        for slot in slots { parents.noteArrivals(slot) }
        #expect(Self.round(of: &parents) == slots.filter { !late.contains($0) }, "a signal begins none")
        let ruling = AssignmentPlan.Ruling(.offset(500), because: .noPosition, end: 500)
        let planned = try #require(Self.plan([.init(.parents, ruling: ruling)]).first)
        for slot in late.reversed() { parents.begin(slot, planned: planned) }
        #expect(parents.mayHaveRecords == !late.isEmpty && Self.round(of: &parents) == late.reversed())
        for slot in slots { parents.noteArrivals(slot) }
        #expect(Self.round(of: &parents) == slots && !parents.mayHaveRecords)
        for slot in slots { #expect(parents.mark(of: slot) == (late.contains(slot) ? 500 : 0)) }
    }

    /// One whose first records are gone, or that was made later, has its first record anywhere.
    @Test(arguments: [0, 1, 500, .max - 1] as [Int64]) func theFirstRecordMayBeAtAnyOffset(offset: Int64) throws {
        var parents = Self.partitions(2, without: [], because: .unanswered)
        let slot = Self.first + 1
        #expect(!parents[slot].begins(after: offset))
        parents[slot].opened(ParentKey("t:0:1"), record: [1], chunks: 2, at: offset, timestamp: 1)
        #expect(parents.openCount == 1 && parents.mark(of: slot) == offset && parents.mark(of: Self.first) == 0)
        #expect(parents.commit(of: slot, leavingOut: [], marks: nil)?.offset == offset)
    }

    /// A newer version wrote a record that is read.
    @Test func oneThatIsLeftIsReadNoFurtherAndMayBeginAgain() throws {
        var parents = Self.partitions(2, without: [], because: .unanswered)
        #expect(parents.takeRound() == [6, 7])
        parents.leave(6)
        for slot in [6, 7] { parents.noteRead(slot) }
        parents.noteArrivals(6)
        #expect(Self.round(of: &parents) == [7])
        parents.begin(6, planned: try #require(Self.plan([.init(.parents)]).first))
        #expect(Self.round(of: &parents) == [6] && Self.round(of: &parents).isEmpty)
    }

    @Test func withoutPartitionsThereIsNothingToRead() {
        for var parents in [ParentPartitions(), ParentPartitions([], at: 4)] {
            #expect(!parents.mayHaveRecords && parents.takeRound().isEmpty && parents.openCount == 0)
            #expect(parents.mark(of: 4) == nil)
        }
    }
}
