import TestSupport
import Testing

/// Random histories of a worker's partitions, 800,000 steps in all.
struct MembershipModelTests {
    @Test(arguments: 0..<20)
    func nothingBeginsTwiceIsGivenUpTooEarlyOrStaysForEver(seed: Int) {
        var random = SeededRandom(seed)
        var counts = MembershipModel.Counts()
        for _ in 0..<200 {
            let steps = MembershipModel.steps(200, using: &random)
            let played = MembershipModel.play(steps)
            counts += played.counts
            guard let fault = played.fault else { continue }
            let shortest = shrunken(steps) { MembershipModel.play($0).fault != nil }
            let rest = MembershipModel.play(shortest).fault ?? ""
            Issue.record("seed \(seed): \(fault); the shortest history found: \(rest) after \(shortest)")
            return
        }
        let rarest = min(counts.begun, counts.drained, counts.cut, counts.reset, counts.outdated)
        #expect(rarest >= 5, "\(counts)")
    }
}
