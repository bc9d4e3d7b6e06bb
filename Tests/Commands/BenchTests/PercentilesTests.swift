import Testing

@testable import Bench

@Suite struct PercentilesTests {
    @Test(arguments: [(0.0, 1.0), (0.5, 5), (0.51, 6), (0.9, 9), (0.99, 10), (1, 10)])
    func theNearestRankIsAValueThatWasThere(share: Double, expected: Double) {
        #expect(Percentiles([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).value(share) == expected)
    }

    @Test func nothingHasThePercentileZero() {
        #expect(Percentiles([]).value(0.5) == 0)
    }

    @Test func oneValueIsEveryPercentile() {
        #expect([0, 0.5, 0.99, 1].map { Percentiles([7]).value($0) } == [7, 7, 7, 7])
    }
}
