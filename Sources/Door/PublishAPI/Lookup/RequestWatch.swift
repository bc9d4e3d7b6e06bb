package import Basics
import GatewayAPI
package import Publishing
import Synchronization

/// Where results are waited for; a `ResultFollower`, but for tests.
package protocol ResultWaiting: Sendable {
    /// Waits for results of an id. `then` is called once, in any thread, unless this refuses or the wait is ended before
    /// by what it returns.
    func wait(
        for id: String, awaiting goal: Awaited.Goal, until deadline: MonotonicTime,
        then: @escaping @Sendable (ResultFollower.Ending.Kind) -> Void
    ) throws(ResultFollower.WaitRefusal) -> @Sendable () -> Void
}

extension ResultFollower: ResultWaiting {
    package func wait(
        for id: String, awaiting goal: Awaited.Goal, until deadline: MonotonicTime,
        then: @escaping @Sendable (ResultFollower.Ending.Kind) -> Void
    ) throws(ResultFollower.WaitRefusal) -> @Sendable () -> Void {
        let ticket = try expect(id, awaiting: Awaited(goal), until: deadline) { then($0.reason) }
        return { [self] in forget(ticket) }
    }
}

/// One who waits until a request has ended. It ends once.
final class RequestWatch: Sendable {
    /// The goal of the wait.
    enum Goal: Sendable, Comparable {
        /// The final result.
        case result
        /// The outcome besides, where one is awaited.
        case outcome
    }

    enum Ending: Sendable {
        /// The request as it is now; nil for one that is not known any more.
        case request(PublishedRequest?)
        /// The gateway stops: the request as it was then; nil for one that is not known any more.
        case stopping(PublishedRequest?)
        /// Waiting was refused.
        case problem(APIProblem)
    }

    private struct State {
        var then: (@Sendable (Ending) -> Void)?
        /// Waits that were begun for it, one after the other.
        var turn = 0
        var forget: (@Sendable () -> Void)?
        /// Ends the looks at its caller's rights.
        var release: (@Sendable () -> Void)?
    }

    let key: PublishedRequests.Key
    /// The holder of its place.
    let claimant: Claimant
    let goal: Goal
    /// When it ends at the latest.
    let deadline: MonotonicTime
    /// No other lock is taken while it is held.
    private let state: Mutex<State>

    init(
        _ key: PublishedRequests.Key, of goal: Goal, for claimant: Claimant, until deadline: MonotonicTime,
        then: @escaping @Sendable (Ending) -> Void
    ) {
        (self.key, self.goal) = (key, goal)
        self.claimant = claimant
        self.deadline = deadline
        state = Mutex(State(then: then))
    }

    /// Begins another wait; nil when it has ended.
    func nextTurn() -> Int? {
        state.withLock { state -> Int? in
            guard state.then != nil else { return nil }
            state.turn += 1
            state.forget = nil
            return state.turn
        }
    }

    /// Keeps what ends a wait, as long as that is the latest.
    func hold(_ forget: @escaping @Sendable () -> Void, of turn: Int) {
        let isOver = state.withLock { state -> Bool in
            guard state.then != nil else { return true }
            if state.turn == turn { state.forget = forget }
            return false
        }
        if isOver { forget() }
    }

    /// Keeps what is called when it ends.
    func keep(_ release: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state -> Bool in
            if state.then != nil { state.release = release }
            return state.then == nil
        }
        if isOver { release() }
    }

    /// Ends it, unless it has ended: calls `free` first, then gives `ending` to its owner.
    func end(with ending: Ending?, freeing free: () -> Void = {}) {
        let ended = state.withLock { state -> State in
            defer { (state.then, state.forget, state.release) = (nil, nil, nil) }
            return state
        }
        ended.forget?()
        ended.release?()
        guard let then = ended.then else { return }
        free()
        if let ending { then(ending) }
    }
}
