public import Basics
public import PushModel

/// Tests count moments in nanoseconds.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    /// The moment so many nanoseconds after the beginning.
    public init(integerLiteral value: Int64) { self.init(nanoseconds: value) }

    /// The moment so many nanoseconds after the beginning.
    public static func at(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
}

/// Tests count moments of the wall clock in milliseconds.
extension Timestamp: ExpressibleByIntegerLiteral {
    /// The moment so many milliseconds after the epoch, or the nearest that there is.
    public init(integerLiteral value: Int64) { self.init(milliseconds: value) }

    /// The moment so many milliseconds after the epoch, or the nearest that there is.
    public static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }
}
