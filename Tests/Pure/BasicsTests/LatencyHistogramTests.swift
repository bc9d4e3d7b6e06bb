import TestSupport
import Testing

@testable import Basics

/// Durations are counted by buckets.
@Suite struct LatencyHistogramTests {
    private static func histogram(_ durations: [Int64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for duration in durations { histogram.count(milliseconds: duration) }
        return histogram
    }

    @Test(arguments: [
        (Int64.min, Int64(1)), (-1, 1), (0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 6), (7, 8), (45, 45), (46, 64),
        (64, 64), (65, 91), (1000, 1024), (86_400_000, 94_906_266), (268_435_455, 268_435_456), (268_435_456, 268_435_456),
        (268_435_457, 268_435_456), (.max, 268_435_456),
    ])
    func aDurationIsInTheFirstBucketThatEndsNoSooner(milliseconds: Int64, bound: Int64) {
        let buckets = Self.histogram([milliseconds]).buckets
        #expect(buckets.count == 1 && buckets.first?.bound == bound && buckets.first?.count == 1)
    }

    @Test func eachBucketEndsLaterThanTheOneBefore() {
        let bounds = LatencyHistogram.bounds
        #expect(bounds.count == 56 && bounds.last == 1 << 28)
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 && $1 <= 2 * $0 })
        for (place, bound) in bounds.enumerated() {
            let expected = [bound, place + 1 < bounds.count ? bounds[place + 1] : bound]
            #expect(Self.histogram([bound, bound + 1]).buckets.map(\.bound).last == expected.last)
            #expect(Self.histogram([bound]).buckets.first?.bound == expected.first)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5])
    func aPercentileIsInTheBucketOfTheExactOne(seed: Int) throws {
        var random = SeededRandom(seed)
        let scale = Int64(1) << Int64(4 * seed)
        let durations = (0..<999).map { _ in Int64(random.below(Int(scale))) + Int64(random.below(50)) }.sorted()
        let histogram = Self.histogram(durations)
        for (share, exact) in [(0.0, durations[0]), (0.5, durations[499]), (0.95, durations[949]), (1, durations[998])] {
            let found = try #require(histogram.percentile(share))
            let bound = try #require(Self.histogram([exact]).buckets.first?.bound)
            let beginning = LatencyHistogram.bounds.last { $0 < bound } ?? 0
            #expect(found >= beginning && found <= bound, "\(share)")
        }
    }

    @Test func durationsOfABucketLieEvenlyInIt() {
        #expect(Self.histogram([]).percentile(0.5) == nil)
        let ten = Self.histogram([Int64](repeating: 50, count: 10))
        // From 45 to 64.
        #expect([0, 0.5, 1, 7, -7].map { ten.percentile($0) } == [45, 55, 64, 64, 45])
    }

    @Test(arguments: [1, 2, 3])
    func whatWasAddedIsWhatHasGrown(seed: Int) {
        var random = SeededRandom(seed)
        let before = Self.histogram((0..<random.below(200)).map { _ in Int64(random.below(5000)) })
        let added = Self.histogram((0..<random.below(200)).map { _ in Int64(random.below(5000)) })
        var after = before
        after.add(added)
        #expect(after.growth(since: before) == added && after.total == before.total + added.total)
        #expect(added == .init() || before.growth(since: after) == nil)
    }

    @Test func countsFromOutsideAreBounded() {
        var histogram = LatencyHistogram()
        for (number, bound) in [(5, 44), (5, 0), (5, -1), (5, .max), (0, 45), (-3, 45), (Int64.min, 64)] as [(Int64, Int64)] {
            histogram.add(number, upTo: bound)
        }
        #expect(histogram == LatencyHistogram())
        for bound in [45, 45, 64] as [Int64] { histogram.add(.max, upTo: bound) }
        histogram.add(histogram)
        #expect(histogram.total == .max && histogram.buckets.map(\.count) == [.max, .max])
        #expect(histogram.percentile(0.99).map { (32...64).contains($0) } == true)
    }
}
