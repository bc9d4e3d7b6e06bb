import HubServer
import Synchronization

/// Devices that a test may let fail.
final class FailingDevices: DeviceStore {
    private let devices: any DeviceStore
    private let isFailing = Mutex(false)

    init(_ devices: any DeviceStore) { self.devices = devices }

    /// Every reading fails with 503 while it is set.
    func fail(_ fails: Bool) { isFailing.withLock { $0 = fails } }

    func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result { try devices.change(body) }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        if isFailing.withLock({ $0 }) { throw .unavailable("The devices cannot be read") }
        return try devices.read(body)
    }
}
