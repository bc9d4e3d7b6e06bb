public import Basics

/// Lets calls start at a rate, and after a rest a few at once.
///
/// It counts in whole numbers and rounds nothing: a call is 10^12 parts, and each nanosecond brings as many parts as the rate has
/// thousandths of a call per second. So over any time no more calls start than the rate allows plus one burst, and after a year as
/// many as there should be. Moments are nanoseconds of a monotonic clock that the owner reads.
public struct TokenBucket: Sendable, Equatable {
    /// The highest rate, a million calls per second. A higher one is taken for it. Thousandths of a call per second.
    public static let highestRate: Int64 = 1_000_000_000
    /// A burst is what the rate brings in a quarter of a second, nanoseconds, and one call at least.
    public static let burst: Int64 = 250_000_000
    private static let call: Int64 = 1_000_000_000_000

    /// Thousandths of a call per second. At 0 no call may start.
    public private(set) var rate: Int64
    /// The amount that is there, in parts.
    private var level: Int64 = 0
    private var settledAt: MonotonicTime

    /// An empty bucket.
    ///
    /// - Parameters:
    ///   - rate: Thousandths of a call per second, 0 – `highestRate`.
    ///   - now: The present moment.
    public init(rate: Int64, now: MonotonicTime) {
        self.rate = min(max(rate, 0), Self.highestRate)
        settledAt = now
    }

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
    public mutating func take() {
        level -= min(level, Self.call)
    }

    /// The moment at which the next call may start. Nil if one may now, `never` if none ever may at this rate.
    public mutating func nextCall(now: MonotonicTime) -> MonotonicTime? {
        guard !hasCall(now: now) else { return nil }
        guard rate > 0 else { return .never }
        return settledAt + Self.ceiling(Self.call - level, by: rate)
    }

    private var capacity: Int64 { rate == 0 ? 0 : max(Self.call, rate * Self.burst) }

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
