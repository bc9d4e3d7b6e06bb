import Testing

@testable import Results

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

    @Test func theIndexHasEverythingUpToTheMomentWhoseEndsItHasReached() {
        var progress = Self.begun()
        progress.note(ends: [6, 7, 9], at: 1000)
        progress.finishAddition()
        #expect(progress.upTo == nil && progress.hasEnds)
        progress.move(slot: 0, to: Self.place(6))
        // Nobody can ask for it before it is added.
        #expect(progress.upTo == nil && progress.hasEnds)
        progress.finishAddition()
        #expect(progress.upTo == 1000 && !progress.hasEnds)
        // Behind again, it stands still, whatever the other slots do.
        progress.note(ends: [6, 7, 12], at: 2000)
        progress.move(slot: 0, to: Self.place(30))
        progress.move(slot: 2, to: Self.place(11))
        progress.finishAddition()
        #expect(progress.upTo == 1000 && progress.hasEnds)
        progress.move(slot: 2, to: Self.place(13))
        progress.finishAddition()
        #expect(progress.upTo == 2000)
    }
}
