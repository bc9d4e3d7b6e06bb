import Basics
import Dispatch
import EventLoop
import HubServer
import Synchronization

/// The news from other threads for the walker of a hub's notifications, and its waiting for them.
final class WalkerInbox: Sendable {
    /// The end of something that the walker began.
    enum Word: Sendable {
        case outcomes(push: Int, [PushOutcome])
        /// A step of a notification lasts, or why it does not.
        case kept(message: Int64, RefusedCall?)
    }

    /// All that came since the last reading.
    struct Content: Sendable {
        var words: [Word] = []
        /// Notifications to send now were accepted.
        var hasNews = false
        /// The earliest time of a scheduled one that was accepted, in milliseconds since 1970.
        var due: Int64?
        /// The walker is to begin no page any more.
        var isEnding = false
        /// The walker is to end by then.
        var end: MonotonicTime?

        /// True if nothing came.
        var isEmpty: Bool { words.isEmpty && !hasNews && due == nil }
    }

    private struct State: Sendable {
        var content = Content()
        var isWaiting = false
    }

    private let signal = DispatchSemaphore(value: 0)
    /// Protects what came. Nothing else is locked while it is held.
    private let state = Mutex(State())
    /// The notifications that are due and not at their end, as far as is known.
    let waitingCount = Atomic<Int>(0)

    /// Adds to what the walker reads next, and wakes it.
    func add(_ change: (inout Content) -> Void) {
        let wakes = state.withLock { state in
            change(&state.content)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wakes { signal.signal() }
    }

    /// Takes what came. Without anything it waits, no longer than until a time.
    func take(waitingUntil wake: MonotonicTime) -> Content {
        let waits = state.withLock { state in
            state.isWaiting = state.content.isEmpty
            return state.isWaiting
        }
        let pause = max(0, min(wake - MonotonicTime.now(), 1_000_000_000))
        if waits { _ = signal.wait(timeout: .now() + .nanoseconds(Int(pause))) }
        return state.withLock { state in
            state.isWaiting = false
            defer { state.content = Content(isEnding: state.content.isEnding, end: state.content.end) }
            return state.content
        }
    }
}
