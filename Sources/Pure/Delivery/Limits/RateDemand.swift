import Basics

/// The share of a limit that one worker has use for, from what it did during the last two seconds.
///
/// One whose calls waited has use for all that it can get; another one for twice what it used at its busiest, so that it can grow. It has
/// use for a little at least, so that its first calls need not wait for its share to come back.
struct RateDemand: Sendable {
    /// One of the windows in which calls are counted, nanoseconds.
    static let window: Int64 = 250_000_000
    /// Windows that are looked at: two seconds.
    static let windowCount = 8
    /// The share that is kept in any case, in parts of `FleetShare.whole`.
    static let least = FleetShare.whole / 64

    private var counts = [Int](repeating: 0, count: windowCount)
    private var windowStart: MonotonicTime
    private var current = 0
    private var waitedAt: MonotonicTime

    /// A worker that has use for everything, until two seconds have shown that it has not.
    init(now: MonotonicTime) {
        windowStart = now
        waitedAt = now
    }

    /// Notes that a call started.
    mutating func started() { counts[current] += 1 }

    /// Notes that calls wait for the rate.
    mutating func waited(now: MonotonicTime) { waitedAt = now }

    /// The most that there is use for, in parts of `FleetShare.whole`, 1/64 of it at least. `limit` is that of which it is a
    /// part, thousandths of a call per second. What was said `before` is kept until much less would do.
    mutating func most(of limit: Int64, before: Int, now: MonotonicTime) -> Int {
        turn(now)
        guard now - waitedAt >= Int64(Self.windowCount) * Self.window, limit > 0 else { return FleetShare.whole }
        let busiest = Double(counts.max() ?? 0) * 1e9 / Double(Self.window)
        let wanted = min(2 * busiest * 1000 / Double(limit), 1) * Double(FleetShare.whole)
        let most = max(Int(wanted), Self.least)
        return most > before || most < before / 2 ? most : before
    }

    /// The beginning of the next window.
    var nextWindow: MonotonicTime { windowStart + Self.window }

    private mutating func turn(_ now: MonotonicTime) {
        var remaining = Self.windowCount
        while now >= nextWindow, remaining > 0 {
            windowStart += Self.window
            current = (current + 1) % Self.windowCount
            counts[current] = 0
            remaining -= 1
        }
        // After a long rest all windows are empty and it does not matter when each began.
        if now >= nextWindow { windowStart = now }
    }
}
