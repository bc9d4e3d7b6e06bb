@testable import GatewayAPI
import Dispatch
import Synchronization
import TestSupport
import Testing

/// Threads that many keys share.
@Suite(.tags(.threads)) struct JobThreadsTests {
    /// Jobs that last until they are let go.
    private final class HeldJobs: Sendable {
        private let begun = Mutex<[String]>([])
        private let gate = DispatchSemaphore(value: 0)

        var names: [String] { begun.withLock { $0 } }

        func job(_ name: String) -> JobThreads.Job {
            { [self] in
                begun.withLock { $0.append(name) }
                gate.wait()
            }
        }

        func release(_ count: Int) { for _ in 0..<count { gate.signal() } }
    }

    private func limits(places: (all: Int, key: Int, tenant: Int) = (64, 8, 16)) -> JobThreads.Limits {
        JobThreads.Limits(threads: (all: 3, key: 1, tenant: 2), places: places)
    }

    @Test func twoKeysLeaveAThreadToOthers() {
        let (threads, held) = (JobThreads("test", limits: limits()), HeldJobs())
        threads.start()
        defer { threads.stop() }
        for number in 1...3 {
            #expect(threads.put(for: "a", held.job("a\(number)")) == nil)
            #expect(threads.put(for: "b", held.job("b\(number)")) == nil)
        }
        #expect(threads.put(for: "c", held.job("c")) == nil)
        #expect(eventually { held.names.count == 3 })
        #expect(held.names.sorted() == ["a1", "b1", "c"])
        held.release(7)
        #expect(eventually { held.names.count == 7 })
    }

    @Test func theKeysOfATenantLeaveAThreadToOthers() {
        let (threads, held) = (JobThreads("test", limits: limits()), HeldJobs())
        threads.start()
        defer { threads.stop() }
        for number in 1...4 { #expect(threads.put(for: "k\(number)", of: "acme", held.job("k\(number)")) == nil) }
        #expect(threads.put(for: "k9", of: "shop", held.job("shop")) == nil)
        #expect(eventually { held.names.count == 3 })
        #expect(held.names.sorted() == ["k1", "k2", "shop"])
        held.release(5)
        #expect(eventually { held.names.count == 5 })
    }

    @Test func whoHasHisShareIsTold429AndAllOthers503() {
        // Nothing is done, so that everything waits.
        let threads = JobThreads("test", limits: limits(places: (all: 7, key: 2, tenant: 3)))
        func status(_ key: String, of tenant: String? = nil) -> Int? { threads.put(for: key, of: tenant) {}?.status }
        #expect([status("a"), status("a"), status("a")] == [nil, nil, 429])
        #expect(
            [status("b", of: "t"), status("b", of: "t"), status("c", of: "t"), status("d", of: "t")] == [nil, nil, nil, 429])
        #expect([status("e"), status("f"), status("g")] == [nil, nil, 503])
        let problem = threads.put(for: "a") {}
        #expect(problem?.retryAfter == 1000 && problem?.code == "too_many_requests")
        threads.stop(within: .milliseconds(1))
    }
}
