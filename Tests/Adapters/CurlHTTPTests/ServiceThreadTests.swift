import Dispatch
import Testing

@testable import EventLoop

@Suite struct ServiceThreadTests {
    @Test(arguments: [(0, true), (1, false)] as [(Int32, Bool)])
    func aThreadThatNeverStartsKeepsNobodyWaiting(code: Int32, hasStarted: Bool) {
        let thread = hasStarted ? ServiceThread() : ServiceThread { _ in code }
        let done = DispatchSemaphore(value: 0)
        #expect(thread.start(named: "a name of more than 15 bytes") { done.signal() } == hasStarted)
        thread.waitForEnd()
        thread.waitForEnd()
        #expect(done.wait(timeout: .now()) == (hasStarted ? .success : .timedOut))
    }
}
