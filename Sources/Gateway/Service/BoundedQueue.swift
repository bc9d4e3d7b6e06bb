import Basics
import Dispatch
import Synchronization

/// What many threads put in and one takes out, in order.
final class BoundedQueue<Element: Sendable>: Sendable {
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
    init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing waits at this moment.
    var isEmpty: Bool { state.withLock { $0.elements.isEmpty } }

    /// Puts one in behind the others; never waits.
    ///
    /// - Returns: False when the queue is full or closed; then nothing is kept.
    func put(_ element: Element) -> Bool {
        let isKept = state.withLock { state -> Bool in
            guard !state.isClosed, state.elements.count < limit else { return false }
            state.elements.append(element)
            return true
        }
        if isKept { arrivals.signal() }
        return isKept
    }

    /// Takes the oldest, and waits until there is one; nil once the queue is closed.
    func take() -> Element? {
        arrivals.wait()
        return state.withLock { state -> Element? in
            state.isClosed ? nil : state.elements.popFirst()
        }
    }

    /// Drops what was not taken; from now on there is nothing.
    func close() {
        // Returned, so that what it holds ends outside the lock.
        _ = state.withLock { state -> FIFO<Element> in
            defer { state.elements = FIFO() }
            state.isClosed = true
            return state.elements
        }
        arrivals.signal()
    }
}
