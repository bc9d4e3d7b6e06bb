import PushModel
import TestSupport
import Testing

@testable import Delivery

struct UnroutedWaitsTests {
    private typealias Count = UnroutedWaits.Count

    @Test func aRequestCountsOnceHoweverOftenItWaits() {
        var waits = UnroutedWaits()
        for _ in 0..<5 { waits.add("shpo", due: .at(10_000)) }
        #expect(waits.counts(at: .at(0)) == [Count(hub: "shpo", count: 5)])
        for _ in 0..<5 {
            waits.remove("shpo", due: .at(10_000))
            waits.add("shpo", due: .at(20_000))
        }
        #expect(waits.counts(at: .at(10_100)) == [Count(hub: "shpo", count: 5)])
        for _ in 0..<5 { waits.remove("shpo", due: .at(20_000)) }
        #expect(waits.counts(at: .at(20_100)) == [])
    }

    @Test func whatAnotherWorkerTakesIsForgottenSoonAfterItsTime() {
        var waits = UnroutedWaits()
        waits.add("a", due: .at(10_000))
        waits.add("a", due: .at(15_000))
        #expect(waits.counts(at: .at(12_000)) == [Count(hub: "a", count: 2)])
        #expect(waits.counts(at: .at(13_000)) == [Count(hub: "a", count: 1)])
        #expect(waits.counts(at: .at(18_000)) == [])
    }

    /// It counts where it was let wait, and not again where it comes back.
    @Test func whatAnotherWorkerLetWaitChangesNothing() {
        var waits = UnroutedWaits()
        waits.add("a", due: .at(10_000))
        waits.remove("a", due: .at(12_000))
        waits.remove("b", due: .at(10_000))
        #expect(waits.counts(at: .at(0)) == [Count(hub: "a", count: 1)])
    }

    @Test func aStrangersNamesAreFew() {
        var waits = UnroutedWaits()
        for number in 0..<1000 { waits.add("h\(number)", due: .at(10_000)) }
        waits.add("h0", due: .at(10_000))
        let counts = waits.counts(at: .at(0))
        #expect(counts.map(\.hub) == ["other", "h0", "h1", "h2", "h3"] && counts.map(\.count) == [996, 2, 1, 1, 1])
        for number in 4..<1000 { waits.remove("h\(number)", due: .at(10_000)) }
        #expect(waits.counts(at: .at(0)).map(\.hub) == ["h0", "h1", "h2", "h3"])
    }

    @Test func aHubThatIsThereNowIsWaitedForNoMore() {
        var waits = UnroutedWaits()
        for hub in ["a", "b", UnroutedWaits.unnamed] { waits.add(hub, due: .at(10_000)) }
        waits.removeAll { $0 == "a" }
        #expect(waits.counts(at: .at(0)).map(\.hub) == ["b", "unnamed"])
    }
}
