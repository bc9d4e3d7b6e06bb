import Dispatch
import HubServer
import Synchronization

/// The connections that read a hub's file, one for each reading at a time.
final class HubReaders: Sendable {
    private final class Reader: Sendable {
        /// Protects the connection, nil once it is closed.
        let connection: Mutex<HubConnection?>

        init(_ connection: sending HubConnection) { self.connection = Mutex(connection) }
    }

    /// Longest wait for a connection, in seconds.
    private static let patience = 10

    private let readers: [Reader]
    /// Protects the readers that are free, the last used last: its pages are in memory. Nothing else is locked while it is held.
    private let free: Mutex<[Reader]>
    private let returns: DispatchSemaphore

    /// Opens `count` connections.
    init(_ opening: HubFileOpening, count: Int, cacheByteCount: Int) throws(HubFileError) {
        var readers: [Reader] = []
        for _ in 0..<count { readers.append(Reader(try opening.reader(cacheByteCount: cacheByteCount / count))) }
        self.readers = readers
        free = Mutex(readers)
        returns = DispatchSemaphore(value: count)
    }

    /// Shows `body` one state of the file.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        guard returns.wait(timeout: .now() + .seconds(Self.patience)) == .success else {
            throw HubConnection.refusal("too many read it at once")
        }
        defer { returns.signal() }
        guard let reader = free.withLock({ $0.popLast() }) else { throw HubConnection.refusal("too many read it at once") }
        defer { free.withLock { $0.append(reader) } }
        return try reader.connection.withLock { (connection) throws(RefusedCall) in
            guard let connection else { throw HubConnection.refusal("it is closed") }
            return try connection.snapshot(body)
        }
    }

    /// Closes the connections, each when its reading has ended.
    func close() {
        for reader in readers { reader.connection.withLock { $0 = nil } }
    }
}
