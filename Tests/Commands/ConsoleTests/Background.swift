import Foundation
import Synchronization
import TestSupport

/// Work on a thread of its own, because commands block and tests have few threads to share.
final class Background<Value: Sendable>: Sendable {
    private let condition = NSCondition()
    private let result = Mutex<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let value = Result { try body() }
            condition.lock()
            result.withLock { $0 = value }
            condition.broadcast()
            condition.unlock()
        }
    }

    /// It has ended.
    var isDone: Bool { result.withLock { $0 != nil } }

    /// Waits for the end.
    ///
    /// - Throws: What the work threw, or `NeverEnded`.
    func value() throws -> Value {
        let deadline = Date(timeIntervalSinceNow: Double(farDeadline.components.seconds))
        condition.lock()
        while !isDone && condition.wait(until: deadline) {}
        condition.unlock()
        guard let value = result.withLock({ $0 }) else { throw NeverEnded() }
        return try value.get()
    }

    struct NeverEnded: Error {}
}
