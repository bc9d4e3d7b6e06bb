public import Dispatch
import Foundation

/// A named thread whose end others can wait for.
public final class ServiceThread: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// A thread that does not run yet.
    public init() {}

    /// Starts the thread, which holds `body` until it returns. Called once.
    ///
    /// - Parameters:
    ///   - name: The name that the system shows.
    ///   - body: The thread's work.
    public func start(named name: String, body: @escaping @Sendable () -> Void) {
        let thread = Thread { [ended] in
            body()
            ended.signal()
        }
        thread.name = name
        thread.start()
    }

    /// Waits for the end, but no longer than until the deadline. Several may wait.
    public func waitForEnd(until deadline: DispatchTime = .distantFuture) {
        // Whoever else waits is let go as well.
        if ended.wait(timeout: deadline) == .success { ended.signal() }
    }
}
