import Basics
import Delivery
import Testing

struct LaneSweepTests {
    private func moment(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000) + seconds * 1_000_000_000
    }

    @Test func itBeginsAfterItsPatienceAndOnceForEachRequest() {
        var sweep = LaneSweep(4..<6)
        let early = sweep.isDue(now: moment(0))
        #expect(!early)
        sweep.request(now: moment(0))
        sweep.request(now: moment(1))
        let answer2 = sweep.isDue(now: moment(1))
        #expect(!answer2)
        let answer3 = sweep.isDue(now: moment(2))
        #expect(answer3)
        let answer4 = sweep.isDue(now: moment(2))
        #expect(!answer4)
    }

    @Test func itDoesNotBeginAgainForAWhile() {
        var sweep = LaneSweep(0..<1)
        sweep.request(now: moment(0))
        let answer5 = sweep.isDue(now: moment(2))
        #expect(answer5)
        sweep.request(now: moment(3))
        let answer6 = sweep.isDue(now: moment(31))
        #expect(!answer6)
        let answer7 = sweep.isDue(now: moment(32))
        #expect(answer7)
    }

    @Test func itCoversWhatWasThereWhenItBegan() {
        var sweep = LaneSweep(4..<6)
        sweep.begin(5, end: 10)
        #expect(sweep.covers(9, in: 5) && !sweep.covers(10, in: 5) && !sweep.covers(0, in: 4))
        #expect(!sweep.covers(0, in: 3) && !sweep.covers(0, in: 6), "slots of others are never swept")
    }
}
