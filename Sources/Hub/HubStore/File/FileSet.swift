import Glibc

/// The files that belong to a database that is open: by them it is noticed that one was removed or replaced below it.
struct FileSet: Sendable {
    /// A file of the file system, whatever it is called.
    private struct Identity: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64
    }

    private struct File: Sendable {
        let path: String
        let identity: Identity
    }

    private let files: [File]
    private let path: String

    /// Takes the files as they are. The database is open, and was written to.
    init(of path: String) throws(HubFileError) {
        var files: [File] = []
        for path in [path, Self.log(of: path), path + "-shm", HubFileLock.path(of: path)] {
            guard let identity = Self.facts(of: path).map(Self.identity) else {
                throw .unusable(path: path, reason: String(cString: strerror(errno)))
            }
            files.append(File(path: path, identity: identity))
        }
        (self.files, self.path) = (files, path)
    }

    /// The name of the first file that is not there any more, or is another one. Clients see it, so it has no folder.
    var missing: String? {
        files.first { Self.facts(of: $0.path).map(Self.identity) != $0.identity }
            .map { $0.path.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// The bytes of the log.
    var logByteCount: Int64 { Self.length(of: Self.log(of: path)) }

    /// The bytes of a database and of its log.
    static func byteCount(of path: String) -> Int64 { length(of: path) + length(of: log(of: path)) }

    /// True if there is a file at a path.
    static func isThere(_ path: String) -> Bool { facts(of: path) != nil }

    /// True if two paths lead to one file.
    static func isSame(_ path: String, as other: String) -> Bool {
        guard let first = facts(of: path), let second = facts(of: other) else { return false }
        return identity(first) == identity(second)
    }

    private static func log(of path: String) -> String { path + "-wal" }

    private static func length(of path: String) -> Int64 { facts(of: path).map { Int64($0.st_size) } ?? 0 }

    private static func facts(of path: String) -> stat? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts : nil
    }

    private static func identity(_ facts: stat) -> Identity {
        Identity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    }
}
