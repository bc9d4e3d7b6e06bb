import Basics
import Dispatch
package import JobSupport
package import Kafka
package import Publishing
import Synchronization

/// A request that was handed to Kafka, and where it is.
package struct EnqueuedRequest: Sendable {
    /// The request's identity.
    package let id: String
    /// The topic that it is written to, or nil if no output needs it.
    package let topic: String?
    /// The partition, or nil until its delivery was reported.
    package internal(set) var partition: Int32?
    /// The offset in it, or nil also if the broker did not report it.
    package internal(set) var offset: Int64?
    /// Its final result, once it was seen.
    package internal(set) var result: ResultRecord?
}

/// The requests of one run, in order, to which the delivery reports add their places, and a follower their results.
package final class EnqueuedRequests: Sendable {
    private struct State {
        var requests: [EnqueuedRequest] = []
        /// The number of requests without a result.
        var openCount = 0
    }

    /// Protects the list. No other lock is taken while it is held.
    private let state: Mutex<State>
    private let follower: ResultFollower?
    /// Raised when the last result has come.
    private let completed = DispatchSemaphore(value: 0)

    /// No requests yet. Without a follower their results are not wanted.
    package init(capacity: Int, follower: ResultFollower? = nil) {
        var state = State()
        state.requests.reserveCapacity(capacity)
        self.state = Mutex(state)
        self.follower = follower
    }

    /// All requests, as far as they are known.
    package var all: [EnqueuedRequest] { state.withLock { $0.requests } }

    /// Adds the request with this identity, and the topic that it is written to. Its result is awaited from now on. Returns the
    /// callback for its delivery.
    @discardableResult
    package func add(_ id: String, in topic: String? = nil) -> @Sendable (Producer.Delivery) -> Void {
        let index = state.withLock { state -> Int in
            state.requests.append(EnqueuedRequest(id: id, topic: topic))
            state.openCount += 1
            return state.requests.count - 1
        }
        // The caller waits by its own deadline, and then closes the follower. A wait that is refused ends without a result.
        _ = try? follower?.expect(id, until: .never) { [self] ending in
            if let result = ending.awaited.finalResult { note(result, of: index) }
        }
        return { [self] delivery in note(delivery, of: index) }
    }

    /// Waits until every request has its final result, but not beyond the deadline, nor if results may not be read.
    package func waitForResults(until deadline: Deadline, unless isCancelled: () -> Bool) {
        guard let follower else { return }
        while state.withLock({ $0.openCount > 0 }), !deadline.hasPassed, !isCancelled() {
            if follower.problem?.isAuthorization == true { return }
            let step = deadline.step.wholeNanoseconds
            _ = completed.wait(timeout: .now() + .nanoseconds(Int(step)))
        }
    }

    private func note(_ delivery: Producer.Delivery, of index: Int) {
        guard case .persisted(let partition, let offset) = delivery else { return }
        state.withLock { state in
            state.requests[index].partition = partition
            state.requests[index].offset = offset
        }
    }

    private func note(_ result: ResultRecord, of index: Int) {
        let isLast = state.withLock { state -> Bool in
            state.requests[index].result = result
            state.openCount -= 1
            return state.openCount == 0
        }
        if isLast { completed.signal() }
    }
}
