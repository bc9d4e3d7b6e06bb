/// A reason to rebuild an index.
package enum IndexFlaw: Sendable, Equatable {
    /// SQLite finds the file damaged.
    case damaged
    /// Another version of pushfan made it.
    case otherVersion
    /// It indexes another cluster or topic.
    case otherSource
    /// It has records that the topic does not have.
    case otherRecords
}

/// A reason not to use an index.
package enum IndexAbsence: Error, Sendable, Equatable {
    /// The environment names no cache folder.
    case noFolder
    /// The cache folder cannot be made, for a reason of the system.
    case folder(path: String, reason: String)
    /// The file is no index.
    case foreign(path: String)
    /// Another process is rebuilding it.
    case rebuiltByAnother
    /// Another process is writing it.
    case busy(path: String)
    /// SQLite failed.
    case database(path: String, message: String)
    /// Rebuilding it did not help.
    case flawed(path: String, IndexFlaw)
}

/// The file of an index.
package struct IndexChoice: Sendable {
    /// The file, or nil for one below the user's cache folder.
    package var file: String?
    /// Names the cache folder (XDG Base Directory Specification).
    package var environment: [String: String]

    /// The given file, or one in the cache folder that `environment` names.
    package init(file: String?, environment: [String: String]) {
        self.file = file
        self.environment = environment
    }
}

extension IndexFlaw {
    /// The words behind the file's name.
    package var text: String {
        switch self {
        case .damaged: "is damaged"
        case .otherVersion: "is of another version"
        case .otherSource: "is of another cluster or topic"
        case .otherRecords: "has records that the topic does not have"
        }
    }
}

extension IndexAbsence {
    /// A sentence without its end.
    package var text: String {
        switch self {
        case .noFolder: "neither XDG_CACHE_HOME nor HOME names a folder for the index; --index=FILE does"
        case .folder(let path, let reason): "cannot make the folder \(path): \(reason)"
        case .foreign(let path):
            "\(path) is no index of pushfan, or damaged beyond recognition, and is left alone; delete it or name another file"
        case .rebuiltByAnother: "another command is rebuilding it"
        case .busy(let path): "\(path): another command is writing it"
        case .database(let path, let message): "\(path): \(message)"
        case .flawed(let path, let flaw): "\(path) \(flaw.text)"
        }
    }
}
