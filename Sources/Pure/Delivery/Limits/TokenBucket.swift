public import Basics

/// Lets calls start at a rate, and after a rest a few at once.
///
/// It counts in whole numbers and rounds nothing: a call is 10^12 parts, and each nanosecond brings as many parts as the rate has
/// thousandths of a call per second. So over any time no more calls start than the rate allows plus one burst, and after a year as
/// many as there should be. Moments are nanoseconds of a monotonic clock that the owner reads.
public struct TokenBucket: Sendable, Equatable {
    /// The highest rate, a million calls per second. A higher one is taken for it. Thousandths of a call per second.
    public static let highestRate: Int64 = 1_000_000_000
    /// A burst, unless its owner says otherwise, is what the rate brings in a quarter of a second, nanoseconds, and one call at least.
    public static let burst: Int64 = 250_000_000
    private static let call: Int64 = 1_000_000_000_000

    /// Thousandths of a call per second. At 0 no call may start.
    public private(set) var rate: Int64
    /// The nanoseconds in which the rate brings a burst.
    private let burst: Int64
    /// The amount that is there, in parts.
    private var level: Int64 = 0
    private var settledAt: MonotonicTime

    /// An empty bucket.
    ///
    /// - Parameters:
    ///   - rate: Thousandths of a call per second, 0 – `highestRate`.
    ///   - burst: A burst is what the rate brings in so many nanoseconds, 0 – 4 s.
    ///   - now: The present moment.
    public init(rate: Int64, burst: Int64 = Self.burst, now: MonotonicTime) {
        self.rate = min(max(rate, 0), Self.highestRate)
        self.burst = min(max(burst, 0), 4_000_000_000)
        settledAt = now
    }

    /// Fills it with one burst.
    public mutating func fill() { level = capacity }

    /// Changes the rate. What the old one has brought stays, up to a burst of the new one.
    public mutating func setRate(_ rate: Int64, now: MonotonicTime) {
        settle(now)
        self.rate = min(max(rate, 0), Self.highestRate)
        level = min(level, capacity)
    }

    /// True if a call may start at `now`.
    public mutating func hasCall(now: MonotonicTime) -> Bool {
        settle(now)
        return level >= Self.call
    }

    /// Takes a call out, for which `hasCall` was true.
    public mutating func take() { level -= min(level, Self.call) }

    /// The moment at which the next call may start. Nil if one may now, `never` if none ever may at this rate.
    public mutating func nextCall(now: MonotonicTime) -> MonotonicTime? { nextCalls(1, now: now) }

    /// The most calls that may start at once.
    public var burstCount: Int { Int(capacity / Self.call) }

    /// Takes several calls out if all of them may start at `now`, else none.
    ///
    /// - Parameters:
    ///   - count: How many, 0 or more.
    ///   - now: The present moment.
    /// - Returns: Whether they may start.
    public mutating func take(_ count: Int, now: MonotonicTime) -> Bool {
        guard nextCalls(count, now: now) == nil else { return false }
        level -= Int64(count) * Self.call
        return true
    }

    /// The moment at which several calls may start at once. Nil if they may now, `never` if that is more than a burst.
    public mutating func nextCalls(_ count: Int, now: MonotonicTime) -> MonotonicTime? {
        settle(now)
        guard count <= burstCount else { return .never }
        let missing = Int64(count) * Self.call - level
        return missing > 0 ? settledAt + Self.ceiling(missing, by: rate) : nil
    }

    private var capacity: Int64 { rate == 0 ? 0 : max(Self.call, rate * burst) }

    private mutating func settle(_ now: MonotonicTime) {
        guard now > settledAt else { return }
        let missing = capacity - level
        // Divided first, so that a long rest cannot overflow.
        if rate == 0 || now - settledAt >= Self.ceiling(missing, by: rate) {
            level += missing
        } else {
            level += (now - settledAt) * rate
        }
        settledAt = now
    }

    private static func ceiling(_ parts: Int64, by rate: Int64) -> Int64 { (parts + rate - 1) / rate }
}
