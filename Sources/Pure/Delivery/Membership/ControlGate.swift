public import Basics

/// The gate for requests while the control topic is read: whether they may begin.
///
/// None begins before it is known which orders and cancellations stood there when its partition was assigned. Who has read that topic to its
/// end once knows them: where reading does not get on for `patience` in a later assignment, requests begin with what is known. Who has not
/// waits for as long as it takes, because the topic may hold an order.
public struct ControlGate: Sendable, Equatable {
    /// The time for which reading may stand still, and which it may take, before that is said: 10 s in nanoseconds. Where the topic was read
    /// before, requests begin when it has stood still for as long.
    public static let patience: Int64 = 10_000_000_000
    /// The most that counts of the time between two looks: 2 s in nanoseconds. A process that stood still has not tried to read
    /// either.
    public static let longestStep: Int64 = 2_000_000_000

    /// The trouble that must be said.
    public enum Failure: Sendable, Equatable {
        /// Reading gets on and takes long. No request begins before it has reached its end.
        case late
        /// Reading stands still, and has never reached an end. No request begins.
        case stuck
        /// Reading stands still, and has reached an end before. Requests begin with what is known.
        case lapsed
    }

    /// True if everything was read that stood there when the partitions were assigned.
    public private(set) var hasReachedEnd = true
    /// True if reading has reached an end at least once.
    public private(set) var wasRead = false
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
        let wasRead = wasRead
        self = ControlGate()
        (self.hasReachedEnd, self.wasRead, lastCheck) = (hasReachedEnd, wasRead, now)
    }

    /// Records were read.
    public mutating func progressed() { hasProgress = true }

    /// All was read that stood there.
    public mutating func reachedEnd() {
        wasRead = true
        stop()
    }

    /// It is read no longer, and there is nothing to wait for.
    public mutating func stop() {
        hasReachedEnd = true
        failure = nil
    }

    /// It may not be read. Requests go on only where it was read before.
    public mutating func noteRefusal() {
        hasReachedEnd = wasRead
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
            failure = wasRead ? .lapsed : .stuck
        } else if total > Self.patience {
            failure = .late
        }
    }
}
