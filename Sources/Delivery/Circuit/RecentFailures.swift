/// How the last calls to a hub ended, and whether that is bad enough to stop.
///
/// A number of calls alone says little: at a thousand calls a second, five failures one after the other are chance when every
/// fourth call fails. A tenth of a second without any success is not, nor are four times as many failures, however fast they came.
struct RecentFailures: Sendable, Equatable {
    /// Failures one after the other are bad when they go on for so long, nanoseconds.
    static let rowDuration: Int64 = 100_000_000
    /// The share of failures is taken over a period of at least the first and at most the second, nanoseconds.
    static let period: ClosedRange<Int64> = 5_000_000_000...10_000_000_000
    /// The fewest calls that have a share.
    static let leastCalls = 20

    private let longestRow: Int
    private var row = 0
    private var rowStart: Int64 = 0
    private var calls = 0
    private var failures = 0
    private var periodStart: Int64 = 0

    /// Nothing has happened yet; `longestRow` failures one after the other are bad.
    init(longestRow: Int) { self.longestRow = longestRow }

    /// Notes a call that ended at `now`.
    ///
    /// - Returns: What is bad now, if anything is.
    mutating func ended(isFailure: Bool, now: Int64) -> CircuitBreaker.Reason? {
        if calls == 0 || now - periodStart > Self.period.upperBound {
            periodStart = now
            calls = 0
            failures = 0
        }
        calls += 1
        // A success is no reason to stop, whatever came before it.
        guard isFailure else {
            row = 0
            return nil
        }
        failures += 1
        row += 1
        if row == 1 { rowStart = now }
        if row >= longestRow && (now - rowStart >= Self.rowDuration || row >= 4 * longestRow) { return .failuresInRow }
        guard now - periodStart >= Self.period.lowerBound, calls >= Self.leastCalls else { return nil }
        return failures * 2 >= calls ? .failureShare : nil
    }
}
