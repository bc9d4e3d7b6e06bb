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

    /// The file. An empty line ends it, by which readers know that nothing is missing.
    var bytes: [UInt8] { get }

    /// The number of entries.
    var count: Int { get }

    /// Says if each entry of another file has one of its name here.
    func keepsAll(of other: Self) -> Bool
}

extension FileContent {
    /// A file of these lines.
    public static func bytes(of lines: some Sequence<String>) -> [UInt8] {
        lines.flatMap { Array("\($0)\n".utf8) } + [UInt8(ascii: "\n")]
    }
}

/// The reason for which a file cannot be read or changed, without any secret of the file.
public enum FileError<Fault: Error & Sendable & Equatable & CustomStringConvertible>: Error, Sendable, Equatable {
    /// There is no such file.
    case missing
    /// The system does not let us read it, or it is no ordinary file.
    case unreadable(reason: String)
    /// The content, or the change, is not right.
    case fault(Fault)
    /// It is empty, or only the beginning of the file that it was.
    case cut
    /// It has lost entries or its end, and may be written this moment.
    case unsettled
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
        case .cut: "is empty, or cut off in the middle: it does not count until it is whole again"
        case .unsettled: "has lost entries, or its end, and no empty line ends it: it counts once it has not changed for 10 s"
        case .locked: "is being changed by another process"
        case .notWritten(let reason): "cannot be written: \(reason)"
        }
    }
}
