import Glibc
import Synchronization

/// The lock by which one process alone has a hub's file open (flock(2)). It goes with the process, however that ends.
final class HubFileLock: Sendable {
    /// The path of the hub's file, without symbolic links.
    let path: String
    /// Protects the open lock file, nil once it is closed.
    private let descriptor: Mutex<Int32?>

    /// Takes the lock of a file, which need not exist.
    init(_ name: String) throws(HubFileError) {
        let path = Self.resolved(name)
        let opened = open(Self.path(of: path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw HubFileError(errno: errno, of: name) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(opened)
            if code == EWOULDBLOCK { throw .inUse(path: name) }
            throw HubFileError(errno: code, of: name)
        }
        self.path = path
        descriptor = Mutex(opened)
    }

    deinit { release() }

    /// Lets others have the file.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { Glibc.close(descriptor) }
            descriptor = nil
        }
    }

    /// The lock file of a hub's file. It stays, since another process may wait for it.
    static func path(of path: String) -> String { path + ".lock" }

    /// The path without symbolic links (realpath(3)), or unchanged if nothing is there yet.
    static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }
}
