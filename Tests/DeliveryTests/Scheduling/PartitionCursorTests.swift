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

    @Test func everyPartitionIsTheFirstInTurn() {
        var group = CursorGroup(4..<7)
        let firsts = (0..<6).map { _ in
            defer { group.beginRound() }
            return group.slot(ofStep: 0)
        }
        #expect(firsts == [4, 5, 6, 4, 5, 6])
    }

    @Test func aGroupWithoutPartitionsIsNeverRead() {
        var group = CursorGroup()
        #expect(!group.mayHaveRecords)
        group.noteArrivals()
        group.beginRound()
        #expect(!group.mayHaveRecords)
    }
}
