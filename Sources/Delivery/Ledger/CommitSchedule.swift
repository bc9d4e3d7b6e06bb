/// When what is finished is committed next: soon while much finishes, seldom while little does, at once after a rest.
///
/// A transaction costs about 3.5 ms of processor time whatever it holds (`kafka-dispatch` 6.6), so that one for each of a handful
/// of results a second would be dear, and a thousand results in one are nearly free.
///
/// Moments are nanoseconds of a monotonic clock that the owner reads.
public struct CommitSchedule: Sendable, Equatable {
    /// The least time between the beginnings of two commits, nanoseconds.
    public let interval: Int64

    /// The least time between them while results come more seldom than every `sparseness`: 250 ms in nanoseconds.
    public static let sparseInterval: Int64 = 250_000_000

    /// The mean time between two results from which on they are few: 50 ms in nanoseconds.
    public static let sparseness: Int64 = 50_000_000

    private var last: Int64 = .min

    /// A schedule that has seen no commit: the first may begin at once.
    ///
    /// - Parameter interval: The least time between two commits, nanoseconds, 0 or more; beyond 250 ms it holds for few results too.
    public init(interval: Int64) {
        self.interval = max(0, interval)
    }

    /// Notes that a commit begins at `now`.
    public mutating func began(at now: Int64) { last = now }

    /// When the next commit is to begin.
    ///
    /// - Parameters:
    ///   - waiting: How many results wait for it, 1 or more.
    ///   - now: The present moment.
    /// - Returns: A moment; `now` or earlier means that the commit is due.
    public func due(waiting: Int, now: Int64) -> Int64 {
        guard last != .min else { return now }
        let soon = last + interval
        // So many results came since the last commit that they are not few: true until too much time has passed for their number.
        let areMany = (max(now, soon) - last) / Self.sparseness < Int64(waiting)
        return areMany ? soon : last + max(interval, Self.sparseInterval)
    }
}
