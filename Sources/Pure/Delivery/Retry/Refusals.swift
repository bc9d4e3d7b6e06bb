import Basics

/// The refusals of a hub that throttles, which show whether it refuses as a whole, or some of many calls only.
///
/// It refuses as a whole when it has accepted nothing for a second, or when refusals one after the other are no chance any more.
/// Moments are nanoseconds of a monotonic clock.
struct Refusals: Sendable, Equatable {
    /// The time for which an accepted call shows that the hub accepts some, nanoseconds.
    static let recent: Int64 = 1_000_000_000
    /// Refusals one after the other that are no chance where few calls are refused.
    static let longestRow = 4

    private var row = FailureRow(longest: Refusals.longestRow)
    private var acceptingUntil = MonotonicTime.past

    /// Notes an answer, a refusal if the hub throttled the call. Returns whether the hub refuses as a whole.
    mutating func answered(isRefusal: Bool, now: MonotonicTime) -> Bool {
        guard isRefusal else {
            row.succeeded()
            acceptingUntil = now + Self.recent
            return false
        }
        row.noteFailure()
        return now >= acceptingUntil || row.isUnlikely
    }
}
