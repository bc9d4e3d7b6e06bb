import Basics
import Dispatch
package import HubServer
import Synchronization

/// A push as it was recorded in place of being sent.
package struct RecordedPush: Sendable {
    /// The same for the same push, however often it is tried.
    package let id: String
    package let message: PushedMessage
    /// The time of the record, in milliseconds since 1970.
    package let at: Int64
    package let delivery: Delivery

    fileprivate var byteCount: Int { delivery.byteCount }
}

/// Stands in for push services: it takes every push, and keeps the newest.
package final class RecordingService: PushService {
    /// The newest pushes, the oldest first.
    private struct Memory: Sendable {
        var pushes = FIFO<RecordedPush>()
        var byteCount = 0
        var totalCount = 0
    }

    /// The most pushes that are recorded on the thread of the call. More of them leave it to read on meanwhile.
    private static let smallCount = 64

    private let queue = DispatchQueue(label: "pushfan-record")
    private let capacity: Int
    private let maximumByteCount: Int
    private let file: PushRecordFile?
    private let clock: @Sendable () -> Int64
    /// Protects what is kept. Nothing else is locked while it is held.
    private let memory = Mutex(Memory())

    /// A service that has recorded nothing.
    ///
    /// - Parameters:
    ///   - capacity: The most pushes that are kept.
    ///   - maximumByteCount: The most bytes that they have together.
    ///   - file: Gets a line for each push before the push has an outcome.
    ///   - clock: The time, in milliseconds since 1970.
    package init(
        capacity: Int = 10_000, maximumByteCount: Int = 16 << 20, file: PushRecordFile? = nil,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.capacity, self.maximumByteCount, self.file, self.clock) = (max(0, capacity), maximumByteCount, file, clock)
    }

    package func push(
        _ deliveries: [Delivery], of message: PushedMessage, done: @escaping @Sendable ([PushOutcome]) -> Void
    ) {
        guard deliveries.count > Self.smallCount else { return record(deliveries, of: message, done: done) }
        queue.async { [self] in record(deliveries, of: message, done: done) }
    }

    private func record(_ deliveries: [Delivery], of message: PushedMessage, done: @Sendable ([PushOutcome]) -> Void) {
        let now = clock()
        let pushes = deliveries.map {
            RecordedPush(id: $0.pushID(of: message.id), message: message, at: now, delivery: $0)
        }
        file?.append(pushes)
        memory.withLock { memory in
            memory.totalCount += pushes.count
            for push in pushes {
                memory.pushes.append(push)
                memory.byteCount += push.byteCount
            }
            while memory.pushes.count > capacity || memory.byteCount > maximumByteCount, let oldest = memory.pushes.popFirst() {
                memory.byteCount -= oldest.byteCount
            }
        }
        done([PushOutcome](repeating: .success, count: deliveries.count))
    }

    /// All pushes since the start, those included that are not kept any more.
    package var totalCount: Int { memory.withLock { $0.totalCount } }

    /// The kept pushes, the oldest first.
    package var pushes: [RecordedPush] { memory.withLock { Array($0.pushes) } }

    /// Forgets what is kept of devices that have lost their last registration. Pushes to a handle that was never registered stay.
    ///
    /// - Parameters:
    ///   - store: The registrations. A device that cannot be read counts as registered.
    ///   - devices: The devices that are looked at, or nil for all.
    /// - Throws: 503.
    package func forgetRemoved(from store: any DeviceStore, among devices: Set<DeviceKey>? = nil) throws(RefusedCall) {
        let known = memory.withLock { memory in
            Set(memory.pushes.lazy.filter { !$0.delivery.registrationID.isEmpty }.map(\.delivery.device))
        }
        let asked = devices.map(known.intersection) ?? known
        let removed = try store.read { (book) throws(RefusedCall) in
            asked.filter { device in (try? book.registrations(of: device))?.isEmpty ?? false }
        }
        if !removed.isEmpty { forget(removed) }
    }

    /// Forgets what is kept of devices, as their erasure asks for.
    package func forget(_ devices: Set<DeviceKey>) {
        memory.withLock { memory in
            memory.pushes.removeAll { devices.contains($0.delivery.device) }
            memory.byteCount = memory.pushes.reduce(0) { $0 + $1.byteCount }
        }
    }
}
