import Dispatch
import EventLoop
import TestSupport
import Testing

/// Calls of a library that may never return.
@Suite(.tags(.threads)) struct LimitedCallsTests {
    @Test func aCallThatNeverReturnsIsLeftToItselfAndCountedUntilItDoes() {
        let calls = LimitedCalls(named: "test", limit: .milliseconds(20), laterLimit: .milliseconds(1))
        let gate = DispatchSemaphore(value: 0)
        for count in 1...3 {
            #expect(!calls.make { gate.wait() })
            #expect(calls.overdueCount == count)
        }
        for _ in 1...3 { gate.signal() }
        #expect(eventually { calls.overdueCount == 0 })
    }

    @Test func whileOneIsOverdueOthersAreWaitedForByTheShorterLimit() {
        let calls = LimitedCalls(named: "test", limit: .milliseconds(20), laterLimit: farDeadline)
        let (gate, other) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        #expect(!calls.make { gate.wait() })
        #expect(calls.make { other.signal() })
        #expect(other.wait(timeout: .now()) == .success && calls.overdueCount == 1)
        gate.signal()
    }

    @Test func aCallThatReturnsIsWaitedFor() {
        let calls = LimitedCalls(named: "test", limit: farDeadline, laterLimit: .zero)
        let ended = DispatchSemaphore(value: 0)
        #expect(calls.make { ended.signal() })
        #expect(ended.wait(timeout: .now()) == .success && calls.overdueCount == 0)
    }
}
