import Glibc
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
    /// The disk is full, or fails: later it may work.
    case disk(path: String, reason: String)
    /// There is something at the place of a copy that it must not replace.
    case occupied(path: String, reason: String)
    /// There is a file at the place of a copy that is none.
    case noCopy(path: String)

    /// One plain sentence.
    package var description: String {
        switch self {
        case .inUse(let path):
            "another process has the hub's file \(path) open; "
                + "find it with `fuser \(HubFileLock.path(of: HubFileLock.resolved(path)))`, and do not delete that file"
        case .newer(let path, let version): "the hub's file \(path) is of version \(version), which a newer pushfan has made"
        case .foreign(let path): "\(path) is no file of a hub, and stays as it is"
        case .damaged(let path, let reason): "the hub's file \(path) is damaged: \(reason)"
        case .wrongKey(let path): "the handles in the hub's file \(path) are sealed with another key"
        case .unusable(let path, let reason): "the hub's file \(path) cannot be used: \(reason)"
        case .disk(let path, let reason): "the hub's file \(path) cannot be used: \(reason); is the disk full?"
        case .occupied(let path, let reason): "\(path) cannot be replaced by a copy: \(reason)"
        case .noCopy(let path): "\(path) is there, and is no copy of a hub's file"
        }
    }

    /// The error for what SQLite says of a file.
    init(_ error: SQLiteError, of path: String) {
        self =
            if error.isNoDatabase { .foreign(path: path) } else if error.isDamage {
                .damaged(path: path, reason: error.message)
            } else if error.isOfDisk { .disk(path: path, reason: error.message) } else {
                .unusable(path: path, reason: error.message)
            }
    }

    /// The error for what the system says of a file.
    init(errno code: Int32, of path: String) {
        let reason = String(cString: strerror(code))
        self =
            [ENOSPC, EDQUOT, EIO].contains(code)
            ? .disk(path: path, reason: reason) : .unusable(path: path, reason: reason)
    }
}
