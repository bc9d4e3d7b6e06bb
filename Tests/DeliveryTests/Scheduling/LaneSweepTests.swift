import Basics
import Delivery
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
            return sweep.isDue(now: moment(second))
        }
    }

    @Test(
        arguments: [
            ([], []), ([0], [2, 32]), ([0, 1], [2, 32]), ([0, 3], [2, 32, 62]), ([0, 40], [2, 32, 62, 92]),
            ([0, 100], [2, 32, 102, 132]),
        ] as [(Set<Int64>, [Int64])])
    func itIsDoneTwiceAfterARequestAndNotMoreOften(requests: Set<Int64>, sweeps: [Int64]) {
        #expect(self.sweeps(requestedAt: requests) == sweeps)
    }

    @Test(arguments: [true, false]) func anAssignmentBeginsWithOneIfItIsNeeded(_ isNeeded: Bool) {
        var sweep = LaneSweep(0..<1)
        #expect(!sweep.isConsidered)
        sweep.consider(isNeeded: isNeeded, now: moment(0))
        let isDue = sweep.isDue(now: moment(2))
        #expect(sweep.isConsidered && isDue == isNeeded)
    }

    @Test func itCoversWhatWasThereWhenItBegan() {
        var sweep = LaneSweep(4..<6)
        sweep.begin(5, end: 10)
        #expect(sweep.covers(9, in: 5) && !sweep.covers(10, in: 5) && !sweep.covers(0, in: 4))
        #expect(!sweep.covers(0, in: 3) && !sweep.covers(0, in: 6), "slots of others are never swept")
    }
}
