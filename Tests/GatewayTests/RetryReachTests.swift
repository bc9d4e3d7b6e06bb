import Basics
import Testing

@testable import Gateway

/// The time for which workers find a repeated request.
struct RetryReachTests {
    /// The table of page Publish.
    static let table: [(rate: Double, offsets: Int, partitions: Int, seconds: Double, isShort: Bool)] = [
        (100, 4_000, 12, 480, false), (1_000, 4_000, 12, 48, true), (10_000, 4_000, 12, 4.8, true),
        (100, 4_000, 4, 160, false), (1_000, 4_000, 4, 16, true), (10_000, 4_000, 4, 1.6, true),
        (100, 1_000_000, 12, 120_000, false), (1_000, 1_000_000, 12, 12_000, false), (10_000, 1_000_000, 12, 1_200, false),
        (800, 4_000, 12, 60, false), (801, 4_000, 12, 48_000 / 801, true), (0.1, 0, 12, 0, true),
    ]

    @Test(arguments: table.indices) func secondsAreReachTimesPartitionsByRate(index: Int) throws {
        let (rate, offsets, partitions, seconds, isShort) = Self.table[index]
        let reach = RetryReach(offsets: offsets, partitions: partitions)
        #expect(try #require(reach.seconds(atRate: rate)) == seconds)
        #expect(reach.isShort(atRate: rate) == isShort)
        #expect(isShort == (rate > reach.highestRate))
    }

    @Test func withoutRequestsTheReachDoesNotEnd() {
        let reach = RetryReach(offsets: 0, partitions: 0)
        #expect(reach.seconds(atRate: 0) == nil && !reach.isShort(atRate: 0))
    }

    @Test func aRateThatIsTooHighIsSaidOnce() {
        var watch = RetryReachWatch(RetryReach(offsets: 4_000, partitions: 12))
        func rate(_ count: UInt64, at seconds: Int64) -> Double? {
            watch.rateToWarnOf(published: count, now: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
        }
        #expect(rate(5_000_000, at: 0) == nil, "what came before is no rate")
        #expect(rate(5_600_000, at: 59) == nil, "a minute is not over")
        #expect(rate(5_048_000, at: 60) == nil, "800 in a second")
        #expect(rate(5_108_060, at: 120) == 1001)
        #expect(rate(9_000_000, at: 180) == nil, "it was said")
    }

    @Test func theWarningNamesTheSettingAndTheSeconds() {
        let test = TestServices()
        test.services.warn(of: RetryReach(offsets: 4_000, partitions: 12), atRate: 1_000)
        #expect(test.log.text.contains(#""setting":"dedupe.reach""#) && test.log.text.contains("for 48 s"))
    }
}
