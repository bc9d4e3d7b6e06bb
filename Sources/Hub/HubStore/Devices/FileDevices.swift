package import HubServer

/// Devices in a hub's file.
package final class FileDevices: DeviceStore {
    private let file: HubFile

    package init(_ file: HubFile) { self.file = file }

    package func change<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try file.change { (connection) throws(RefusedCall) in
            try FileBook.change(on: connection) { (book) throws(RefusedCall) in try body(book) }
        }
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try file.read { (connection) throws(RefusedCall) in try body(FileBook(connection)) }
    }

    /// The numbers of what is there.
    package func counts() throws(RefusedCall) -> DeviceCounts {
        try file.read { (connection) throws(RefusedCall) in try DeviceTally(from: connection).counts }
    }
}
