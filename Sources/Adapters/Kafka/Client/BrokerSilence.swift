/// Decides what is said of brokers of which none has answered yet, and at which times. A pure value: its owner has the clock.
///
/// A first line comes early enough to be read within 2 s, and more of them 2, 4, 8 … 60 s after the one before. Nothing is said of a
/// broker that answers before the first line, nor of one that goes away later: that the program reports as it does its work.
public struct BrokerSilence: Sendable {
    /// The notices that are given.
    public enum Notice: Sendable, Equatable {
        /// No broker has answered so far, with the cause, if it is known.
        case silent(BrokerFailure.Cause?)
        /// One has answered, after it was said that none did.
        case answered
        /// Another cluster answers than the first, as the sentence says.
        case otherCluster(String)
        /// The library does not free a client. It is left to itself.
        case unfreed
    }

    /// From the first question to the first line.
    public static let firstWait = Duration.milliseconds(1500)
    /// The time from the first line to the second. Each wait is twice as long as the one before.
    public static let secondWait = Duration.seconds(2)
    /// The longest wait between two lines.
    public static let longestWait = Duration.seconds(60)

    private var due: ContinuousClock.Instant?
    private var wait = secondWait
    /// True if anything shows that no broker answers: an error, or a question without an answer.
    private var isProven = false
    private var cause: BrokerFailure.Cause?
    private var wasSaid = false
    private var isOver = false

    /// One that was asked nothing yet.
    public init() {}

    /// Notes that brokers are asked, and returns whether it was the first time, which alone counts.
    public mutating func asked(at now: ContinuousClock.Instant) -> Bool {
        guard due == nil, !isOver else { return false }
        due = now + Self.firstWait
        return true
    }

    /// Notes that none answers, for a cause if that is known. Else what is known stays.
    public mutating func noteFailure(_ cause: BrokerFailure.Cause?) {
        isProven = true
        self.cause = cause ?? self.cause
    }

    /// The notice that must be given now, or nil when there is none.
    public mutating func notice(at now: ContinuousClock.Instant) -> Notice? {
        guard let due, !isOver, isProven, now >= due else { return nil }
        self.due = now + wait
        wait = min(wait * 2, Self.longestWait)
        wasSaid = true
        return .silent(cause)
    }

    /// Notes that a broker has answered, which ends it. Returns what must be said, or nil when nothing is.
    public mutating func answered() -> Notice? {
        defer { end() }
        return wasSaid && !isOver ? .answered : nil
    }

    /// Ends it without a word.
    public mutating func end() { isOver = true }
}
