import Basics
import TestSupport
import Testing

@testable import UserTokens

struct KeyReadingsTests {
    private func second(_ number: Int64) -> MonotonicTime { .at(number * 1_000_000_000) }

    @Test func theFirstIsDueAtOnceAndLaterOnesAfterTheInterval() {
        var readings = KeyReadings(every: .seconds(600))
        #expect(readings.begin(at: second(0)) == true)
        #expect(readings.begin(at: second(700)) == false)
        readings.end(at: second(5), failed: false)
        #expect(readings.next == second(605))
        #expect(readings.begin(at: second(604)) == false)
        #expect(readings.begin(at: second(605)) == true)
    }

    @Test func aFailedOneIsRepeatedAfterTenSeconds() {
        var readings = KeyReadings(every: .seconds(600))
        #expect(readings.begin(at: second(0)) == true)
        readings.end(at: second(1), failed: true)
        #expect(readings.hasFailed)
        #expect(readings.next == second(11))
        #expect(readings.wait(at: second(3)) == 8000)
        #expect(readings.begin(at: second(11)) == true)
        readings.end(at: second(12), failed: false)
        #expect(!readings.hasFailed)
    }

    @Test func tokensAskForOneNoMoreOftenThanEveryTenSeconds() {
        var readings = KeyReadings(every: .seconds(600))
        #expect(readings.ask(at: second(0)) == true, "the first is due")
        #expect(readings.begin(at: second(0)) == true)
        #expect(readings.ask(at: second(1)) == true, "a read is in progress")
        readings.end(at: second(1), failed: false)
        #expect(readings.ask(at: second(9)) == false)
        #expect(readings.ask(at: second(10)) == true)
        #expect(readings.ask(at: second(10)) == true)
        #expect(readings.begin(at: second(10)) == true)
        readings.end(at: second(10), failed: false)
        #expect(readings.ask(at: second(19)) == false)
        #expect(readings.next == second(610))
    }

    @Test func aTokenThatIsNewerThanTheLastReadBringsTheNextAsSoonAsOneMayBe() {
        var readings = KeyReadings(every: .seconds(600))
        #expect(readings.begin(at: second(0)) == true)
        readings.end(at: second(1), failed: false)
        #expect(readings.ask(at: second(4), tokenAge: 5) == false, "the read began after the token was made")
        #expect(readings.next == second(601))
        for age in [4, 0, -60] as [Int64] {
            #expect(readings.ask(at: second(4), tokenAge: age) == true)
            #expect(readings.next == second(10))
            #expect(readings.wait(at: second(4)) == 6000)
        }
        #expect(readings.begin(at: second(9)) == false)
        #expect(readings.begin(at: second(10)) == true)
        readings.end(at: second(11), failed: false)
        #expect(readings.ask(at: second(12), tokenAge: 8) == false)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .milliseconds(1)]) func anIntervalHasASecondAtLeast(_ interval: Duration) {
        var readings = KeyReadings(every: interval)
        #expect(readings.begin(at: second(0)) == true)
        readings.end(at: second(0), failed: true)
        #expect(readings.next == second(1))
    }
}
