import TestSupport
import Testing

/// Random histories of the commit protocol, 10 million steps in all.
struct ProtocolModelTests {
    @Test(arguments: 0..<20)
    func noHistoryLosesOrRepeatsAResult(seed: Int) {
        var random = SeededRandom(seed)
        var counts = ModelCounts()
        for _ in 0..<250 {
            let setting = ProtocolModel.setting(using: &random)
            let steps = ProtocolModel.steps(2000, using: &random)
            let played = ProtocolModel.play(steps, in: setting)
            counts += played.counts
            guard let fault = played.fault else { continue }
            let shortest = shrunken(steps) { ProtocolModel.play($0, in: setting).fault != nil }
            let rest = ProtocolModel.play(shortest, in: setting).fault ?? ""
            Issue.record("seed \(seed), \(setting): \(fault); the shortest history found: \(rest) after \(shortest)")
            return
        }
        for event in ModelCounts.frequent { #expect(counts[keyPath: event] >= 20, "\(event) is too rare in \(counts)") }
        #expect(counts.superseded > 0)
    }

    /// Each rule that is broken is found out, by a history short enough to read.
    @Test(arguments: ModelWorker.Sabotage.allCases.filter { $0 != .none })
    func aBrokenRuleIsFoundOutByAShortHistory(sabotage: ModelWorker.Sabotage) {
        var random = SeededRandom(1)
        var found = 0
        for _ in 0..<400 where found < 5 {
            var setting = ProtocolModel.setting(using: &random)
            // Two workers suffice for every fault, and a third makes the histories longer.
            setting.slots = min(setting.slots, 2)
            let steps = ProtocolModel.steps(1000, using: &random)
            guard ProtocolModel.play(steps, in: setting, sabotage).fault != nil else { continue }
            found += 1
            let shortest = shrunken(steps) { ProtocolModel.play($0, in: setting, sabotage).fault != nil }
            #expect(shortest.count <= 15, "\(shortest)")
            #expect(ProtocolModel.play(shortest, in: setting, sabotage).fault != nil)
            #expect(ProtocolModel.play(shortest, in: setting).fault == nil, "\(shortest)")
        }
        #expect(found == 5)
    }
}
