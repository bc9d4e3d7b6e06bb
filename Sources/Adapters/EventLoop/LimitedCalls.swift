import Dispatch
import Synchronization

/// Makes calls that may never return, each on a thread of its own, and waits for them no longer than a limit. One for a kind of call.
public final class LimitedCalls: Sendable {
    /// The states of a call, in its order.
    private enum State {
        static let running = 0
        static let ended = 1
        static let overdue = 2
    }

    private final class Call: Sendable {
        let state = Atomic<Int>(State.running)
    }

    private let name: String
    private let limit: Duration
    private let laterLimit: Duration
    private let overdue = Atomic<Int>(0)

    /// A kind of call that has not been made yet.
    ///
    /// - Parameters:
    ///   - name: The name of the threads, which the system shows.
    ///   - limit: The time that is waited for a call.
    ///   - laterLimit: The time that is waited for one while another is overdue, so that many of them together take no longer than a few.
    public init(named name: String, limit: Duration, laterLimit: Duration) {
        (self.name, self.limit, self.laterLimit) = (name, limit, laterLimit)
    }

    /// The number of calls that were left to themselves and have not returned.
    public var overdueCount: Int { overdue.load(ordering: .acquiring) }

    /// Makes a call, and waits for its end.
    ///
    /// - Parameter body: The call. It goes on after the limit, with what it holds.
    /// - Returns: Whether it has returned in time.
    @discardableResult
    public func make(_ body: @escaping @Sendable () -> Void) -> Bool {
        let (call, thread) = (Call(), ServiceThread())
        let limit = overdueCount > 0 ? laterLimit : limit
        thread.start(named: name) { [self] in
            body()
            guard call.state.exchange(State.ended, ordering: .acquiringAndReleasing) == State.overdue else { return }
            overdue.subtract(1, ordering: .releasing)
        }
        thread.waitForEnd(until: .now() + .nanoseconds(Int(limit / .nanoseconds(1))))
        overdue.add(1, ordering: .releasing)
        let isOverdue = call.state.compareExchange(
            expected: State.running, desired: State.overdue, ordering: .acquiringAndReleasing
        ).exchanged
        if !isOverdue { overdue.subtract(1, ordering: .releasing) }
        return !isOverdue
    }
}
