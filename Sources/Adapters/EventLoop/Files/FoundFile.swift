internal import Glibc

/// An open file, to be read as a whole.
final class FoundFile {
    /// The facts that change when the file is written or replaced.
    struct Identity: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64
        let byteCount: Int64
        let seconds: Int
        let nanoseconds: Int

        fileprivate init(_ facts: stat) {
            (device, inode, byteCount) = (UInt64(facts.st_dev), UInt64(facts.st_ino), Int64(facts.st_size))
            (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        }

        /// The facts of the file at a path, which is not opened. Nil where there is none.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            self.init(facts)
        }
    }

    /// The reason for which a file cannot be opened or read.
    enum Failure: Error {
        case missing
        case unreadable(reason: String)
    }

    /// The system's facts of it (stat(2)).
    let facts: stat
    private let descriptor: Int32

    /// Opens the file.
    init(_ path: String) throws(Failure) {
        // A pipe without a writer must not block the caller.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else {
            let code = errno
            throw code == ENOENT ? .missing : .unreadable(reason: Self.reason(code))
        }
        var facts = stat()
        guard fstat(opened, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw .unreadable(reason: "it is no ordinary file")
        }
        descriptor = opened
        self.facts = facts
    }

    deinit { close(descriptor) }

    /// The facts by which it differs from another file.
    var identity: Identity { Identity(facts) }

    /// Reads the file. A file of more than `limit` bytes is read only as far as needed to notice it.
    func bytes(atMost limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(reason: Self.reason(errno)) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }

    /// The system's words for an error number.
    static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension FileContent {
    /// Opens a file of this content. Throws `.missing` or `.unreadable`.
    static func find(_ path: String) throws(FileError<Fault>) -> FoundFile {
        do throws(FoundFile.Failure) { return try FoundFile(path) } catch { throw FileError(error) }
    }

    /// Reads the bytes of a file that was opened. Throws `.unreadable`.
    static func bytes(of file: FoundFile) throws(FileError<Fault>) -> [UInt8] {
        do throws(FoundFile.Failure) { return try file.bytes(atMost: maximumByteCount) } catch { throw FileError(error) }
    }

    /// Reads the content of a file's bytes. Throws `.fault`.
    init(reading bytes: [UInt8]) throws(FileError<Fault>) {
        do throws(Fault) { self = try Self(bytes) } catch { throw .fault(error) }
    }

    /// Reads a file that was opened. Throws `.unreadable` or `.fault`.
    init(_ file: FoundFile) throws(FileError<Fault>) { try self.init(reading: Self.bytes(of: file)) }
}

extension FileError {
    fileprivate init(_ failure: FoundFile.Failure) {
        switch failure {
        case .missing: self = .missing
        case .unreadable(let reason): self = .unreadable(reason: reason)
        }
    }
}
