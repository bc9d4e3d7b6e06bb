internal import CLinux
public import Dispatch
internal import Glibc

/// A named thread whose end others can wait for.
public final class ServiceThread: Sendable {
    /// Starts a thread that takes the work from its context. Returns 0, or why there is no thread.
    typealias Launch = @Sendable (UnsafeMutableRawPointer) -> Int32

    fileprivate final class Work: Sendable {
        private let name: String
        private let body: @Sendable () -> Void
        private let ended: DispatchSemaphore

        init(_ name: String, ended: DispatchSemaphore, body: @escaping @Sendable () -> Void) {
            (self.name, self.ended, self.body) = (name, ended, body)
        }

        func run() {
            name_thread(name)
            body()
            ended.signal()
        }
    }

    private let ended = DispatchSemaphore(value: 0)
    private let launch: Launch

    /// A thread that does not run yet.
    public convenience init() { self.init(launch: Self.launch) }

    /// A thread that is started by other means, such as none.
    init(launch: @escaping Launch) { self.launch = launch }

    /// Starts the thread, which holds `body` until it returns. Called once.
    ///
    /// - Parameters:
    ///   - name: The name that the system shows.
    ///   - body: The thread's work.
    /// - Returns: False where the system has no thread left. Nothing runs then, and waits for its end are over.
    @discardableResult
    public func start(named name: String, body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(name, ended: ended, body: body))
        if launch(work.toOpaque()) == 0 { return true }
        work.release()
        ended.signal()
        return false
    }

    /// Waits for the end, but no longer than until the deadline. Several may wait.
    public func waitForEnd(until deadline: DispatchTime = .distantFuture) {
        // Whoever else waits is let go as well.
        if ended.wait(timeout: deadline) == .success { ended.signal() }
    }

    private static let launch: Launch = { context in
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runServiceThread, context)
        if code == 0 { pthread_detach(thread) }
        return code
    }
}

private func runServiceThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ServiceThread.Work>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
