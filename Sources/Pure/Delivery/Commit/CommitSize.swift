/// Limits the next commit to what fits the transaction timeout, and says what becomes of a batch that failed.
///
/// It is counted in units: what finishes one record of a partition, which cannot be divided. A commit takes a fixed time, which is that of
/// some round trips, and a time that grows with its bytes. A line through the last commits tells them apart. Bytes follow what the last
/// commits managed: the time for bytes should take no more than what the fixed part leaves of `target`, but may always take as long as the
/// fixed part, because less bytes would save less than a second commit costs. How many units a commit may have after a rejection is
/// `RefusedUnits`' matter.
public struct CommitSize: Sendable, Equatable {
    /// The reason why a commit failed.
    public enum Failure: Sendable, Equatable {
        /// It did not end in time.
        case timedOut
        /// The brokers do not take what it holds.
        case refused
        /// Anything else. It says nothing about the batch.
        case unrelated
    }

    /// The cure of a batch that could not be committed.
    public enum Cure: Sendable, Equatable {
        /// It is offered again as it was.
        case again
        /// It goes back, and less is offered.
        case divide
        /// It is one unit, and may be what is wrong: others are offered before it.
        case postpone
        /// It is one unit that is never taken.
        case replace
    }

    /// A commit that took place.
    private struct Sample: Sendable, Equatable {
        let bytes: Double
        /// Nanoseconds.
        let duration: Double
    }

    /// The longest time that a commit should take, nanoseconds.
    public let target: Int64
    /// The time that the fastest of the last commits took, nanoseconds, or 0 before the first.
    public private(set) var fastest: Int64 = 0
    /// The most bytes of the next commit. A single unit may have more.
    public private(set) var byteLimit = Self.firstLimit

    /// The time for which brokers leave a transaction open, nanoseconds.
    private let transactionTimeout: Int64
    /// The last commits, the oldest first.
    private var samples: [Sample] = []
    /// The time that a commit takes whatever it holds, nanoseconds, or nil until commits of different sizes have shown it.
    private var fixed: Double?

    /// The bytes of the first commits, 1 MiB: nothing is known of the brokers yet.
    public static let firstLimit = 1 << 20
    /// The bytes that a commit may always have, 16 KiB.
    public static let leastLimit = 16 << 10
    /// The bytes that no commit exceeds, 64 MiB.
    public static let greatestLimit = 64 << 20
    /// The bytes from which on a commit's time tells something about bytes, 256 KiB.
    private static let leastMeasuredSize = 256 << 10
    /// The number of commits that the line goes through.
    private static let sampleCount = 8

    /// The size of the first commits. Brokers leave a transaction open for `transactionTimeout` nanoseconds.
    public init(transactionTimeout: Int64) {
        self.transactionTimeout = max(transactionTimeout, 4)
        target = min(2_000_000_000, self.transactionTimeout / 4)
    }

    /// True if the next commit may hold so many bytes.
    public func holds(bytes: Int) -> Bool { bytes <= byteLimit }

    /// Notes that a commit took place.
    ///
    /// - Parameters:
    ///   - bytes: What it held.
    ///   - duration: How long it took, nanoseconds.
    public mutating func committed(bytes: Int, in duration: Int64) {
        let sample = Sample(bytes: Double(max(0, bytes)), duration: Double(max(0, duration)))
        learn(sample)
        let limit = Double(byteLimit)
        let forBytes = max(0, sample.duration - (fixed ?? 0))
        let managed = forBytes > 0 ? sample.bytes * budget / forBytes : Double.infinity
        if forBytes <= budget {
            if sample.bytes >= limit / 2 { setLimit(min(limit * 2, max(limit, managed))) }
        } else if sample.bytes >= min(limit / 2, Double(Self.leastMeasuredSize)) {
            if fixed != nil {
                setLimit(min(limit, managed))
            } else if sample.duration > Double(transactionTimeout / 4) {
                setLimit(min(limit, max(managed, sample.bytes / 2)))
            } else if sample.bytes >= limit / 2 {
                // A commit of another size tells how much of this was for bytes, and a larger one is no risk.
                setLimit(limit * 2)
            }
        }
    }

    /// The time that bytes may take, nanoseconds.
    private var budget: Double {
        let whole = Double(target)
        let trips = fixed ?? 0
        return max(whole / 2, min(max(whole - trips, trips), Double(transactionTimeout) / 2 - trips))
    }

    private mutating func setLimit(_ bytes: Double) {
        byteLimit = Int(min(max(bytes, Double(Self.leastLimit)), Double(Self.greatestLimit)))
    }

    /// Lays a line through the last commits, by least squares: where it begins is the fixed part. Commits of one size leave open how much
    /// of their time that is.
    private mutating func learn(_ sample: Sample) {
        if samples.count == Self.sampleCount { samples.removeFirst() }
        samples.append(sample)
        let shortest = samples.reduce(Double.infinity) { min($0, $1.duration) }
        fastest = Int64(min(shortest, Double(transactionTimeout)))
        let least = samples.reduce(Double.infinity) { min($0, $1.bytes) }
        let greatest = samples.reduce(0) { max($0, $1.bytes) }
        guard greatest > 0, greatest >= least * 2 else {
            fixed = fixed.map { min($0, shortest) }
            return
        }
        let count = Double(samples.count)
        let meanBytes = samples.reduce(0) { $0 + $1.bytes } / count
        let meanDuration = samples.reduce(0) { $0 + $1.duration } / count
        let variance = samples.reduce(0) { $0 + ($1.bytes - meanBytes) * ($1.bytes - meanBytes) }
        let covariance = samples.reduce(0) { $0 + ($1.bytes - meanBytes) * ($1.duration - meanDuration) }
        fixed = max(0, meanDuration - max(0, covariance / variance) * meanBytes)
    }

    /// Notes that a commit failed, and none of it took place.
    ///
    /// - Parameters:
    ///   - failure: Why.
    ///   - units: The units that it held, 0 or more.
    ///   - bytes: Their bytes.
    ///   - isProven: Of a single unit, whether it was refused for long, while its topics took others.
    /// - Returns: What to do with it.
    public mutating func noteFailure(_ failure: Failure, units: Int, bytes: Int, isProven: Bool = false) -> Cure {
        switch failure {
        case .unrelated: return .again
        case .timedOut:
            byteLimit = max(min(byteLimit, bytes / 4), Self.leastLimit)
            return units > 1 && bytes > byteLimit ? .divide : .again
        case .refused:
            if units > 1 { return .divide }
            return units == 0 ? .again : isProven ? .replace : .postpone
        }
    }
}
