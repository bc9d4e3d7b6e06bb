import Glibc

/// An open users file.
final class FoundUsers {
    /// The facts that change when the file is written or replaced.
    struct Identity: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64
        let byteCount: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// The system's facts about it (stat(2)).
    let facts: stat
    private let descriptor: Int32

    /// Opens the file.
    ///
    /// - Throws: `.missing` or `.unreadable`.
    init(_ path: String) throws(UsersError) {
        // A pipe without a writer must not hold anybody up.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else {
            let code = errno
            throw code == ENOENT ? UsersError.missing : UsersError.unreadable(reason: UsersError.reason(code))
        }
        var facts = stat()
        guard fstat(opened, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw UsersError.unreadable(reason: "it is no ordinary file")
        }
        descriptor = opened
        self.facts = facts
    }

    deinit { close(descriptor) }

    /// The identity that sets it apart from another one.
    var identity: Identity {
        Identity(
            device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino), byteCount: Int64(facts.st_size),
            seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
    }

    /// Reads the file.
    ///
    /// - Throws: `.unreadable` or `.fault`.
    func users() throws(UsersError) -> UsersFile {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        // What is too large is not read to its end.
        while bytes.count <= UsersFile.maximumByteCount {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(reason: UsersError.reason(errno)) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        do throws(UsersFileError) { return try UsersFile(bytes) } catch { throw UsersError.fault(error) }
    }
}
