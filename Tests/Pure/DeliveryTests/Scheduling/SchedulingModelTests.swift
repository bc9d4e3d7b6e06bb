import TestSupport
import Testing

/// Random histories of requests that wait, which drive `Scheduler` and what it is made of.
struct SchedulingModelTests {
    /// Plays histories until one has a fault, which is reported with its seed and the shortest history found.
    private static func play(_ seed: Int, histories: Int) -> SchedulingModel.Counts {
        var random = SeededRandom(seed)
        var counts = SchedulingModel.Counts()
        for _ in 0..<histories {
            let setting = SchedulingModel.setting(using: &random)
            let steps = SchedulingModel.steps(300, using: &random)
            let played = SchedulingModel.play(steps, in: setting)
            counts += played.counts
            guard let fault = played.fault else { continue }
            Issue.record("seed \(seed), \(setting): \(fault)")
            let shortest = shrunken(steps) { SchedulingModel.play($0, in: setting).fault != nil }
            let rest = SchedulingModel.play(shortest, in: setting).fault ?? ""
            Issue.record("seed \(seed), \(setting): the shortest history found: \(rest) after \(shortest)")
            return counts
        }
        return counts
    }

    /// 36,000 steps.
    @Test(arguments: 0..<12)
    func noHistoryLosesRepeatsOrOvertakesARequest(seed: Int) {
        let counts = Self.play(seed, histories: 10)
        #expect(counts.held > 0 && counts.buffered > 0 && counts.delayed > 0, "\(counts)")
    }

    /// 1.2 million steps, 150,000 for each group of seeds. Some events are so rare that single seeds lack them.
    @Test(.takesLong, arguments: 0..<8)
    func noLongRunLosesRepeatsOrOvertakesARequest(group: Int) {
        var counts = SchedulingModel.Counts()
        for seed in 100 + 10 * group..<110 + 10 * group { counts += Self.play(seed, histories: 50) }
        for field in SchedulingModel.Counts.fields {
            #expect(counts[keyPath: field] > 0, "\(field) does not come up in \(counts)")
        }
    }

    /// Each thing that is performed wrongly is found out, by a history short enough to read.
    @Test(arguments: SchedulingWorker.Sabotage.allCases.filter { $0 != .none })
    func whatIsPerformedWronglyIsFoundOut(sabotage: SchedulingWorker.Sabotage) {
        var random = SeededRandom(1)
        for _ in 0..<200 {
            let setting = SchedulingModel.setting(using: &random)
            let steps = SchedulingModel.steps(300, using: &random)
            guard SchedulingModel.play(steps, in: setting, sabotage).fault != nil else { continue }
            let shortest = shrunken(steps) { SchedulingModel.play($0, in: setting, sabotage).fault != nil }
            #expect(shortest.count <= 25, "\(shortest)")
            #expect(SchedulingModel.play(shortest, in: setting).fault == nil, "\(shortest)")
            return
        }
        Issue.record("\(sabotage) is not found out")
    }
}
