import Basics

/// The ends of the last calls to a hub, and whether they are bad enough to stop.
///
/// Bad is a hub of which nearly nothing succeeds: a row of failures that is no chance (`FailureRow`) and goes on for a tenth of a second,
/// or is four times as long however fast it came, or nine failures of ten over some seconds.
struct RecentFailures: Sendable, Equatable {
    /// Failures one after the other are bad when they go on for so long, nanoseconds.
    static let rowDuration: Int64 = 100_000_000
    /// The share of failures is taken over a period of at least the first and at most the second, nanoseconds.
    static let period: ClosedRange<Int64> = 5_000_000_000...10_000_000_000
    /// The fewest calls that have a share.
    static let leastCalls = 20

    private let longestRow: Int
    private var row: FailureRow
    private var rowStart = MonotonicTime.past
    private var calls = 0
    private var failures = 0
    private var periodStart = MonotonicTime.past

    /// Starts without calls. `longestRow` failures in a row are bad.
    init(longestRow: Int) {
        self.longestRow = longestRow
        row = FailureRow(longest: longestRow)
    }

    /// Notes a call that ended at `now`. Returns what is bad now, if anything is.
    mutating func noteEnd(isFailure: Bool, now: MonotonicTime) -> CircuitBreaker.OpenCause? {
        if calls == 0 || now - periodStart > Self.period.upperBound {
            periodStart = now
            calls = 0
            failures = 0
        }
        calls += 1
        // A success is no reason to stop, whatever came before it.
        guard isFailure else {
            row.succeeded()
            return nil
        }
        failures += 1
        row.noteFailure()
        if row.count == 1 { rowStart = now }
        if row.isUnlikely && (now - rowStart >= Self.rowDuration || row.count / 4 >= longestRow) { return .failuresInRow }
        guard now - periodStart >= Self.period.lowerBound, calls >= Self.leastCalls else { return nil }
        return failures * 10 >= calls * 9 ? .failureShare : nil
    }

    /// Forgets the failures, but not how many of the calls before them failed.
    mutating func restart() {
        calls = 0
        failures = 0
        row.restart()
    }
}
