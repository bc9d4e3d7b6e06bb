import EventLoop
import Glibc

/// A text file that is written line by line, and takes its name only when it is whole.
///
/// A header is written last, because it has the totals of the other lines.
package final class LineFile {
    private let path: String
    private let temporaryPath: String
    private var descriptor: Int32
    private var pending: [UInt8] = []
    private var failure: JobFailure?

    /// A file that will be called `path`.
    package init(_ path: String) throws(JobFailure) {
        self.path = path
        temporaryPath = path + ".part"
        descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            unlink(temporaryPath)
        }
    }

    /// Adds a line. `finish` throws its errors.
    package func add(_ line: [UInt8]) {
        pending += line
        pending.append(UInt8(ascii: "\n"))
        if pending.count >= 1 << 20 { flush() }
    }

    private func flush() {
        if failure == nil, !FileDescriptor.write(pending, to: descriptor) { failure = Self.failure(path) }
        pending.removeAll(keepingCapacity: true)
    }

    /// Writes the whole file: first `header` if there is one, then the lines. After an error, or once the job is cancelled, there is no file.
    package func finish(header: [UInt8]? = nil, isCancelled: () -> Bool = { false }) throws(JobFailure) {
        flush()
        if let failure { throw failure }
        if isCancelled() { throw .cancelled }
        guard let header else {
            guard fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else { throw Self.failure(path) }
            return
        }
        let wholePath = path + ".whole"
        let whole = open(wholePath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard whole >= 0 else { throw Self.failure(path) }
        defer { close(whole) }
        guard FileDescriptor.write(header + [UInt8(ascii: "\n")], to: whole), lseek(descriptor, 0, SEEK_SET) == 0,
            Self.copy(descriptor, whole, while: { !isCancelled() }),
            fsync(whole) == 0, rename(wholePath, path) == 0
        else {
            let failure = Self.failure(path)
            unlink(wholePath)
            throw isCancelled() ? .cancelled : failure
        }
    }

    private static func copy(_ source: Int32, _ target: Int32, while isWanted: () -> Bool) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while isWanted() {
            let count = chunk.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 }
            guard FileDescriptor.write(Array(chunk.prefix(count)), to: target) else { return false }
        }
        return false
    }

    private static func failure(_ path: String) -> JobFailure {
        .unwritableFile(path: path, reason: String(cString: strerror(errno)))
    }
}

/// Reads a text file line by line, however long it is.
package final class LineReader {
    private let path: String
    private let descriptor: Int32
    private var chunk: [UInt8] = []
    private let maximumByteCount: Int
    private var index = 0
    private var isAtEnd = false
    /// The place of `chunk` in the file.
    private var base: Int64 = 0

    /// Opens the file. Fails with `unreadableFile` at a line of more than `maximumByteCount`.
    package init(_ path: String, maximumByteCount: Int = .max) throws(JobFailure) {
        self.path = path
        self.maximumByteCount = maximumByteCount
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next line without its end, or nil at the end of the file.
    package func next() throws(JobFailure) -> [UInt8]? {
        var searched = index
        while true {
            if let end = chunk[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { index = end + 1 }
                return Array(chunk[index..<end])
            }
            searched = chunk.count - index
            chunk.removeFirst(index)
            base += Int64(index)
            index = 0
            guard !isAtEnd else {
                defer {
                    base += Int64(chunk.count)
                    chunk = []
                }
                return chunk.isEmpty ? nil : chunk
            }
            guard chunk.count <= maximumByteCount else {
                throw .unreadableFile(path: path, reason: "a line has more than \(maximumByteCount) bytes")
            }
            try readMore()
        }
    }

    /// The place of the next line, in bytes from the beginning.
    package var position: Int64 { base + Int64(index) }

    /// Goes on at a place that `position` has given, or any other. Fails with `cursor` for one that the file does not have.
    package func seek(to position: Int64) throws(JobFailure) {
        guard position >= 0, position <= lseek(descriptor, 0, SEEK_END) else { throw .cursor }
        guard lseek(descriptor, off_t(position), SEEK_SET) >= 0 else { throw Self.failure(path) }
        (chunk, index, isAtEnd, base) = ([], 0, false, position)
    }

    /// The reason for which a file cannot be read, as `errno` has it.
    package static func failure(_ path: String) -> JobFailure {
        .unreadableFile(path: path, reason: String(cString: strerror(errno)))
    }

    private func readMore() throws(JobFailure) {
        var more = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = more.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(path) }
            isAtEnd = count == 0
            chunk += more.prefix(count)
            return
        }
    }
}
