import Basics
import EventLoop
import Glibc

/// The users file on a disk: read as a whole, and replaced as a whole.
///
/// Who replaces it holds the lock of `PATH.lock`, so that of two changes none is lost. Readers need no lock: they find the file
/// as it was or as it is.
public struct UsersStore: Sendable {
    /// The time to wait for the lock.
    public static let patience: Duration = .seconds(10)
    /// Nanoseconds between two tries to get the lock.
    private static let pause = 10_000_000

    /// The path of the file.
    public let path: String

    /// The file at a path, which need not exist.
    public init(_ path: String) {
        self.path = path
    }

    /// Reads the file.
    ///
    /// - Returns: Its users.
    /// - Throws: `.unreadable` or `.fault`.
    public func read() throws(UsersError) -> UsersFile {
        try FoundUsers(path).users()
    }

    /// Changes the file. One that does not exist has no users.
    ///
    /// It is written beside the old one, synchronised with the disk, and then renamed. Only its owner may read it, who stays the
    /// same. Where the change changes nothing, nothing is written.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for another process that changes it.
    ///   - change: Changes the users.
    /// - Returns: What `change` returned.
    /// - Throws: `.locked`, `.unreadable`, `.notWritten`, or `.fault`; the file is as it was then.
    public func change<Outcome>(
        patience: Duration = Self.patience, _ change: (inout UsersFile) throws(UsersFileError) -> Outcome
    ) throws(UsersError) -> Outcome {
        // What a symbolic link points at is replaced, not the link.
        let path = Self.resolved(self.path)
        let lock = try Self.lock(path + ".lock", until: MonotonicTime.now().advanced(by: patience))
        defer { close(lock) }
        var users = UsersFile()
        var owner: stat?
        do throws(UsersError) {
            let found = try FoundUsers(path)
            users = try found.users()
            owner = found.facts
        } catch {
            guard error == .missing else { throw error }
        }
        let before = users
        let outcome: Outcome
        do throws(UsersFileError) { outcome = try change(&users) } catch { throw UsersError.fault(error) }
        if users != before { try Self.replace(path, by: users.bytes, owner: owner) }
        return outcome
    }

    /// The path without symbolic links (realpath(3)), or as it is where nothing is there yet.
    private static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Gets the lock (flock(2)), which ends when the descriptor is closed.
    private static func lock(_ path: String, until deadline: MonotonicTime) throws(UsersError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritten(reason: UsersError.reason(errno)) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EAGAIN || code == EINTR else {
                close(descriptor)
                throw .notWritten(reason: UsersError.reason(code))
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

    private static func replace(_ path: String, by bytes: [UInt8], owner: stat?) throws(UsersError) {
        let newPath = path + ".new"
        // One that somebody left, perhaps with other rights.
        unlink(newPath)
        let descriptor = open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritten(reason: UsersError.reason(errno)) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0, keep(owner, of: descriptor), write(bytes, to: descriptor), fsync(descriptor) == 0,
            rename(newPath, path) == 0
        else {
            let code = errno
            unlink(newPath)
            throw .notWritten(reason: UsersError.reason(code))
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

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Makes the new name outlive a power failure, too. Where the file system does not offer it, it does not.
    private static func synchroniseFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// The reason that users cannot be read or changed. No name and no hash is in it.
public enum UsersError: Error, Sendable, Equatable {
    /// There is no such file.
    case missing
    /// The system does not let us read it, or it is no ordinary file.
    case unreadable(reason: String)
    /// The content of the file, or the change, is not right.
    case fault(UsersFileError)
    /// Another process held the lock all the time.
    case locked
    /// It could not be replaced. It is as it was.
    case notWritten(reason: String)

    /// The system's words for an error number.
    static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension UsersError: CustomStringConvertible {
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
