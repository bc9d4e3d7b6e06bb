import Basics
package import Dispatch
import Synchronization

/// What many threads put in and take out, in order.
package final class BoundedQueue<Element: Sendable>: Sendable {
    /// What a wait for an element ends with.
    package enum Taken: Sendable {
        case element(Element)
        /// None came in time.
        case nothing
        case closed
    }

    private struct State {
        var elements = FIFO<Element>()
        var isClosed = false
    }

    private let limit: Int
    /// No other lock is taken while it is held.
    private let state = Mutex(State())
    /// Counts the elements, and one for the end.
    private let arrivals = DispatchSemaphore(value: 0)

    /// An empty queue for at most `limit` elements.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing waits at this moment.
    var isEmpty: Bool { state.withLock { $0.elements.isEmpty } }

    /// Puts one in behind the others. Never waits. Returns false, and keeps nothing, when the queue is full or closed.
    package func put(_ element: Element) -> Bool {
        let isKept = state.withLock { state -> Bool in
            guard !state.isClosed, state.elements.count < limit else { return false }
            state.elements.append(element)
            return true
        }
        if isKept { arrivals.signal() }
        return isKept
    }

    /// Takes the oldest, and waits until there is one; nil once the queue is closed.
    package func take() -> Element? {
        guard case .element(let element) = take(until: .distantFuture) else { return nil }
        return element
    }

    /// Takes the oldest, and waits for one.
    package func take(until deadline: DispatchTime) -> Taken {
        guard arrivals.wait(timeout: deadline) == .success else { return .nothing }
        let element = state.withLock { state -> Element? in
            state.isClosed ? nil : state.elements.popFirst()
        }
        guard let element else {
            // The end is for everybody who waits.
            arrivals.signal()
            return .closed
        }
        return .element(element)
    }

    /// Drops what was not taken; from now on there is nothing.
    package func close() {
        // Returned, so that what it holds ends outside the lock.
        _ = state.withLock { state -> FIFO<Element> in
            defer { state.elements = FIFO() }
            state.isClosed = true
            return state.elements
        }
        arrivals.signal()
    }
}
