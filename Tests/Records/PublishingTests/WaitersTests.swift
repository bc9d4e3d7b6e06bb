import Basics
import TestSupport
import Testing

@testable import Publishing

/// Who is told when, without clock and thread.
@Suite struct WaitersTests {
    private func at(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    @Test func whoseTimeIsOverIsToldTheOthersAreNot() {
        var waiters = Waiters()
        let endings = Endings()
        for (id, deadline) in [("late", 30), ("early", 10), ("middle", 20)] as [(String, Int64)] {
            _ = waiters.add(id, awaiting: Awaited(.finalResult), until: at(deadline), then: endings.note(id))
        }
        _ = waiters.add("never", awaiting: Awaited(.finalResult), until: .never, then: endings.note("never"))
        #expect(waiters.nextDeadline == at(10))
        for waiter in waiters.expire(at: at(20)) { waiter.call() }
        #expect(endings.of("early").map(\.reason) == [.timeOver])
        #expect(endings.of("middle").map(\.reason) == [.timeOver])
        #expect(endings.idCount == 2)
        #expect(waiters.count == 2)
        #expect(waiters.nextDeadline == at(30))
        for waiter in waiters.removeAll() { waiter.call() }
        #expect(endings.of("late").map(\.reason) == [.closed])
        #expect(endings.of("never").map(\.reason) == [.closed])
        #expect(waiters.count == 0 && waiters.nextDeadline == .never)
    }

    @Test func aRepetitionIsPatientAndTheFirstResultLengthensTheWaitAgain() throws {
        var waiters = Waiters()
        let endings = Endings()
        _ = waiters.add("a", awaiting: Awaited(.outcomes), until: at(1000), then: endings.note("a"))
        #expect(waiters.take(try Results.record("sameID", of: "a"), at: at(0), patience: .nanoseconds(10)).isEmpty)
        #expect(waiters.nextDeadline == at(10))
        // A second one does not begin the patience again.
        #expect(waiters.take(try Results.record("sameID", of: "a"), at: at(5), patience: .nanoseconds(10)).isEmpty)
        #expect(waiters.take(try Results.record("sent1", of: "a"), at: at(6), patience: .nanoseconds(10)).isEmpty)
        #expect(waiters.expire(at: at(999)).isEmpty)
        for waiter in waiters.expire(at: at(1000)) { waiter.call() }
        #expect(endings.of("a").map(\.reason) == [.timeOver])
        #expect(endings.states("a") == ["sent"])
    }

    @Test(arguments: [(10, 1000), (10, 5)] as [(Int64, Int64)])
    func aRepetitionAloneCompletesTheWait(patience: Int64, deadline: Int64) throws {
        var waiters = Waiters()
        let endings = Endings()
        _ = waiters.add("a", awaiting: Awaited(.finalResult), until: at(deadline), then: endings.note("a"))
        #expect(waiters.take(try Results.record("sameID", of: "a"), at: at(0), patience: .nanoseconds(patience)).isEmpty)
        let end = min(patience, deadline)
        #expect(waiters.expire(at: at(end - 1)).isEmpty)
        for waiter in waiters.expire(at: at(end)) { waiter.call() }
        #expect(endings.of("a").map(\.reason) == [.complete])
        #expect(endings.states("a") == ["duplicate"])
        #expect(waiters.expire(at: .never).isEmpty)
    }

    @Test func twoMayWaitForOneRequest() throws {
        var waiters = Waiters()
        let endings = Endings()
        let first = waiters.add("a", awaiting: Awaited(.finalResult), until: at(10), then: endings.note("first"))
        _ = waiters.add("a", awaiting: Awaited(.finalResult), until: .never, then: endings.note("second"))
        waiters.forget(first)
        waiters.forget(first)
        #expect(waiters.count == 1)
        #expect(waiters.expire(at: at(10)).isEmpty)
        for waiter in waiters.take(try Results.record("sent1", of: "a"), at: at(11), patience: .zero) { waiter.call() }
        #expect(endings.of("first").isEmpty)
        #expect(endings.of("second").map(\.reason) == [.complete])
        #expect(!waiters.contain("a") && waiters.count == 0)
    }

    @Test func deadlinesOfThoseWhoHaveGoneDoNotPileUp() throws {
        var waiters = Waiters()
        let result = try Results.record("sent1", of: "a")
        for number in 0..<10_000 {
            _ = waiters.add("a", awaiting: Awaited(.finalResult), until: at(1_000_000 + Int64(number)), then: { _ in })
            _ = waiters.take(result, at: at(0), patience: .zero)
            #expect(waiters.deadlineCount <= 66)
        }
    }
}
