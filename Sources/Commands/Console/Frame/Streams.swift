import Synchronization

/// The streams of a command's data and messages: data to standard output, everything else to standard error.
///
/// Data is gathered and written in pieces of 64 KiB, or when `flush` is called. Messages wait for no data.
public final class Streams: Sendable {
    /// The traits of the two outputs.
    public struct Traits: Sendable {
        /// Standard output is a terminal.
        public var isTerminal = false
        /// Standard error is a terminal.
        public var isErrorTerminal = false
        /// Standard input is a terminal: a user can answer.
        public var isInputTerminal = false
        /// The columns of the terminal, or nil when there is none.
        public var width: Int?
        /// Colours are wanted.
        public var usesColour = false

        /// No terminal at all.
        public init() {}
    }

    /// The traits of the outputs.
    public let traits: Traits
    /// Protects the data that was not written yet. No other lock is taken while it is held.
    private let pending = Mutex<[UInt8]>([])
    private let write: @Sendable ([UInt8]) -> Bool
    private let writeError: @Sendable ([UInt8]) -> Void
    private let readInput: @Sendable () throws(CommandFailure) -> [UInt8]
    private let readLine: @Sendable () throws(CommandFailure) -> String?
    private let readHiddenLine: @Sendable () throws(CommandFailure) -> String?

    /// Streams made of closures.
    ///
    /// - Parameters:
    ///   - traits: The traits of the outputs.
    ///   - write: Writes data. Returns false when no one reads it any more.
    ///   - writeError: Writes messages, as well as it can.
    ///   - readInput: Reads all of standard input.
    ///   - readLine: Reads one line of it, without its end, or returns nil when there is no more. By default there is none.
    ///   - readHiddenLine: The same, without showing the typed text. By default as `readLine`.
    public init(
        traits: Traits = Traits(), write: @escaping @Sendable ([UInt8]) -> Bool,
        writeError: @escaping @Sendable ([UInt8]) -> Void,
        readInput: @escaping @Sendable () throws(CommandFailure) -> [UInt8],
        readLine: @escaping @Sendable () throws(CommandFailure) -> String? = { () throws(CommandFailure) in nil },
        readHiddenLine: (@Sendable () throws(CommandFailure) -> String?)? = nil
    ) {
        self.traits = traits
        self.write = write
        self.writeError = writeError
        self.readInput = readInput
        self.readLine = readLine
        self.readHiddenLine = readHiddenLine ?? readLine
    }

    /// Writes data.
    ///
    /// - Parameter bytes: The data.
    /// - Throws: The failure without a message that ends the program well when no one reads any more.
    public func out(_ bytes: [UInt8]) throws(CommandFailure) { try gather(Sanitised.bytes(bytes)) }

    /// Writes data that is none of ours, which every program but a terminal gets as it is.
    func outAsItIs(_ bytes: [UInt8]) throws(CommandFailure) { try gather(traits.isTerminal ? Sanitised.bytes(bytes) : bytes) }

    private func gather(_ bytes: [UInt8]) throws(CommandFailure) {
        let isFull = pending.withLock { pending in
            pending += bytes
            return pending.count >= 65_536
        }
        if isFull { try flush() }
    }

    /// Writes a line of data.
    ///
    /// - Parameter text: The line without its end.
    /// - Throws: As `out(_:)` of bytes does.
    public func out(_ text: String) throws(CommandFailure) {
        try out(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes the data that was gathered.
    ///
    /// - Throws: As `out` does.
    public func flush() throws(CommandFailure) {
        let bytes = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        guard bytes.isEmpty || write(bytes) else { throw .brokenPipe }
    }

    /// Writes a line for the person in front of the program.
    public func note(_ text: String) {
        writeError(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Shows a progress, in place of the one before, or with nil removes it. On a terminal only.
    func showStatus(_ text: String?) {
        guard traits.isErrorTerminal else { return }
        // Carriage return, the text, and erase to the end of the line (ECMA-48, EL).
        writeError(Array("\r\(text ?? "")\u{1B}[K".utf8))
    }

    /// All of standard input.
    ///
    /// - Throws: It cannot be read.
    public func input() throws(CommandFailure) -> [UInt8] { try readInput() }

    /// A line of standard input without its end, or nil when there is no more.
    func inputLine() throws(CommandFailure) -> String? { try readLine() }

    /// A line of standard input that is not shown while a person types it, or nil when there is no more.
    func hiddenLine() throws(CommandFailure) -> String? { try readHiddenLine() }
}
