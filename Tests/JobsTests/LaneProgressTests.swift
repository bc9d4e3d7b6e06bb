import Testing

@testable import Jobs

/// The places of a reading of lanes, of which those alone are written that have nothing missing before them.
@Suite struct LaneProgressTests {
    private static func place(_ next: Int64) -> IndexPosition {
        IndexPosition(next: next, witness: .init(offset: next - 1, time: next * 10))
    }

    private static func begun() -> LaneProgress { LaneProgress([place(5), place(7), place(9)]) }

    @Test func whatWasReadAndNotAddedIsNotWritten() {
        var progress = Self.begun()
        progress.move(slot: 0, to: Self.place(6))
        #expect(progress.positions == [Self.place(6), Self.place(7), Self.place(9)])
        #expect(progress.takeAdded().isEmpty)
        progress.finishAddition()
        // Behind what is added another record is read, and dropped with its reader.
        progress.move(slot: 0, to: Self.place(8))
        progress.move(slot: 2, to: Self.place(12))
        #expect(progress.takeAdded() == [0: Self.place(6)])
        progress.finishAddition()
        #expect(progress.takeAdded() == [0: Self.place(8), 2: Self.place(12)])
        #expect(progress.takeAdded().isEmpty)
    }

    @Test func behindAnHourThatWasGivenUpNothingIsWritten() {
        var progress = Self.begun()
        progress.move(slot: 0, to: Self.place(6))
        progress.finishAddition()
        progress.move(slot: 1, to: Self.place(8))
        progress.giveUp()
        #expect(progress.takeAdded().isEmpty)
    }
}
