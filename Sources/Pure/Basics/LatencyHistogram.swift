/// Counts of durations by buckets. Each bucket ends at √2 times the end of the one before, rounded: 1, 2, 3, 4, 6, 8, 11, 16 … ms, and the
/// last one at 2^28 ms, which are about three days.
///
/// A duration costs one increment, and the buckets are always as many, so that histograms of many sources can be added and subtracted.
public struct LatencyHistogram: Sendable, Equatable {
    /// The ends of all buckets in milliseconds, which belong to them.
    public static let bounds: [Int64] = (1...28).flatMap { power -> [Int64] in
        let end = Int64(1) << Int64(power)
        return [Int64((Double(end) * 0.5.squareRoot()).rounded()), end]
    }

    private var counts = [Int64](repeating: 0, count: bounds.count)

    /// A histogram of nothing.
    public init() {}

    /// Counts one duration. A negative one counts as 0, and one beyond the last bucket in that.
    ///
    /// - Parameter milliseconds: The duration.
    public mutating func count(milliseconds: Int64) { counts[Self.bucket(of: milliseconds)] += 1 }

    /// Adds to the count of one bucket, up to the greatest number. Does nothing for a bound that no bucket has, or for a number that is not
    /// positive: anybody may have written them.
    ///
    /// - Parameters:
    ///   - number: The durations to add.
    ///   - bound: The end of their bucket, in milliseconds.
    public mutating func add(_ number: Int64, upTo bound: Int64) {
        let bucket = Self.bucket(of: bound)
        guard number > 0, Self.bounds[bucket] == bound else { return }
        counts[bucket] = Self.sum(counts[bucket], and: number)
    }

    /// Adds all counts of another histogram, up to the greatest number.
    public mutating func add(_ other: LatencyHistogram) {
        for bucket in counts.indices { counts[bucket] = Self.sum(counts[bucket], and: other.counts[bucket]) }
    }

    /// The durations that were counted since an earlier histogram.
    ///
    /// - Parameter earlier: A histogram of the same source.
    /// - Returns: The difference, or nil when any bucket had more before: the source has begun again at 0.
    public func growth(since earlier: LatencyHistogram) -> LatencyHistogram? {
        var grown = self
        for bucket in counts.indices {
            grown.counts[bucket] -= earlier.counts[bucket]
            if grown.counts[bucket] < 0 { return nil }
        }
        return grown
    }

    /// The number of durations.
    public var total: Int64 { counts.reduce(0) { Self.sum($0, and: $1) } }

    /// The buckets that have any, by their ends in milliseconds, shortest first.
    public var buckets: [(bound: Int64, count: Int64)] { Array(zip(Self.bounds, counts)).filter { $0.1 > 0 } }

    /// The duration that a share of all durations does not exceed, as if those of a bucket lay evenly in it.
    ///
    /// - Parameter share: 0 to 1, such as 0.99.
    /// - Returns: Milliseconds, or nil without any duration.
    public func percentile(_ share: Double) -> Int64? {
        let total = counts.reduce(0.0) { $0 + Double($1) }
        guard total > 0 else { return nil }
        let rank = min(max(share, 0), 1) * total
        var (passed, beginning) = (0.0, Int64(0))
        for (bound, count) in zip(Self.bounds, counts) {
            if count > 0, passed + Double(count) >= rank {
                let part = max(0, rank - passed) / Double(count)
                return beginning + Int64((Double(bound - beginning) * part).rounded())
            }
            passed += Double(count)
            beginning = bound
        }
        return Self.bounds.last
    }

    /// The first bucket whose end is no shorter.
    private static func bucket(of milliseconds: Int64) -> Int {
        guard milliseconds > 1 else { return 0 }
        let power = 64 - (milliseconds - 1).leadingZeroBitCount
        guard power <= bounds.count / 2 else { return bounds.count - 1 }
        return milliseconds <= bounds[2 * power - 2] ? 2 * power - 2 : 2 * power - 1
    }

    private static func sum(_ one: Int64, and other: Int64) -> Int64 {
        let (sum, isBeyond) = one.addingReportingOverflow(other)
        return isBeyond ? .max : sum
    }
}
