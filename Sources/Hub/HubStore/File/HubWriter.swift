import Basics
import Dispatch
import EventLoop
import HubServer
import SQLite
import Synchronization

/// The thread that writes to a hub's file. Changes that wait share one transaction, and so one wait for the disk.
final class HubWriter: Sendable {
    /// The outcome of a change, from the writer's thread to the one that waits.
    private final class Outcome<Value: Sendable>: Sendable {
        /// Protects the outcome.
        let value = Mutex<Value?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// The most changes in one transaction.
    private static let batchLimit = 512
    /// Bytes of the log from which on it is emptied: those who read hold up the smaller steps that SQLite takes by itself. While they read
    /// for a long time, it is tried again when the log has grown by as much.
    private static let logLimit: Int64 = 64 << 20
    /// Longest wait for those who read, of the writer that empties the log.
    private static let logPatience = Duration.milliseconds(100)

    /// Protects the connection, nil once it is closed. The thread holds it throughout a transaction.
    private let connection: Mutex<HubConnection?>
    private let lock: HubFileLock
    private let files: FileSet
    /// The time after which no change is added to a transaction.
    private let batchTime: Duration
    private let queue = ChangeQueue()
    private let observe: @Sendable (_ changeCount: Int, _ duration: Duration) -> Void
    private let thread = ServiceThread()

    /// A writer whose thread does not run yet. It lets go of the lock at its end.
    init(_ connection: sending HubConnection, lock: HubFileLock, terms: HubFileTerms) throws(HubFileError) {
        files = try FileSet(of: lock.path)
        (self.lock, batchTime, observe) = (lock, terms.batchTime, terms.observe)
        self.connection = Mutex(connection)
    }

    /// The reason for which the last changes are not kept, or nil if they are.
    var problem: String? { queue.problem }

    /// Starts the thread, which holds `self` until the end. Returns false where the system has none left.
    func start() -> Bool {
        thread.start(named: "pushfan-store") { [self] in
            var logLimit = Self.logLimit
            while let duty = queue.nextDuty() {
                if duty != .rest { carryOut(duty) }
                // Rows that were removed leave the log as well.
                if duty == .rest || files.logByteCount > logLimit {
                    logLimit = emptyLog() ? Self.logLimit : files.logByteCount + Self.logLimit
                }
            }
            _ = emptyLog()
            connection.withLock { $0 = nil }
            lock.release()
        }
    }

    /// Lets the thread end when the changes that wait are carried out.
    func close() { queue.close() }

    /// Waits for the end of the thread.
    func waitForEnd() { thread.waitForEnd() }

    /// As the file says.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Value
    ) throws(RefusedCall) -> Value {
        let outcome = Outcome<Result<Value, RefusedCall>>()
        let number = try add(body) { result in
            outcome.value.withLock { $0 = result }
            outcome.isThere.signal()
        }
        if outcome.isThere.wait(timeout: ChangeQueue.deadline) == .timedOut {
            if queue.withdraw(number) { throw HubConnection.refusal("changes of it wait for too long") }
            // It has begun: only its end tells if it is kept.
            outcome.isThere.wait()
        }
        guard let result = outcome.value.withLock({ $0 }) else { throw HubConnection.refusal("a change has no outcome") }
        return try result.get()
    }

    /// As the file says.
    func changeLater<Value: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Value,
        done: @escaping @Sendable (Result<Value, RefusedCall>) -> Void
    ) {
        do throws(RefusedCall) { _ = try add(body, done: done) } catch { done(.failure(error)) }
    }

    private func add<Value: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Value,
        done: @escaping @Sendable (Result<Value, RefusedCall>) -> Void
    ) throws(RefusedCall) -> Int {
        let made = Outcome<Value>()
        return try queue.add { (connection) throws(RefusedCall) in
            let value = try body(connection)
            made.value.withLock { $0 = value }
        } finish: { refusal in
            let value = made.value.withLock { $0 }
            done(value.map { refusal.map { .failure($0) } ?? .success($0) } ?? .failure(refusal ?? HubConnection.refusal("")))
        }
    }

    /// Carries out the changes that wait in one transaction, and ends each.
    private func carryOut(_ duty: ChangeQueue.Duty) {
        var outcomes: [(change: WaitingChange, refusal: RefusedCall?)] = []
        let start = MonotonicTime.now()
        let problem = connection.withLock { connection -> String? in
            guard let connection else { return "it is closed" }
            if let name = files.missing { return "\(name) was removed or replaced" }
            do throws(SQLiteError) {
                guard duty == .changes else {
                    try connection.attempt()
                    return nil
                }
                let end = start.advanced(by: batchTime)
                try connection.database.write { () throws(SQLiteError) in
                    while outcomes.count < Self.batchLimit, let change = queue.next() {
                        outcomes.append((change, nil))
                        outcomes[outcomes.count - 1].refusal = try connection.perform(change.perform)
                        guard MonotonicTime.now() < end else { break }
                    }
                }
                return nil
            } catch {
                return error.message
            }
        }
        if let problem {
            // Those who wait would meet the same.
            while outcomes.count < Self.batchLimit, let change = queue.next() { outcomes.append((change, nil)) }
            for index in outcomes.indices { outcomes[index].refusal = HubConnection.refusal(problem) }
        }
        queue.noteEnd(problem: problem)
        if problem == nil, !outcomes.isEmpty { observe(outcomes.count, .nanoseconds(MonotonicTime.now() - start)) }
        for (change, refusal) in outcomes { change.finish(refusal) }
    }

    /// Empties the log. Returns false while others read for a long time, or the file cannot be written.
    private func emptyLog() -> Bool {
        connection.withLock { connection in (try? connection?.database.emptyLog(waiting: Self.logPatience)) ?? false }
    }
}
