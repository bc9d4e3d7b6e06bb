import Basics
import Dispatch
import EventLoop
import Synchronization

/// The thread that carries out the work of jobs, one behind the other.
final class JobQueue: Sendable {
    private struct State: Sendable {
        var waiting = FIFO<@Sendable () -> Void>()
        var isClosed = false
    }

    /// The time without news after which the thread looks after the files.
    private static let pause = DispatchTimeInterval.seconds(3600)

    /// Protects the work that waits. Nothing else is locked while it is held.
    private let state = Mutex(State())
    /// Counts what the thread has not looked at yet.
    private let news = DispatchSemaphore(value: 0)
    /// Signalled by the close.
    private let closing = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    /// True once it begins nothing more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Starts the thread, which holds `self` until it is closed.
    ///
    /// - Parameter care: Called every hour without news, on the thread.
    func start(withoutNews care: @escaping @Sendable () -> Void) {
        thread.start(named: "pushfan-jobs") { [self] in
            while true {
                guard news.wait(timeout: .now() + Self.pause) == .success else {
                    care()
                    continue
                }
                let (work, isClosed) = state.withLock { ($0.isClosed ? nil : $0.waiting.popFirst(), $0.isClosed) }
                if isClosed { return }
                work?()
            }
        }
    }

    /// The work that has not begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func append(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(work) }
        news.signal()
    }

    /// Waits for a time, no longer than until the close.
    func pause(for time: DispatchTimeInterval) {
        // Whoever comes later finds it closed as well.
        if closing.wait(timeout: .now() + time) == .success { closing.signal() }
    }

    /// Drops what has not begun. What has begun may ask.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.waiting = FIFO()
        }
        closing.signal()
        news.signal()
    }

    /// Waits for the end of the thread.
    func waitForEnd(until deadline: DispatchTime) { thread.waitForEnd(until: deadline) }
}
