import Basics
import Delivery
import PushModel
import Testing

struct LaneSweepTests {
    private func moment(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000) + seconds * 1_000_000_000
    }

    /// The seconds of the sweeps after requests at some seconds.
    private func sweeps(requestedAt seconds: Set<Int64>, until end: Int64 = 200) -> [Int64] {
        var sweep = LaneSweep(4..<6)
        return (0...end).filter { second in
            if seconds.contains(second) { sweep.request(now: moment(second)) }
            return sweep.begins(now: moment(second), at: Timestamp(milliseconds: second * 1000))
        }
    }

    @Test(
        arguments: [
            ([], []), ([0], [2, 10]), ([0, 1], [2, 10]), ([0, 3], [2, 5, 13]), ([0, 40], [2, 10, 42, 50]),
            // Six at once, and then one after 30 s each.
            ([0, 20, 40, 60], [2, 10, 22, 30, 42, 50, 62, 70]), ([0, 11, 22, 33], [2, 10, 13, 21, 24, 32, 35, 62]),
        ] as [(Set<Int64>, [Int64])])
    func itIsDoneTwiceAfterARequestAndNotMoreOften(requests: Set<Int64>, sweeps: [Int64]) {
        #expect(self.sweeps(requestedAt: requests) == sweeps)
    }

    @Test(arguments: [true, false]) func anAssignmentBeginsWithOneIfItIsNeeded(_ isNeeded: Bool) {
        var sweep = LaneSweep(0..<1)
        #expect(!sweep.isConsidered)
        sweep.consider(isNeeded: isNeeded, now: moment(0))
        let isDue = sweep.begins(now: moment(2), at: Timestamp(milliseconds: 0))
        #expect(sweep.isConsidered && isDue == isNeeded)
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    /// A sweep of the slots 4 and 5 that began at 2 s.
    private func begun() -> LaneSweep {
        var sweep = LaneSweep(4..<6)
        sweep.request(now: moment(0))
        _ = sweep.begins(now: moment(2), at: time(2))
        return sweep
    }

    @Test func itCoversWhatWasWrittenBeforeItBegan() {
        var sweep = begun()
        let answers = [(1, 4), (0, 4), (2, 4), (1, 4), (1, 5), (1, 3), (1, 6)].map {
            sweep.covers(recordWrittenAt: time($0), in: $1)
        }
        #expect(answers == [true, true, false, false, true, false, false], "the first later record ends it for its partition")
    }

    @Test func itEndsAtTheEndOfAPartition() {
        var sweep = begun()
        sweep.reachedEnd(of: 4)
        #expect(!sweep.isSweeping(4) && sweep.isSweeping(5) && !sweep.isSweeping(7))
    }

    @Test func nothingIsCoveredBeforeItBegins() {
        var sweep = LaneSweep(4..<6)
        sweep.request(now: moment(0))
        let isCovered = sweep.covers(recordWrittenAt: time(0), in: 4)
        #expect(!isCovered)
    }
}
