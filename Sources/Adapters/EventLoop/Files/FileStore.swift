internal import Basics
internal import Glibc

/// A file on a disk: read as a whole, and replaced as a whole.
///
/// Who replaces it holds the lock of `PATH.lock`, so that of two changes none is lost. Readers need no lock: they find the file
/// as it was or as it is.
public struct FileStore<Content: FileContent>: Sendable {
    /// The reason for which it cannot be read or changed.
    public typealias Failure = FileError<Content.Fault>

    /// The longest wait for the lock.
    public static var patience: Duration { .seconds(10) }
    /// Nanoseconds between two tries to get the lock.
    private static var pause: Int { 10_000_000 }

    /// The path of the file.
    public let path: String

    /// The file at a path, which need not exist.
    public init(_ path: String) { self.path = path }

    /// Reads the file.
    ///
    /// - Returns: The content of the file.
    /// - Throws: `.unreadable` or `.fault`.
    public func read() throws(Failure) -> Content { try Content(Content.find(path)) }

    /// Changes the file. A file that does not exist is made.
    ///
    /// It is written beside the old one, synchronised with the disk, and then renamed. Only its owner may read it, who stays the
    /// same. Where the change changes nothing, nothing is written.
    ///
    /// - Parameters:
    ///   - patience: The longest wait for another process that changes it.
    ///   - change: Changes the content.
    /// - Returns: The value that `change` returned.
    /// - Throws: `.locked`, `.unreadable`, `.notWritten`, or `.fault`. The file is as it was then.
    public func change<Outcome>(
        patience: Duration = Self.patience, by change: (inout Content) throws(Content.Fault) -> Outcome
    ) throws(Failure) -> Outcome {
        // The target of a symbolic link is replaced, not the link.
        let path = Self.resolved(self.path)
        let lock = try Self.lock(path + ".lock", until: MonotonicTime.now().advanced(by: patience))
        defer { close(lock) }
        var content = Content()
        var owner: stat?
        do throws(Failure) {
            let found = try Content.find(path)
            content = try Content(found)
            owner = found.facts
        } catch {
            guard error == .missing else { throw error }
        }
        let before = content
        let outcome: Outcome
        do throws(Content.Fault) { outcome = try change(&content) } catch { throw .fault(error) }
        if content != before { try Self.replace(path, by: content.bytes, owner: owner) }
        return outcome
    }

    /// The path without symbolic links (realpath(3)), or unchanged if nothing is there yet.
    private static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Gets the lock (flock(2)), which ends when the descriptor is closed.
    private static func lock(_ path: String, until deadline: MonotonicTime) throws(Failure) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritten(reason: FoundFile.reason(errno)) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EAGAIN || code == EINTR else {
                close(descriptor)
                throw .notWritten(reason: FoundFile.reason(code))
            }
            guard MonotonicTime.now() < deadline else {
                close(descriptor)
                throw .locked
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Self.pause)
            nanosleep(&pause, nil)
        }
        return descriptor
    }

    private static func replace(_ path: String, by bytes: [UInt8], owner: stat?) throws(Failure) {
        let newPath = path + ".new"
        // A file that another process left, perhaps with other rights.
        unlink(newPath)
        let descriptor = open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritten(reason: FoundFile.reason(errno)) }
        defer { close(descriptor) }
        // A group goes on to read it that was let in on purpose: without all others.
        let before = owner?.st_mode ?? 0
        let mode = 0o600 | (before & 0o007 == 0 ? before & 0o040 : 0)
        guard fchmod(descriptor, 0o600) == 0, keep(owner, of: descriptor), fchmod(descriptor, mode) == 0,
            FileDescriptor.write(bytes, to: descriptor), fsync(descriptor) == 0,
            rename(newPath, path) == 0
        else {
            let code = errno
            unlink(newPath)
            throw .notWritten(reason: FoundFile.reason(code))
        }
        synchroniseFolder(of: path)
    }

    /// A service that could read the file goes on to, also when the administrator changes it.
    private static func keep(_ owner: stat?, of descriptor: Int32) -> Bool {
        var facts = stat()
        guard let owner, fstat(descriptor, &facts) == 0 else { return owner == nil }
        if facts.st_uid == owner.st_uid && facts.st_gid == owner.st_gid { return true }
        return fchown(descriptor, owner.st_uid, owner.st_gid) == 0
    }

    /// Lets the new name outlive a power failure, too. On file systems that do not support it, nothing happens.
    private static func synchroniseFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
