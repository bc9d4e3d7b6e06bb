import Glibc
import SQLite

extension HubFile {
    /// Copies a file as it is at one moment. Another process may have it open, and writes on.
    ///
    /// - Parameters:
    ///   - path: The file, which exists.
    ///   - file: The copy, in place of an earlier one. Only its owner may read it. Handles are sealed as in the file.
    ///   - replacesAny: True if the copy may take the place of any file that no hub has open.
    /// - Throws: Why there is no copy. What was in its place is as before.
    package static func backUp(from path: String, to file: String, replacingAny replacesAny: Bool = false) throws(HubFileError) {
        let opening = try HubFileOpening(HubFileLock.resolved(path), key: nil, schema: .current)
        let connection = try opening.visitor()
        guard !FileSet.isSame(path, as: file) else { throw .unusable(path: file, reason: "it would be a copy of itself") }
        let lock = try reserve(file, replacingAny: replacesAny)
        defer { lock?.release() }
        let copy = try NewFile(file)
        do throws(SQLiteError) {
            try connection.database.execute("PRAGMA query_only = OFF")
            let vacuum = try connection.database.prepare("VACUUM INTO ?")
            try vacuum.bind(copy.path, at: 0)
            try vacuum.run()
        } catch {
            throw HubFileError(error, of: error.isDamage ? path : file)
        }
        try copy.putInPlace()
    }

    /// Makes sure that a copy takes nothing away from others.
    ///
    /// - Returns: The lock by which no hub opens the place meanwhile, if one has ever had it open.
    private static func reserve(_ file: String, replacingAny replacesAny: Bool) throws(HubFileError) -> HubFileLock? {
        let place = HubFileLock.resolved(file)
        let lock = FileSet.isThere(HubFileLock.path(of: place)) ? try HubFileLock(place) : nil
        // SQLite would take them for changes of the copy.
        for rest in ["-wal", "-journal"].map({ place + $0 }) where FileSet.isThere(rest) {
            throw .occupied(path: file, reason: "\(rest) has changes of it")
        }
        guard replacesAny || !FileSet.isThere(place) || isCopy(place) else { throw .noCopy(path: file) }
        return lock
    }

    /// True if a file begins as copies do (sqlite.org, Database File Format, section 1.3). A hub's own file has a log, and so other versions.
    private static func isCopy(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 100)
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return false }
        return bytes.starts(with: "SQLite format 3\0".utf8) && bytes[18...19] == [1, 1]
            && bytes[68..<72].reduce(0) { $0 << 8 | Int64($1) } == Schema.applicationID
    }
}

/// A file that is written beside another one, and takes its place when it is whole. It is gone with its owner.
private final class NewFile {
    let path: String
    private let place: String
    private let descriptor: Int32
    private var isInPlace = false

    /// Makes an empty file by a name that no other has. A file of a killed process stays: it might be another's.
    init(_ place: String) throws(HubFileError) {
        let path = "\(place).part-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw Self.fault(place) }
        (self.path, self.place, descriptor) = (path, place, opened)
    }

    deinit {
        if !isInPlace { unlink(path) }
        close(descriptor)
    }

    /// Renames it, once the disk has all of it.
    func putInPlace() throws(HubFileError) {
        guard fsync(descriptor) == 0, rename(path, place) == 0 else { throw Self.fault(place) }
        isInPlace = true
        let folder = open(Self.folder(of: place), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Self.fault(place) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw Self.fault(place) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func fault(_ path: String) -> HubFileError {
        HubFileError(errno: errno, of: path)
    }
}
