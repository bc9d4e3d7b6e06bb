/// The whole of a small file that is read, and replaced, in one piece.
public protocol FileContent: Sendable, Equatable {
    /// A fault of a file, or of a change of it, without any secret of the file.
    associatedtype Fault: Error, Sendable, Equatable, CustomStringConvertible

    /// The largest file, in bytes.
    static var maximumByteCount: Int { get }

    /// The content of a file that does not exist yet.
    init()

    /// Reads all of a file. Throws the first fault.
    init(_ bytes: [UInt8]) throws(Fault)

    /// The file.
    var bytes: [UInt8] { get }

    /// The number of entries.
    var count: Int { get }
}

/// The reason for which a file cannot be read or changed, without any secret of the file.
public enum FileError<Fault: Error & Sendable & Equatable & CustomStringConvertible>: Error, Sendable, Equatable {
    /// There is no such file.
    case missing
    /// The system does not let us read it, or it is no ordinary file.
    case unreadable(reason: String)
    /// The content, or the change, is not right.
    case fault(Fault)
    /// Another process held the lock all the time.
    case locked
    /// It could not be replaced. It is as it was.
    case notWritten(reason: String)
}

extension FileError: CustomStringConvertible {
    /// The end of a sentence that begins with the file: `cannot be read: Permission denied`.
    public var description: String {
        switch self {
        case .missing: "does not exist"
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .fault(let fault): "is not right: \(fault)"
        case .locked: "is being changed by another process"
        case .notWritten(let reason): "cannot be written: \(reason)"
        }
    }
}
