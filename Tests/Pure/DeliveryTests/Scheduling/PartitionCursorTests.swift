import Delivery
import TestSupport
import Testing

/// Random histories of queues and their readers, 800,000 steps in all.
struct PartitionCursorTests {
    @Test(arguments: 0..<20)
    func nothingIsLeftLyingAndNothingIsReadForNothing(seed: Int) {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let steps = CursorModel.steps(200, using: &random)
            guard let fault = CursorModel.fault(of: steps) else { continue }
            let shortest = shrunken(steps) { CursorModel.fault(of: $0) != nil }
            Issue.record("seed \(seed): \(fault); the shortest: \(CursorModel.fault(of: shortest) ?? "") after \(shortest)")
            return
        }
    }

    /// Without any one of its rules a record is left lying, which a short history shows.
    @Test(arguments: CursorModel.Rule.allCases)
    func everyRuleIsNeeded(rule: CursorModel.Rule) throws {
        func loses(_ steps: [CursorModel.Step]) -> Bool {
            CursorModel.fault(of: steps, without: rule)?.contains("lie in") ?? false
        }
        var random = SeededRandom(1)
        let histories = (0..<200).map { _ in CursorModel.steps(200, using: &random) }
        let steps = try #require(histories.first(where: loses))
        let shortest = shrunken(steps, fails: loses)
        #expect(shortest.count <= 12, "\(shortest)")
        #expect(loses(shortest))
        #expect(CursorModel.fault(of: shortest) == nil, "\(shortest)")
    }

    @Test func partitionsHaveTheirTurnsInTheOrderInWhichTheyBecameReady() {
        var group = CursorGroup(4..<8)
        func round(reading count: Int) -> [Int] {
            (0..<min(count, group.beginRound())).compactMap { _ in
                let slot = group.takeFirst()
                if let slot { group.noteRead(slot, canRead: true, isBlocked: false) }
                return slot
            }
        }
        #expect((0..<4).map { _ in round(reading: 3) } == [[4, 5, 6], [7, 4, 5], [6, 7, 4], [5, 6, 7]])
        #expect(round(reading: 9).count == 4)
    }

    /// Slots are those of an assignment, of which a lane has some.
    @Test func aGroupMayHaveAnySlotsOfAnAssignment() {
        var group = CursorGroup([4000, 7, 8])
        #expect(group.slots == [7, 8, 4000])
        for slot in group.slots {
            #expect(group.takeFirst() == slot)
            group.noteRead(slot, canRead: false, isBlocked: slot == 8)
        }
        for slot in [4000, 8, 7, 4000] { group.noteArrivals(slot) }
        group.mark(8)
        #expect((0..<4).map { _ in group.takeFirst() } == [4000, 7, 8, nil])
    }

    @Test func whoseWindowHasMovedComesFirstEvenWithoutRoom() {
        var group = CursorGroup(0..<3)
        for slot in 0..<3 {
            #expect(group.takeFirst() == slot)
            group.noteRead(slot, canRead: slot == 2, isBlocked: slot != 2)
        }
        group.windowMoved(2)
        group.windowMoved(1)
        group.windowMoved(1)
        #expect(group.beginRound() == 2)
        #expect([group.takeFirst(isFull: true), group.takeFirst(isFull: true), group.takeFirst()] == [1, nil, 2])
        #expect(!group.mayHaveRecords)
        group.mark(0)
        group.mark(0)
        #expect(Array(group.readySlots) == [0])
    }

    /// What is in memory already would hold the room for ever that it waits for.
    @Test(arguments: [false, true]) func whatIsSignalledMeanwhileDoesNotKeepItBack(isMovedInItsTurn: Bool) {
        var group = CursorGroup(3..<5)
        #expect(group.takeFirst() == 3 && group.takeFirst() == 4)
        group.noteRead(4, canRead: false, isBlocked: false)
        if isMovedInItsTurn { group.windowMoved(3) }
        group.noteRead(3, canRead: false, isBlocked: true)
        for slot in [4, 3] { group.noteArrivals(slot) }
        #expect(Array(group.readySlots) == [4], "it cannot be read before its window moves")
        group.windowMoved(3)
        #expect([group.takeFirst(isFull: true), group.takeFirst(isFull: true), group.takeFirst()] == [3, nil, 4])
    }

    @Test func aGroupWithoutPartitionsIsNeverRead() {
        var group = CursorGroup()
        #expect(!group.mayHaveRecords)
        for slot in group.slots { group.noteArrivals(slot) }
        #expect(!group.mayHaveRecords && group.takeFirst() == nil)
    }

    /// A round costs by the partitions that are ready, not by those that there are.
    @Test(arguments: [8, 400, 10_000]) func aSignalOfOnePartitionGivesOneTurn(partitionCount: Int) {
        var group = CursorGroup(0..<partitionCount)
        while let slot = group.takeFirst() { group.noteRead(slot, canRead: false, isBlocked: false) }
        for slot in [7, 3, 7, 5] { group.mark(slot) }
        #expect(group.beginRound() == 3)
        #expect((0..<4).map { _ in group.takeFirst() } == [7, 3, 5, nil])
    }
}

struct SlotSetTests {
    @Test(arguments: 0..<20) func aSlotIsThereOnce(seed: Int) {
        var random = SeededRandom(seed)
        var (set, known) = (SlotSet(), [Int]())
        for _ in 0..<2000 {
            let slot = random.below(50)
            if random.below(20) == 0 {
                let divisor = 1 + random.below(4)
                set.keep { $0 % divisor == 0 }
                known.removeAll { $0 % divisor != 0 }
            } else {
                set.insert(slot)
                if !known.contains(slot) { known.append(slot) }
            }
            #expect(set.slots == known, "seed \(seed)")
        }
        #expect(set.isEmpty == known.isEmpty)
    }
}
