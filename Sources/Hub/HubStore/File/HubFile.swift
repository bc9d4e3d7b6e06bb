import Basics
package import HubServer

/// The terms of a hub's file.
package struct HubFileTerms: Sendable {
    package var path: String
    /// The key of 32 bytes that seals handles. Nil leaves them plain.
    package var handleKey: [UInt8]?
    /// The number of readings at once.
    package var readerCount = 4
    /// The memory for pages of the file, shared by all connections.
    package var cacheByteCount = 24 << 20
    /// The time after which no change is added to a transaction.
    package var batchTime = Duration.milliseconds(20)
    /// Gets the number of changes in a transaction that lasts, and its duration, on the writer's thread. It must be quick.
    package var observe: @Sendable (_ changeCount: Int, _ duration: Duration) -> Void = { _, _ in }

    package init(path: String, handleKey: [UInt8]? = nil) { (self.path, self.handleKey) = (path, handleKey) }
}

extension HubFileTerms: Concealed {
    /// The path, and nothing of the key.
    package var description: String { "HubFileTerms(\(path))" }
}

/// The file of a hub: one thread writes, several read.
///
/// Any thread may call. No body may use the file itself.
package final class HubFile: Sendable {
    package let path: String
    /// True if handles are sealed with a key.
    package let isSealed: Bool
    private let writer: HubWriter
    private let readers: HubReaders

    /// Opens a file, and makes it where there is none.
    ///
    /// - Parameter terms: The file. Its folder exists.
    /// - Throws: Why it cannot be used. It is as it was then.
    package convenience init(_ terms: HubFileTerms) throws(HubFileError) { try self.init(terms, schema: .current) }

    /// Opens a file with the tables of a schema.
    init(_ terms: HubFileTerms, schema: Schema) throws(HubFileError) {
        let lock = try HubFileLock(terms.path)
        let opening = try HubFileOpening(lock.path, key: terms.handleKey, schema: schema)
        // The writer looks for places all over the file, a reader goes through rows that are side by side.
        let half = terms.cacheByteCount / 2
        writer = try HubWriter(try opening.writer(cacheByteCount: half), lock: lock, terms: terms)
        readers = try HubReaders(opening, count: max(1, terms.readerCount), cacheByteCount: half)
        (path, isSealed) = (lock.path, opening.seal.isSealing)
        guard writer.start() else { throw .unusable(path: path, reason: "the system has no thread left for it") }
    }

    deinit { writer.close() }

    /// Carries out all of `body`, or nothing of it if it throws, and returns once that lasts. Changes that wait share one transaction.
    ///
    /// - Parameter body: Reads and writes, on the writer's thread.
    /// - Returns: The result of `body`.
    /// - Throws: The refusal by `body`, or 503 if the disk keeps nothing of it.
    package func change<Result: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try writer.change(body)
    }

    /// As ``change(_:)``, without waiting.
    ///
    /// - Parameters:
    ///   - body: Reads and writes, on the writer's thread.
    ///   - done: Gets the outcome, on the writer's thread or at once. It must be quick.
    package func changeLater<Success: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Success,
        done: @escaping @Sendable (Result<Success, RefusedCall>) -> Void
    ) {
        writer.changeLater(body, done: done)
    }

    /// Shows `body` one state of the file.
    ///
    /// - Parameter body: Reads, for a short time: the log cannot be worked off behind the state that it sees.
    /// - Returns: The result of `body`.
    /// - Throws: The refusal by `body`, or 503.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (HubConnection) throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        try readers.read(body)
    }

    /// The value of a name, or nil.
    package func value(_ name: String) throws(RefusedCall) -> [UInt8]? {
        try read { (connection) throws(RefusedCall) in try connection.value(name) }
    }

    /// Keeps a value by its name.
    package func setValue(_ name: String, to bytes: [UInt8]) throws(RefusedCall) {
        try change { (connection) throws(RefusedCall) in try connection.setValue(name, to: bytes) }
    }

    /// The reason for which the last changes are not kept, or nil if they are. It goes by itself once the file can be written again.
    package var problem: String? { writer.problem }

    /// The bytes of the file and of its log.
    package var byteCount: Int64 { Self.byteCount(of: path) }

    /// The bytes of a file and of its log, whoever has it open.
    package static func byteCount(of path: String) -> Int64 { FileSet.byteCount(of: path) }

    /// Carries out the changes that wait, works off the log, and lets go of the file. Later calls are refused with 503. No body and no
    /// `done` may call it.
    package func close() {
        readers.close()
        writer.close()
        writer.waitForEnd()
    }
}
