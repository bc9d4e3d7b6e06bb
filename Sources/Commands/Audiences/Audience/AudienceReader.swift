import Basics
import Glibc
import JobSupport

/// Reads a file of any length line by line, with little memory: the lines are places in a room that is used again and again.
struct AudienceReader: ~Copyable {
    /// The longest line, in bytes. A handle has 4,096 at most.
    static let maximumLineByteCount = 32 << 10
    private static let chunkByteCount = 256 << 10

    private let path: String
    private let descriptor: Int32
    private let identity: Identity
    private var room = [UInt8](repeating: 0, count: chunkByteCount + maximumLineByteCount)
    /// The bytes that were read and are not a line yet.
    private var rest = 0..<0
    private var isAtEnd = false
    /// The offset in the file at which the room begins.
    private var roomOffset: Int64 = 0
    private var line = 0..<0

    /// The number of the line, from 1.
    private(set) var number = 0
    /// The 64-bit FNV-1a digest of the bytes read so far, and at the end of the file.
    var digest: UInt64 { hash.value }
    private var hash = FNV1a()

    /// The facts that change when the file is written to.
    private struct Identity: Equatable {
        let byteCount: Int
        let seconds: Int
        let nanoseconds: Int

        init?(_ descriptor: Int32) {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { return nil }
            byteCount = Int(facts.st_size)
            seconds = facts.st_mtim.tv_sec
            nanoseconds = facts.st_mtim.tv_nsec
        }
    }

    /// Opens the file. One that is no ordinary file is refused, because it cannot be read twice.
    init(_ path: String) throws(JobFailure) {
        self.path = path
        (descriptor, identity) = try Self.open(path)
    }

    private static func open(_ path: String) throws(JobFailure) -> (Int32, Identity) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LineReader.failure(path) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, let identity = Identity(descriptor) else {
            close(descriptor)
            throw .room(AudienceFailure.noOrdinaryFile(path: path))
        }
        return (descriptor, identity)
    }

    deinit { close(descriptor) }

    /// The bytes of the line, without its end.
    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get { room.span.extracting(line) }
    }

    /// The offset in the file at which the line begins.
    var offset: Int64 { roomOffset + Int64(line.lowerBound) }

    /// True if the file is unchanged since it was opened.
    var isUnchanged: Bool { Identity(descriptor) == identity }

    /// Goes to the next line. Returns whether there is one.
    mutating func next() throws(JobFailure) -> Bool {
        while true {
            if let end = newline() {
                take(rest.lowerBound..<end, next: end + 1)
                return true
            }
            if isAtEnd {
                guard !rest.isEmpty else { return false }
                take(rest, next: rest.upperBound)
                return true
            }
            guard rest.count <= Self.maximumLineByteCount else {
                throw .room(AudienceFailure.longLine(path: path, number: number + 1, limit: Self.maximumLineByteCount))
            }
            try readMore()
        }
    }

    private func newline() -> Int? {
        room.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !rest.isEmpty,
                let found = memchr(start + rest.lowerBound, Int32(UInt8(ascii: "\n")), rest.count)
            else { return nil }
            return UnsafeRawPointer(found) - start
        }
    }

    private mutating func take(_ place: Range<Int>, next: Int) {
        number += 1
        rest = next..<rest.upperBound
        var (start, end) = (place.lowerBound, place.upperBound)
        if end > start, room[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        // A byte order mark is no part of the first line.
        if number == 1, end - start >= 3, room[start] == 0xEF, room[start + 1] == 0xBB, room[start + 2] == 0xBF { start += 3 }
        line = start..<end
    }

    private mutating func readMore() throws(JobFailure) {
        let kept = rest.count
        room.withUnsafeMutableBytes { bytes in
            if kept > 0, let start = bytes.baseAddress { memmove(start, start + rest.lowerBound, kept) }
        }
        roomOffset += Int64(rest.lowerBound)
        while true {
            let count = room.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + kept, Self.chunkByteCount) } ?? 0
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw LineReader.failure(path) }
            isAtEnd = count == 0
            rest = 0..<kept + count
            hash.add(room[kept..<rest.upperBound])
            return
        }
    }

    /// The most lines that a file has: as many as it has ends of lines, and one behind the last.
    static func lineCount(_ path: String) throws(JobFailure) -> Int {
        let reader = try AudienceReader(path)
        var room = [UInt8](repeating: 0, count: chunkByteCount)
        var lines = 1
        while true {
            let count = room.withUnsafeMutableBytes { read(reader.descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw LineReader.failure(path) }
            guard count > 0 else { return lines }
            room.withUnsafeBytes { bytes in for byte in bytes[..<count] where byte == UInt8(ascii: "\n") { lines += 1 } }
        }
    }

    /// The line that begins at a place of the file, without its end, for the rare comparison with an earlier line.
    func line(at offset: Int64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.maximumLineByteCount)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count > 0 else { return [] }
        bytes.removeLast(bytes.count - count)
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        bytes.removeLast(bytes.count - end)
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
