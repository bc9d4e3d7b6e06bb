/// A point on a clock that never goes back, in nanoseconds since an arbitrary start.
///
/// Only for deadlines and measuring; it means nothing in another process or after a restart of the machine. The clock itself is read
/// by `EventLoop`.
public struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// A point at `nanoseconds` since the clock's start.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The point that is never reached; stands for "no deadline".
    public static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The point `duration` after this one; beyond the clock's range it is `never`.
    public func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds > 0 ? .never : MonotonicTime(nanoseconds: .min) }
        return advanced(byNanoseconds: whole + attoseconds / 1_000_000_000)
    }

    /// The point `nanoseconds` after this one; beyond the clock's range it is `never`.
    public func advanced(byNanoseconds nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to this point; negative when `earlier` is later.
    public func nanoseconds(since earlier: MonotonicTime) -> Int64 {
        nanoseconds.subtractingReportingOverflow(earlier.nanoseconds).partialValue
    }

    /// Whether the left point comes first.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
