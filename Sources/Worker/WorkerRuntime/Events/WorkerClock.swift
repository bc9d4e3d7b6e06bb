public import Basics
import EventLoop
import PushModel
import Synchronization

/// The present for a worker: the system's clocks, or, in tests and counts, as far ahead of them as it was moved, or still.
///
/// Everything that a worker decides by time goes by this clock: waits, expiry, limits, deadlines of calls. What only watches over calls
/// to Kafka goes by the system's.
public final class WorkerClock: Sendable {
    /// Nanoseconds.
    private let ahead = Atomic<Int64>(0)
    /// The system's moments at which it was stopped, nanoseconds and milliseconds, or 0 while it runs.
    private let stopped = Atomic<Int64>(0)
    private let stoppedAt = Atomic<Int64>(0)

    /// The system's clocks.
    public init() {}

    /// Moves the clock on, never back. Running workers see it within 200 ms, the longest time between two turns of a loop. Safe
    /// from any thread.
    public func advance(by duration: Duration) { ahead.wrappingAdd(max(0, duration.wholeNanoseconds), ordering: .relaxed) }

    /// Stops the clock: from now on `advance` alone moves it, so that what a worker does by time does not depend on the machine's speed. To
    /// be called once. A reading at the same time may be some microseconds later than those that follow.
    public func stop() {
        stoppedAt.store(WallClock.millisecondsSince1970(), ordering: .relaxed)
        stopped.store(MonotonicTime.now().nanoseconds, ordering: .releasing)
    }

    /// A moment that never goes back, comparable with other readings of this clock only.
    public var monotonic: MonotonicTime {
        let moment = stopped.load(ordering: .acquiring)
        return (moment == 0 ? MonotonicTime.now() : MonotonicTime(nanoseconds: moment)) + ahead.load(ordering: .relaxed)
    }

    /// Milliseconds since 1970.
    public var millisecondsSince1970: Int64 {
        let isStopped = stopped.load(ordering: .acquiring) != 0
        return (isStopped ? stoppedAt.load(ordering: .relaxed) : WallClock.millisecondsSince1970())
            + ahead.load(ordering: .relaxed) / 1_000_000
    }

    /// The same as a time stamp.
    var wallTime: Timestamp { Timestamp(milliseconds: millisecondsSince1970) }

    /// The system's time at a moment of this clock, if it went on from here.
    func systemTime(at moment: MonotonicTime) -> MonotonicTime {
        guard stopped.load(ordering: .acquiring) != 0 else { return moment + -ahead.load(ordering: .relaxed) }
        return MonotonicTime.now() + (moment - monotonic)
    }
}
