package import HubServer
import Synchronization

/// The devices in a hub's file, for a command that reads them while a process may have the file open.
package final class StoredDevices: DeviceStore {
    /// Protects the connection. Nothing else is locked while it is held.
    private let connection: Mutex<HubConnection>

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - handleKey: The key of the handles in it, or nil where they are plain.
    /// - Throws: Why it cannot be used.
    package init(path: String, handleKey: [UInt8]?) throws(HubFileError) {
        let opening = try HubFileOpening(HubFileLock.resolved(path), key: handleKey, schema: .current)
        let visitor = try opening.visitor()
        try opening.checkSeal(in: visitor.database)
        connection = Mutex(visitor)
    }

    /// Refuses every change.
    package func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        throw .unavailable("The hub's file was opened for reading")
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try connection.withLock { (connection) throws(RefusedCall) in
            try connection.snapshot { (connection) throws(RefusedCall) in try body(FileBook(connection)) }
        }
    }
}
