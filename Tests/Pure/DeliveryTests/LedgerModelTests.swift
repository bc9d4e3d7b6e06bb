import Delivery
import TestSupport
import Testing

/// Random histories of a partition and its workers, 1.2 million steps in all.
struct LedgerModelTests {
    private static let windows = [16, 17, 64, 100, 1000, 16_384]

    @Test(arguments: 0..<24)
    func noHistoryLosesRepeatsOrStalls(seed: Int) {
        var random = SeededRandom(seed)
        for _ in 0..<50 {
            let window = Self.windows[random.below(Self.windows.count)]
            let steps = LedgerModel.steps(1000, using: &random)
            guard let fault = LedgerModel.fault(of: steps, window: window) else { continue }
            let shortest = shrunken(steps) { LedgerModel.fault(of: $0, window: window) != nil }
            Issue.record(
                """
                seed \(seed), window \(window): \(fault); the shortest history found: \
                \(LedgerModel.fault(of: shortest, window: window) ?? "") after \(shortest)
                """)
            return
        }
    }

    @Test(arguments: LedgerModel.Sabotage.allCases.filter { $0 != .none })
    func aWorkerWithAFaultIsFoundOutByAShortHistory(sabotage: LedgerModel.Sabotage) {
        var random = SeededRandom(1)
        var found = 0
        for _ in 0..<60 where found < 3 {
            let steps = LedgerModel.steps(1000, using: &random)
            guard LedgerModel.fault(of: steps, window: 16, sabotage) != nil else { continue }
            found += 1
            let shortest = shrunken(steps) { LedgerModel.fault(of: $0, window: 16, sabotage) != nil }
            #expect(shortest.count <= 12, "\(shortest)")
            #expect(LedgerModel.fault(of: shortest, window: 16, sabotage) != nil)
            #expect(LedgerModel.fault(of: shortest, window: 16) == nil, "\(shortest)")
        }
        #expect(found == 3)
    }
}
