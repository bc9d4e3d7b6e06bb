import Basics
import Outcomes
import TestSupport
import Testing

struct PollAllowanceTests {
    private static let second: Int64 = 1_000_000_000

    @Test(arguments: [(1, 1), (3, 1), (4, 1), (16, 4), (64, 16)]) func aQuarterOfTheCallsMayBeQuestions(_ limit: (Int, Int)) {
        var allowance = PollAllowance()
        var count = 0
        while allowance.mayPoll(limit: limit.0, now: 0) {
            allowance.noteStart()
            count += 1
        }
        #expect(count == limit.1)
        allowance.noteEnd()
        let mayAgain = allowance.mayPoll(limit: limit.0, now: 0)
        #expect(mayAgain)
    }

    /// Puts questions whenever it may, for `seconds`, while `calls` a second begin to be followed.
    private func asked(seconds: Int64, calls: Int) -> Int {
        var allowance = PollAllowance()
        var count = 0
        for millisecond in 0..<seconds * 1000 {
            if calls > 0, millisecond % Int64(1000 / calls) == 0 { allowance.tracked() }
            while allowance.mayPoll(limit: 4096, now: .at(millisecond * 1_000_000)) {
                allowance.noteStart()
                allowance.noteEnd()
                count += 1
            }
        }
        return count
    }

    @Test func withoutCallsThereAreAHundredASecond() {
        let burst = Int(PollAllowance.burst)
        #expect((1999...2000).contains(asked(seconds: 20, calls: 0) - burst))
    }

    @Test func eachFollowedCallBringsTwo() {
        let burst = Int(PollAllowance.burst)
        #expect((5999...6000).contains(asked(seconds: 20, calls: 100) - burst))
    }

    @Test func theNextMomentIsWhenThereIsOneMore() {
        var allowance = PollAllowance()
        var next = allowance.nextPoll(now: 5)
        #expect(next == nil)
        for _ in 0..<PollAllowance.burst { allowance.noteStart() }
        next = allowance.nextPoll(now: 5)
        #expect(next == .at(5 + Self.second / PollAllowance.perSecond))
        let before = allowance.mayPoll(limit: 4096, now: (next ?? 0) + -1)
        let then = allowance.mayPoll(limit: 4096, now: next ?? 0)
        #expect(!before && then)
    }

    @Test func aClockThatGoesBackTakesNothing() {
        var allowance = PollAllowance()
        let before = allowance.mayPoll(limit: 4096, now: .at(10 * Self.second))
        let then = allowance.mayPoll(limit: 4096, now: 0)
        #expect(before && then)
    }
}
