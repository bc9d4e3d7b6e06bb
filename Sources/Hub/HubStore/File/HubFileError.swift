import SQLite

/// The reason for which a hub's file cannot be used.
package enum HubFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has it open, or this one a second time.
    case inUse(path: String)
    /// A newer program has made it.
    case newer(path: String, version: Int64)
    /// It is a file of something else.
    case foreign(path: String)
    case damaged(path: String, reason: String)
    /// Its handles are sealed with another key.
    case wrongKey(path: String)
    case unusable(path: String, reason: String)

    /// One plain sentence.
    package var description: String {
        switch self {
        case .inUse(let path): "another process has the hub's file \(path) open"
        case .newer(let path, let version): "the hub's file \(path) is of version \(version), which a newer pushfan has made"
        case .foreign(let path): "\(path) is no file of a hub, and stays as it is"
        case .damaged(let path, let reason): "the hub's file \(path) is damaged: \(reason)"
        case .wrongKey(let path): "the handles in the hub's file \(path) are sealed with another key"
        case .unusable(let path, let reason): "the hub's file \(path) cannot be used: \(reason)"
        }
    }

    /// The error for what SQLite says of a file.
    init(_ error: SQLiteError, of path: String) {
        self =
            if error.isNoDatabase { .foreign(path: path) } else if error.isDamage {
                .damaged(path: path, reason: error.message)
            } else { .unusable(path: path, reason: error.message) }
    }
}
