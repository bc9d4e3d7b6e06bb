import EventLoop

/// The reason for which hubs cannot be served.
package enum HubHostError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file of a hub cannot be used, or one that it names.
    case unusableHub(name: String, reason: String)
    /// The disk of a hub's file is full, or fails: later it may work.
    case failingDisk(name: String, reason: String)
    /// A file of the settings cannot be used. The reason is the end of a sentence about it.
    case unusableFile(path: String, reason: String)
    /// The address cannot be listened on. The reason names the address and, if known, the process that has it.
    case cannotListen(reason: String)
    /// The address, or TLS, could not be served.
    case cannotServe(reason: String)

    /// One plain sentence.
    package var description: String {
        switch self {
        case .unusableHub(let name, let reason), .failingDisk(let name, let reason):
            "the hub \(name) cannot be served: \(reason)"
        case .unusableFile(let path, let reason): "the file '\(path)' \(reason)"
        case .cannotListen(let reason), .cannotServe(let reason): reason
        }
    }

    /// Reads a file of the settings.
    static func read<Content: FileContent>(_ content: Content.Type, at path: String) throws(HubHostError) -> Content {
        do throws(FileError<Content.Fault>) { return try FileStore<Content>(path).read() } catch {
            throw .unusableFile(path: path, reason: "\(error)")
        }
    }
}
