public import Basics
import EventLoop
import PushModel
import Synchronization

/// The present for a worker: the system's clocks, or, in tests, as far ahead of them as a test moved them.
///
/// Everything that a worker decides by time goes by this clock: waits, expiry, limits, deadlines of calls. What only watches over calls
/// to Kafka goes by the system's.
public final class WorkerClock: Sendable {
    /// Nanoseconds.
    private let ahead = Atomic<Int64>(0)

    /// The system's clocks.
    public init() {}

    /// Moves the clock on, never back. Running workers see it within 200 ms, the longest time between two turns of a loop. Safe
    /// from any thread.
    public func advance(by duration: Duration) { ahead.wrappingAdd(max(0, duration.wholeNanoseconds), ordering: .relaxed) }

    /// A moment that never goes back, comparable with other readings of this clock only.
    public var monotonic: MonotonicTime { MonotonicTime.now() + ahead.load(ordering: .relaxed) }

    /// Milliseconds since 1970.
    public var millisecondsSince1970: Int64 {
        WallClock.millisecondsSince1970() + ahead.load(ordering: .relaxed) / 1_000_000
    }

    /// The same as a time stamp.
    var wallTime: Timestamp { Timestamp(milliseconds: millisecondsSince1970) }

    /// The system's time at a moment of this clock.
    func systemTime(at moment: MonotonicTime) -> MonotonicTime {
        moment + -ahead.load(ordering: .relaxed)
    }
}
