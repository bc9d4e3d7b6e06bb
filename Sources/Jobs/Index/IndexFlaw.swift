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
