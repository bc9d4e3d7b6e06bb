/// Limits the next commit to what fits the transaction timeout, and bisects a batch that brokers reject.
///
/// It is counted in units: what finishes one record of a partition, which cannot be divided. Bytes follow what the last commits managed:
/// a commit should take no more than `target`. A batch that brokers reject is halved until they take what they get, or a unit is rejected
/// alone. That one is deferred until its topics have taken others: if it is rejected then, the record is at fault, and else the topic,
/// where everything waits.
public struct CommitSize: Sendable, Equatable {
    /// Why a commit failed.
    public enum Failure: Sendable, Equatable {
        /// It did not end in time.
        case timedOut
        /// The brokers do not take what it holds.
        case refused
        /// Anything else; it says nothing about the batch.
        case unrelated
    }

    /// What to do with a batch that could not be committed.
    public enum Cure: Sendable, Equatable {
        /// It is offered again as it was.
        case again
        /// It goes back, and less is offered.
        case divide
        /// It is one unit, and may be what is wrong: others are offered before it.
        case setAside
        /// It is one unit that is never taken.
        case replace
    }

    /// How long a commit should take at most, nanoseconds.
    public let target: Int64
    /// The most bytes of the next commit; a single unit may have more.
    public private(set) var byteLimit = Self.firstLimit
    /// The most units of the next commit.
    public private(set) var unitLimit = Int.max

    /// The bytes of the first commits, 1 MiB: nothing is known of the brokers yet.
    public static let firstLimit = 1 << 20
    /// The bytes that a commit may always have, 16 KiB.
    public static let leastLimit = 16 << 10
    /// The bytes that no commit exceeds, 64 MiB.
    public static let greatestLimit = 64 << 20
    /// From so many units on a search has ended, because nothing was refused for long.
    private static let endOfSearch = 4096

    /// The size of the first commits.
    ///
    /// - Parameter transactionTimeout: How long brokers leave a transaction open, nanoseconds.
    public init(transactionTimeout: Int64) {
        target = min(2_000_000_000, max(transactionTimeout, 4) / 4)
    }

    /// Whether a batch was refused and is being halved.
    public var isSearching: Bool { unitLimit < Int.max }

    /// Whether the next commit may hold all of so much.
    public func holds(units: Int, bytes: Int) -> Bool { units <= unitLimit && bytes <= byteLimit }

    /// Notes that a commit took place.
    ///
    /// - Parameters:
    ///   - bytes: What it held.
    ///   - duration: How long it took, nanoseconds.
    public mutating func committed(bytes: Int, in duration: Int64) {
        if unitLimit < Int.max {
            unitLimit *= 2
            if unitLimit >= Self.endOfSearch { unitLimit = Int.max }
        }
        if duration > target {
            let managed = Double(bytes) * Double(target) / Double(duration)
            byteLimit = min(byteLimit, max(Int(managed), Self.leastLimit))
        } else if bytes >= byteLimit / 2 {
            byteLimit = min(byteLimit * 2, Self.greatestLimit)
        }
    }

    /// Notes that a commit failed, and none of it took place.
    ///
    /// - Parameters:
    ///   - failure: Why.
    ///   - units: The units that it held, 0 or more.
    ///   - bytes: Their bytes.
    ///   - isProven: Of a single unit, whether it was refused before, and its topics have taken others since.
    /// - Returns: What to do with it.
    public mutating func failed(_ failure: Failure, units: Int, bytes: Int, isProven: Bool = false) -> Cure {
        switch failure {
        case .unrelated: return .again
        case .timedOut:
            byteLimit = max(min(byteLimit, bytes / 4), Self.leastLimit)
            return units > 1 && bytes > byteLimit ? .divide : .again
        case .refused:
            if units > 1 {
                unitLimit = units / 2
                return .divide
            }
            return units == 0 ? .again : isProven ? .replace : .setAside
        }
    }
}
