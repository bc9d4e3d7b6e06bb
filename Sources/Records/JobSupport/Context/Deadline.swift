import Basics
import Glibc

/// A moment after which waiting ends, by the clock that never jumps.
package struct Deadline {
    private let nanoseconds: Int64

    /// The moment `duration` from now, or nil for one that never comes.
    package init(after duration: Duration?) {
        let (sum, overflow) = Self.now().addingReportingOverflow(duration?.wholeNanoseconds ?? .max)
        nanoseconds = overflow ? .max : sum
    }

    /// The moment has come.
    package var hasPassed: Bool { Self.now() >= nanoseconds }

    /// The next wait: the rest, but never so long that a signal would go unnoticed.
    package var step: Duration { .nanoseconds(max(0, min(100_000_000, nanoseconds - Self.now()))) }

    /// The milliseconds of that clock, which never jumps.
    package static func milliseconds() -> Int64 { now() / 1_000_000 }

    /// The nanoseconds of that clock.
    package static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
