import Basics
import EventLoop
import Testing

@testable import WorkerRuntime

/// The clock that a worker goes by.
@Suite
struct WorkerClockTests {
    @Test func aRunningClockIsTheSystemsAndAsFarAheadAsItWasMoved() {
        let clock = WorkerClock()
        let before = (MonotonicTime.now(), WallClock.millisecondsSince1970())
        clock.advance(by: .seconds(3))
        clock.advance(by: .seconds(-1))
        #expect(clock.monotonic >= before.0 + 3_000_000_000 && clock.millisecondsSince1970 >= before.1 + 3000)
        #expect(clock.systemTime(at: MonotonicTime(nanoseconds: 5_000_000_000)) == MonotonicTime(nanoseconds: 2_000_000_000))
    }

    @Test func aStoppedClockMovesOnlyAsItIsMoved() {
        let clock = WorkerClock()
        clock.stop()
        let (moment, milliseconds) = (clock.monotonic, clock.millisecondsSince1970)
        while MonotonicTime.now() <= moment + 5_000_000 {}
        #expect(clock.monotonic == moment && clock.millisecondsSince1970 == milliseconds)
        clock.advance(by: .milliseconds(1500))
        #expect(clock.monotonic == moment + 1_500_000_000 && clock.millisecondsSince1970 == milliseconds + 1500)
        // A wait until a moment of it lasts as long as if it went on from here.
        let now = MonotonicTime.now()
        #expect(clock.systemTime(at: clock.monotonic + 7) >= now + 7 && clock.systemTime(at: .never) > now + 1_000_000_000)
    }
}
