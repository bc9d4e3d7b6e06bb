import Basics
import Delivery
import TestSupport
import Testing

struct HubPauseTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func aFreshHubIsNotPaused() {
        var pause = HubPause()
        #expect(pause.end(now: 0) == nil)
        #expect(pause.end(now: .never) == nil)
        #expect(pause.totalNanoseconds == 0)
    }

    @Test func callsWaitUntilTheEndAndNoLonger() {
        var pause = HubPause()
        pause.asked(for: 10, now: 5)
        let end = 5 + 10 * Self.millisecond
        #expect(pause.end(now: 5) == .at(end))
        #expect(pause.end(now: .at(end - 1)) == .at(end))
        #expect(pause.end(now: .at(end)) == nil)
        #expect(pause.totalNanoseconds == 10 * Self.millisecond)
    }

    @Test(arguments: [0, -1, .min] as [Int64])
    func nothingIsNoPause(milliseconds: Int64) {
        var pause = HubPause()
        pause.asked(for: milliseconds, now: 100)
        #expect(pause.end(now: 100) == nil)
    }

    @Test func aShorterOneDoesNotShortenTheOneBefore() {
        var pause = HubPause()
        pause.asked(for: 1000, now: 0)
        pause.asked(for: 10, now: 0)
        #expect(pause.end(now: 1) == .at(1000 * Self.millisecond))
        pause.asked(for: 2000, now: .at(500 * Self.millisecond))
        #expect(pause.end(now: 1) == .at(2500 * Self.millisecond))
    }

    @Test func noPauseIsLongerThanAnHour() {
        var pause = HubPause()
        pause.asked(for: .max, now: 0)
        #expect(pause.end(now: 0) == .at(HubPause.maximum * Self.millisecond))
    }

    @Test(arguments: 0..<50)
    func theTotalIsTheTimeInWhichCallsHadToWait(seed: Int) {
        var random = SeededRandom(seed)
        var pause = HubPause()
        var now: Int64 = 0
        var until: Int64 = 0
        var total: Int64 = 0
        for _ in 0..<500 {
            let step = Int64(random.below(30)) * Self.millisecond / 2
            total += max(0, min(now + step, until) - now)
            now += step
            if random.below(5) == 0 {
                let milliseconds = Int64(random.below(60) - 5)
                pause.asked(for: milliseconds, now: .at(now))
                until = max(until, now + max(0, milliseconds) * Self.millisecond)
            }
            #expect(pause.end(now: .at(now)) == (now < until ? .at(until) : nil))
            #expect(pause.totalNanoseconds == total)
        }
    }
}
