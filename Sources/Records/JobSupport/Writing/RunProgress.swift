/// The progress of a replay, or of another run that many sessions share.
package enum RunProgress: Sendable, Equatable {
    /// A session goes on at an item of the plan.
    case began(at: Int)
    /// The number of items that were handled in all runs, and of those that were left out.
    case reached(Int, skipped: Int)
}

/// Reports the progress of a run, and keeps it while sessions come and go.
package final class RunReporter {
    /// The items that were dealt with, in all runs.
    package private(set) var count = 0
    private let report: (RunProgress) -> Void

    /// A reporter of a run that begins now.
    package init(_ report: @escaping (RunProgress) -> Void) {
        self.report = report
    }

    /// Reports that a session goes on at an item.
    package func begin(at count: Int) {
        self.count = count
        report(.began(at: count))
    }

    /// Reports how many items were dealt with.
    package func reach(_ count: Int, skipped: Int) {
        self.count = count
        report(.reached(count, skipped: skipped))
    }
}
