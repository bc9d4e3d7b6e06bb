typealias ReplayFailure = SessionFailure<JobFailure>

/// The progress of a replay.
package enum RunProgress: Sendable, Equatable {
    /// A session goes on at an item of the plan.
    case began(at: Int)
    /// The number of items that were handled in all runs, and of those that were left out.
    case reached(Int, skipped: Int)
}

/// Reports the progress of a run, and keeps it while sessions come and go.
final class RunReporter {
    /// The items that were dealt with, in all runs.
    private(set) var count = 0
    private let report: (RunProgress) -> Void

    /// A reporter of a run that begins now.
    init(_ report: @escaping (RunProgress) -> Void) {
        self.report = report
    }

    /// Reports that a session goes on at an item.
    func begin(at count: Int) {
        self.count = count
        report(.began(at: count))
    }

    /// Reports how many items were dealt with.
    func reach(_ count: Int, skipped: Int) {
        self.count = count
        report(.reached(count, skipped: skipped))
    }
}
