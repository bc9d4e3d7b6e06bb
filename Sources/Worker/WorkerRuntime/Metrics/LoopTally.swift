import Basics
import PushModel

/// The counts of one loop since the process began: what the metrics count for all loops together. Belongs to the loop's thread.
final class LoopTally {
    /// Final results, by the place of their state among all states.
    private var counts = [Int64](repeating: 0, count: ResultState.allCases.count)
    /// The times from publishing to final results.
    private(set) var latency = LatencyHistogram()
    /// The calls of hubs that were answered, or failed.
    private(set) var callCount: Int64 = 0

    /// Counts a final result, and the time since its request was published.
    func noteResult(_ state: ResultState, milliseconds: Int64) {
        counts[Self.place(of: state)] += 1
        latency.count(milliseconds: milliseconds)
    }

    /// Counts a call that has ended.
    func noteCall() { callCount += 1 }

    /// The final results by state, without the states that none has.
    var finished: [LoopStatus.Finished] {
        zip(ResultState.allCases, counts).compactMap { $1 > 0 ? LoopStatus.Finished(state: $0, count: $1) : nil }
    }

    /// The place of a state in `ResultState.allCases`.
    private static func place(of state: ResultState) -> Int {
        switch state {
        case .scheduled: 0
        case .retrying: 1
        case .sent: 2
        case .partial: 3
        case .failed: 4
        case .expired: 5
        case .cancelled: 6
        case .duplicate: 7
        case .rejected: 8
        case .unknown: 9
        }
    }
}
