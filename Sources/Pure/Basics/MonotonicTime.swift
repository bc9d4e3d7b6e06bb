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

    /// The point that is never reached. Stands for "no deadline".
    public static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The point before all others. Stands for "long ago", where nothing has happened yet.
    public static var past: MonotonicTime { MonotonicTime(nanoseconds: .min) }

    /// The point `duration` after this one. Beyond the clock's range it is `never`.
    public func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds > 0 ? .never : MonotonicTime(nanoseconds: .min) }
        return advanced(byNanoseconds: whole + attoseconds / 1_000_000_000)
    }

    /// The point `nanoseconds` after this one. Beyond the clock's range it is `never`.
    public func advanced(byNanoseconds nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to this point. Negative when `earlier` is later, the greatest there are since `past`.
    public func nanoseconds(since earlier: MonotonicTime) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        guard overflow else { return difference }
        return nanoseconds > earlier.nanoseconds ? .max : .min
    }

    /// The point so many nanoseconds after `time`. `never` stays `never`, and beyond the clock's range it is that as well.
    public static func + (time: MonotonicTime, nanoseconds: Int64) -> MonotonicTime {
        time.nanoseconds == .max ? time : time.advanced(byNanoseconds: nanoseconds)
    }

    /// Nanoseconds from `earlier` to `later`, as `nanoseconds(since:)` counts them.
    public static func - (later: MonotonicTime, earlier: MonotonicTime) -> Int64 { later.nanoseconds(since: earlier) }

    /// Moves a point on by so many nanoseconds.
    public static func += (time: inout MonotonicTime, nanoseconds: Int64) { time = time + nanoseconds }

    /// True if the left point comes first.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
