import TestSupport
import Testing

/// Random histories of the commit protocol, which drive the values that ship: `Membership`, `CommitCycle`, `OffsetLedger`,
/// `AssignmentPlan` and others.
struct ProtocolModelTests {
    /// Plays histories until one has a fault, which is reported with its seed and the shortest history found.
    private static func play(_ seed: Int, histories: Int, steps count: Int) -> ModelCounts {
        var random = SeededRandom(seed)
        var counts = ModelCounts()
        for _ in 0..<histories {
            let setting = ProtocolModel.setting(using: &random)
            let steps = ProtocolModel.steps(count, using: &random)
            let played = ProtocolModel.play(steps, in: setting)
            counts += played.counts
            guard let fault = played.fault else { continue }
            // First what is known at once, because to find a short history takes a while.
            Issue.record("seed \(seed), \(setting): \(fault)")
            let shortest = shrunken(steps) { ProtocolModel.play($0, in: setting).fault != nil }
            let rest = ProtocolModel.play(shortest, in: setting).fault ?? ""
            Issue.record("seed \(seed), \(setting): the shortest history found: \(rest) after \(shortest)")
            return counts
        }
        return counts
    }

    /// 96,000 steps.
    @Test(arguments: 0..<12)
    func noHistoryLosesOrRepeatsAResult(seed: Int) {
        let counts = Self.play(seed, histories: 8, steps: 1000)
        #expect(counts.commits > 0 && counts.calls > 0)
    }

    /// Ten million steps.
    @Test(.takesLong, arguments: 100..<300)
    func noLongHistoryLosesOrRepeatsAResult(seed: Int) {
        let counts = Self.play(seed, histories: 25, steps: 2000)
        #expect(counts.commits > 0 && counts.calls > 0)
    }

    /// What histories are for does happen in them.
    @Test func everyInterestingCaseComesUp() {
        let counts = Self.play(1000, histories: 40, steps: 1000)
        for event in ModelCounts.frequent { #expect(counts[keyPath: event] > 0, "\(event) does not come up in \(counts)") }
    }

    /// Each thing that is performed wrongly is found out, by a history short enough to read.
    @Test(arguments: ModelWorker.Sabotage.allCases.filter { $0 != .none })
    func aBrokenRuleIsFoundOutByAShortHistory(sabotage: ModelWorker.Sabotage) {
        var random = SeededRandom(1)
        var found = 0
        for _ in 0..<300 where found < 1 {
            var setting = ProtocolModel.setting(using: &random)
            // Two workers suffice for every fault, and a third makes the histories longer.
            setting.slots = min(setting.slots, 2)
            setting.mayBeRejected = false
            let steps = ProtocolModel.steps(600, using: &random)
            guard ProtocolModel.play(steps, in: setting, sabotage).fault != nil else { continue }
            found += 1
            let shortest = shrunken(steps) { ProtocolModel.play($0, in: setting, sabotage).fault != nil }
            #expect(shortest.count <= 30, "\(shortest)")
            #expect(ProtocolModel.play(shortest, in: setting, sabotage).fault != nil)
            #expect(ProtocolModel.play(shortest, in: setting).fault == nil, "\(shortest)")
        }
        #expect(found == 1)
    }
}
