public import Basics

/// Tests count moments in nanoseconds.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    /// The moment so many nanoseconds after the beginning.
    public init(integerLiteral value: Int64) { self.init(nanoseconds: value) }

    /// The moment so many nanoseconds after the beginning.
    public static func at(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
}
