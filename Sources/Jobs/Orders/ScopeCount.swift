package import PushModel

/// The number of requests that an order concerns, by how far they are.
package struct ScopeCounts: Sendable, Equatable {
    package var waiting, running, delayed, sent, other: Int
    package var isComplete: Bool

    package init(waiting: Int = 0, running: Int = 0, delayed: Int = 0, sent: Int = 0, other: Int = 0, isComplete: Bool = false) {
        (self.waiting, self.running, self.delayed) = (waiting, running, delayed)
        (self.sent, self.other, self.isComplete) = (sent, other, isComplete)
    }
}

extension JobContext {
    /// Counts the requests of a scope that were published from one moment until another.
    package func counts(in scope: OrderScope, from: Timestamp?, until: Timestamp) throws(JobFailure) -> ScopeCounts {
        ScopeCounts()
    }
}
