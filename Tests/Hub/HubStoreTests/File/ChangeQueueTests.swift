import Dispatch
import HubServer
import TestSupport
import Testing

@testable import HubStore

@Suite struct ChangeQueueTests {
    private let queue = ChangeQueue(pauses: ChangeQueue.Pauses(attempt: .milliseconds(1), rest: .milliseconds(1)))

    @discardableResult
    private func add() throws(RefusedCall) -> Int {
        try queue.add({ (_) throws(RefusedCall) in }, finish: { _ in })
    }

    @Test func aChangeIsTakenBackUntilItHasBegun() throws {
        let numbers = try (0..<3).map { _ in try add() }
        #expect(queue.withdraw(numbers[1]))
        #expect(!queue.withdraw(numbers[1]))
        #expect(queue.nextDuty() == .changes)
        #expect(queue.next() != nil)
        #expect(!queue.withdraw(numbers[0]), "it has begun")
        #expect(queue.withdraw(numbers[2]))
        #expect(queue.next() == nil)
    }

    /// Work that hangs, in each kind of duty: a patience that is over at once takes the place of the time.
    @Test(arguments: [.changes, .attempt, .rest] as [ChangeQueue.Duty])
    func workThatDoesNotEndIsAProblem(duty: ChangeQueue.Duty) throws {
        let pauses = ChangeQueue.Pauses(attempt: .milliseconds(1), rest: .milliseconds(1))
        let queue = ChangeQueue(pauses: pauses, patience: .zero)
        #expect(queue.problem == nil)
        _ = try queue.add({ (_) throws(RefusedCall) in }, finish: { _ in })
        #expect(queue.nextDuty() == .changes && queue.next() != nil)
        if duty != .changes {
            queue.noteEnd(problem: duty == .attempt ? "the disk is full" : nil)
            #expect(queue.nextDuty() == duty)
        }
        let told = duty == .rest ? queue.watch { queue.problem } : queue.problem
        #expect(told == "a change of it has not ended for too long")
        let refuses = { expectUnavailable { () throws(RefusedCall) in _ = try queue.add({ _ in }, finish: { _ in }) } }
        _ = duty == .rest ? queue.watch(refuses) : refuses()
        if duty != .rest { queue.noteEnd(problem: nil) }
        #expect(queue.problem == nil)
        _ = try queue.add({ (_) throws(RefusedCall) in }, finish: { _ in })
    }

    @Test func noMoreWaitThanTheLimit() throws {
        var count = 0
        expectUnavailable { () throws(RefusedCall) in
            while count < 10_000 {
                try add()
                count += 1
            }
        }
        #expect(count == 4096)
        _ = queue.next()
        try add()
    }

    @Test func aClosedQueueEndsBehindItsLastChange() throws {
        try add()
        queue.close()
        expectUnavailable { () throws(RefusedCall) in try add() }
        #expect(queue.nextDuty() == .changes)
        #expect(queue.next() != nil)
        queue.noteEnd(problem: nil)
        #expect(queue.nextDuty() == nil)
    }

    @Test func aProblemIsTriedAgainAndThenThereIsARest() throws {
        try add()
        #expect(queue.nextDuty() == .changes)
        _ = queue.next()
        queue.noteEnd(problem: "the disk is full")
        #expect(queue.problem == "the disk is full")
        #expect(queue.nextDuty() == .attempt)
        queue.noteEnd(problem: nil)
        #expect(queue.problem == nil)
        #expect(!queue.hasFailed)
        #expect(queue.nextDuty() == .rest)
        queue.close()
        #expect(queue.nextDuty() == nil)
    }
}
