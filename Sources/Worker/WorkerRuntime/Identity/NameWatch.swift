import Basics

/// Decides when a worker that starts may take its name: not while another process lives under it. So two of one name do not end each
/// other in turns.
///
/// A run that has ended makes no worker wait, where that is known: its process was beside this one and is gone, and no other beside holds the
/// name; or it has left as it should. A group may show a run that was there before the one that has the name now. Then the machine of the
/// run that is shown goes on, and others wait.
/// Else the name is free when its session is over.
///
/// Times are nanoseconds.
struct NameWatch: Sendable {
    /// The kinds of what to do.
    enum Action: Sendable, Equatable {
        /// Take the name.
        case take
        /// Look again, but not sooner.
        case check(at: MonotonicTime)
    }

    /// The first wait: 500 ms. Each is twice the one before.
    static let firstWait: Int64 = 500_000_000
    /// The longest wait: 5 s.
    static let longestWait: Int64 = 5_000_000_000
    /// The time for which brokers are asked that do not say who has the name: 30 s.
    static let patience: Int64 = 30_000_000_000

    private var wait = Self.firstWait
    private var unseenSince: MonotonicTime?

    /// A probe has shown who has the name. Returns `check` while another has it. `jitter` is by chance, 0 – 1.
    mutating func noteHolder(_ holder: NameHolder, now: MonotonicTime, jitter: Double) -> Action {
        unseenSince = nil
        switch holder {
        case .nobody, .own, .ended: return .take
        case .other, .unnamed: return checkLater(now, jitter: jitter)
        }
    }

    /// A probe has shown nothing. Returns `check`, or `take` when that has lasted for `patience`.
    mutating func noteNoAnswer(now: MonotonicTime, jitter: Double) -> Action {
        let since = unseenSince ?? now
        unseenSince = since
        return now.nanoseconds(since: since) >= Self.patience ? .take : checkLater(now, jitter: jitter)
    }

    private mutating func checkLater(_ now: MonotonicTime, jitter: Double) -> Action {
        defer { wait = min(wait * 2, Self.longestWait) }
        return .check(at: now.advanced(byNanoseconds: wait / 2 + Int64(Double(wait / 2) * min(max(jitter, 0), 1))))
    }
}
