import Basics
import Delivery
import PushModel
import TestSupport
import Testing

/// By what time orders end on a machine whose clock is set while they stand.
struct OrderClockTests {
    private static let start = Timestamp(milliseconds: 1_795_262_400_000)
    private static let hour: Int64 = 3_600_000

    /// The clocks of a machine whose time differs by `error` from what it was at first, `seconds` later.
    private struct Machine {
        var seconds: Int64 = 0
        var error: Int64 = 0
        var right: Timestamp { start.adding(milliseconds: seconds * 1000) }
        var wall: Timestamp { right.adding(milliseconds: error) }
        var monotonic: MonotonicTime { MonotonicTime(nanoseconds: 7_000_000_000 + seconds * 1_000_000_000) }
    }

    /// A clock that has run for a minute.
    private static func running(hasOrders: Bool, _ machine: inout Machine) -> OrderClock {
        var clock = OrderClock()
        for _ in 0..<60 {
            machine.seconds += 1
            #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: hasOrders) == nil)
        }
        return clock
    }

    @Test func withoutAnyLookTheMachinesTimeCounts() {
        #expect(OrderClock().time(wall: Self.start, monotonic: 0) == Self.start)
    }

    /// The error of the machine's clock from then on, and the part of it that orders see.
    @Test(
        arguments: [
            (hour, 0), (-hour, 0), (-10 * 24 * hour, 0), (60_000, 0), (5_001, 0), (5_000, 5_000), (-5_000, -5_000), (40, 40),
            (0, 0),
        ] as [(Int64, Int64)]) func aStepOfMoreThanSecondsIsNotFollowedWhileAnOrderStands(_ error: Int64, _ seen: Int64)
    {
        var machine = Machine()
        var clock = Self.running(hasOrders: true, &machine)
        machine.error = error
        machine.seconds += 1
        let jump: Int64? = seen == error ? nil : error
        #expect(clock.time(wall: machine.wall, monotonic: machine.monotonic) == machine.right.adding(milliseconds: seen))
        #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: true) == jump)
        machine.seconds += 3600
        #expect(clock.time(wall: machine.wall, monotonic: machine.monotonic) == machine.right.adding(milliseconds: seen))
        #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: true) == nil, "it is said once")
    }

    @Test func whileNoOrderStandsTheMachinesTimeCountsAgain() {
        var machine = Machine()
        var clock = Self.running(hasOrders: false, &machine)
        machine.error = Self.hour
        machine.seconds += 1
        #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: false) == nil)
        #expect(clock.time(wall: machine.wall, monotonic: machine.monotonic) == machine.wall)
    }

    @Test func aClockThatIsSetBackToWhatItWasIsFollowedAndANewJumpIsSaid() {
        var machine = Machine()
        var clock = Self.running(hasOrders: true, &machine)
        for _ in 0..<2 {
            let jump = Self.hour - machine.error
            machine.error = Self.hour
            machine.seconds += 1
            #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: true) == jump)
            machine.error = 100
            machine.seconds += 1
            #expect(clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: true) == nil)
            #expect(clock.time(wall: machine.wall, monotonic: machine.monotonic) == machine.wall)
        }
    }

    /// How far the time of a record that was just written is from that of the machine, whose clock is an hour ahead of before.
    @Test(
        arguments: [(0, true), (-30_000, true), (30_000, true), (-30_001, false), (-hour, false), (24 * hour, false)]
            as [(Int64, Bool)])
    func aJumpIsBelievedOnceAWriterHasTheSameTime(_ difference: Int64, _ isBelieved: Bool) {
        var machine = Machine()
        var clock = Self.running(hasOrders: true, &machine)
        machine.error = Self.hour
        machine.seconds += 1
        _ = clock.advance(wall: machine.wall, monotonic: machine.monotonic, hasOrders: true)
        clock.noteRecord(
            of: machine.wall.adding(milliseconds: difference), wall: machine.wall, monotonic: machine.monotonic)
        let expected = isBelieved ? machine.wall : machine.right
        #expect(clock.time(wall: machine.wall, monotonic: machine.monotonic) == expected)
    }

    @Test func noRecordMovesAClockThatHasNotJumped() {
        var machine = Machine()
        var clock = Self.running(hasOrders: true, &machine)
        let before = clock
        for difference in [-Self.hour, 0, Self.hour] {
            clock.noteRecord(
                of: machine.wall.adding(milliseconds: difference), wall: machine.wall, monotonic: machine.monotonic)
        }
        #expect(clock == before)
    }
}
