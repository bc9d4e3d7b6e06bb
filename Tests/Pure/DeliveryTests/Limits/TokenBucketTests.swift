import Basics
import Delivery
import TestSupport
import Testing

struct TokenBucketTests {
    private static let second: Int64 = 1_000_000_000

    /// Starts every call as soon as it may start, until `end`; gives how many there were.
    private func drain(_ bucket: inout TokenBucket, from start: Int64, to end: Int64) -> Int {
        var (now, count) = (start, 0)
        while now < end {
            while bucket.hasCall(now: .at(now)) {
                bucket.take()
                count += 1
            }
            guard let next = bucket.nextCall(now: .at(now)), next < .at(end) else { break }
            now = next.nanoseconds
        }
        return count
    }

    private func expectCall(
        _ bucket: inout TokenBucket, at now: Int64, _ expected: Bool, _ place: SourceLocation = #_sourceLocation
    ) {
        let hasCall = bucket.hasCall(now: .at(now))
        #expect(hasCall == expected, sourceLocation: place)
    }

    private func expectNext(
        _ bucket: inout TokenBucket, at now: Int64, _ expected: Int64?, _ place: SourceLocation = #_sourceLocation
    ) {
        let next = bucket.nextCall(now: .at(now))
        #expect(next == expected.map { .at($0) }, sourceLocation: place)
    }

    @Test func aFreshOneIsEmpty() {
        var bucket = TokenBucket(rate: 500_000, now: 7)
        expectCall(&bucket, at: 7, false)
        expectNext(&bucket, at: 7, 7 + 2_000_000)
        expectCall(&bucket, at: 7 + 1_999_999, false)
        expectCall(&bucket, at: 7 + 2_000_000, true)
        expectNext(&bucket, at: 7 + 2_000_000, nil)
    }

    /// Rates that no binary fraction can hold, for a day: one call too few or too many would show.
    @Test(arguments: [1000, 333, 7001, 333_333, 999_999, 500_000] as [Int64])
    func overLongTimesItIsExact(rate: Int64) {
        var bucket = TokenBucket(rate: rate, now: 0)
        let seconds = min(86_400, 40_000_000 / rate)
        let count = drain(&bucket, from: 0, to: seconds * Self.second + 1)
        #expect(Int64(count) == rate * seconds / 1000)
    }

    /// However its owner looks at it, in no window are there more calls than the rate's and one burst.
    @Test(arguments: 0..<20)
    func noWindowHoldsMoreThanTheRateAndOneBurst(seed: Int) {
        var random = SeededRandom(seed)
        let rate = Int64(100_000 + random.below(2_000_000))
        var bucket = TokenBucket(rate: rate, now: 0)
        var now: Int64 = 0
        var starts: [Int64] = []
        for _ in 0..<5000 {
            now += Int64(random.below([1000, 3_000_000, 700_000_000][random.below(3)]))
            for _ in 0..<random.below(200) where bucket.hasCall(now: .at(now)) {
                bucket.take()
                starts.append(now)
            }
        }
        for window in [Self.second / 100, Self.second, 30 * Self.second] {
            let allowed = (rate * window + rate * TokenBucket.burst) / (1000 * Self.second) + 1
            var (first, most) = (0, 0)
            for last in starts.indices {
                while starts[last] - starts[first] >= window { first += 1 }
                most = max(most, last - first + 1)
            }
            #expect(Int64(most) <= allowed)
        }
    }

    @Test(arguments: [(500_000, 125), (4000, 1), (1, 1), (1_000_000_000, 250_000)] as [(Int64, Int)])
    func afterARestOneBurstIsThere(rate: Int64, burst: Int) {
        var bucket = TokenBucket(rate: rate, now: 0)
        let now = Int64.max / 4
        var count = 0
        while bucket.hasCall(now: .at(now)) {
            bucket.take()
            count += 1
        }
        #expect(count == burst)
    }

    @Test func aChangedRateCountsFromItsMomentOn() {
        var bucket = TokenBucket(rate: 100_000, now: 0)
        let before = drain(&bucket, from: 0, to: 10 * Self.second)
        bucket.setRate(1_000_000, now: .at(10 * Self.second))
        let after = drain(&bucket, from: 10 * Self.second, to: 20 * Self.second)
        #expect(before == 999)
        #expect(after == 10_000)
    }

    @Test func aLowerRateTakesTheLargerBurstAway() {
        var bucket = TokenBucket(rate: 1_000_000, now: 0)
        expectCall(&bucket, at: Self.second, true)
        bucket.setRate(8000, now: .at(Self.second))
        var count = 0
        while bucket.hasCall(now: .at(Self.second)) {
            bucket.take()
            count += 1
        }
        #expect(count == 2)
    }

    @Test func withoutARateNoCallMayEverStart() {
        var bucket = TokenBucket(rate: 1000, now: 0)
        expectCall(&bucket, at: Self.second, true)
        bucket.setRate(0, now: .at(Self.second))
        expectCall(&bucket, at: .max, false)
        expectNext(&bucket, at: .max, .max)
    }

    @Test func aClockThatStandsBackChangesNothing() {
        var bucket = TokenBucket(rate: 1000, now: 100)
        expectCall(&bucket, at: 0, false)
        expectNext(&bucket, at: 0, 100 + Self.second)
    }

    @Test(arguments: [(500_000, 1000), (1000, 2), (1, 1), (1_000_000_000, 2_000_000)] as [(Int64, Int)])
    func aFilledOneHasTheBurstOfItsOwner(rate: Int64, burst: Int) {
        var bucket = TokenBucket(rate: rate, burst: 2 * Self.second, now: 0)
        bucket.fill()
        for now in [0, Int64.max / 4] {
            var count = 0
            while bucket.hasCall(now: .at(now)) {
                bucket.take()
                count += 1
            }
            #expect(count == burst)
        }
    }
}
