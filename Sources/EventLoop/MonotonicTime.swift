internal import Glibc

/// A point on the clock that never goes back (CLOCK_BOOTTIME), in nanoseconds since an arbitrary start.
///
/// It goes on while the machine is suspended: what was good for a second is not good any more when it wakes up.
///
/// Only for deadlines and measuring; it means nothing in another process or after a restart of the machine.
public struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// A point at `nanoseconds` since the clock's start.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The point that is never reached; stands for "no deadline".
    public static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// Reads the clock (clock_gettime(2); served without entering the kernel, some 25 ns).
    public static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

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
