public import Basics

/// The gate for requests while the topic of cancellations is read: whether they may begin.
///
/// They wait until it is known what stood there when their partitions were assigned. But that topic has one partition, and one broker that
/// is away must not stop a worker: where reading does not get on for `patience`, requests begin without it. What is cancelled and not
/// seen is sent then. As soon as the topic is read again, cancellations count as ever.
public struct ControlGate: Sendable, Equatable {
    /// The time for which reading may stand still before requests begin without it, and which it may take before that is said:
    /// 10 s in nanoseconds.
    public static let patience: Int64 = 10_000_000_000
    /// The most that counts of the time between two looks: 2 s in nanoseconds. A process that stood still has not tried to read
    /// either.
    public static let longestStep: Int64 = 2_000_000_000

    /// The trouble that must be said.
    public enum Failure: Sendable, Equatable {
        /// Reading gets on and takes long. No request begins before it has reached its end.
        case late
        /// Reading stands still. Requests begin, and cancellations are not seen.
        case lapsed
    }

    /// True if everything was read that stood there when the partitions were assigned.
    public private(set) var hasReachedEnd = true
    /// The obstacle in the way, or nil while there is none, or not for long.
    public private(set) var failure: Failure?

    private var hasProgress = false
    /// For how long reading has stood still, and how long it takes in all, as far as that counts, nanoseconds.
    private var quiet: Int64 = 0
    private var total: Int64 = 0
    private var lastCheck = MonotonicTime.past

    /// A gate with nothing to wait for.
    public init() {}

    /// True if requests may begin.
    public var allowsRequests: Bool { hasReachedEnd || failure == .lapsed }

    /// Reading begins.
    ///
    /// - Parameters:
    ///   - hasReachedEnd: Whether all was read before.
    ///   - now: The present moment.
    public mutating func noteStart(hasReachedEnd: Bool, now: MonotonicTime) {
        self = ControlGate()
        self.hasReachedEnd = hasReachedEnd
        lastCheck = now
    }

    /// Records were read.
    public mutating func progressed() { hasProgress = true }

    /// All was read that stood there, or it is read no longer.
    public mutating func reachedEnd() {
        hasReachedEnd = true
        failure = nil
    }

    /// Lets time pass. Call it once a second.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - isBrokerDoubtful: Whether it seems that no broker answers. Then no other topic is read either, and the time does not count.
    public mutating func advance(now: MonotonicTime, isBrokerDoubtful: Bool) {
        let step = min(max(0, now.nanoseconds(since: lastCheck)), Self.longestStep)
        lastCheck = now
        guard !hasReachedEnd, failure != .lapsed, !isBrokerDoubtful else { return }
        quiet = hasProgress ? 0 : quiet + step
        total += step
        hasProgress = false
        if quiet > Self.patience {
            failure = .lapsed
        } else if total > Self.patience {
            failure = .late
        }
    }
}
