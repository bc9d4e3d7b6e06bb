import Basics
import EventLoop
import Glibc
import HubServer

/// The folder of jobs' files. A file is sealed in blocks of one length, so that its parts can be read.
///
/// Each version of a file has a name of its own, so that one that is not kept leaves the former as it is.
struct JobFolder: Sendable {
    /// Bytes of a block before it is sealed.
    static let blockByteCount = 64 << 10

    private let path: String

    /// The folder at a path, which is made when the first file is.
    init(_ path: String) { self.path = path }

    /// A file that can be read, or nil if there is none.
    func file(_ name: String, seal: HandleSeal) throws(RefusedCall) -> (any JobFile)? {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw .file("read", code: errno) }
        return try SealedFile(descriptor, seal: seal)
    }

    /// A file that is written. `finished` gets its name and its length once the disk has all of it.
    func draft(
        seal: HandleSeal, limit: Int64, finished: @escaping (_ name: String, Int64) throws(RefusedCall) -> Void
    ) throws(RefusedCall) -> any JobFileDraft {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .file("written", code: errno) }
        let name = String(UInt64.random(in: 0 ... .max), radix: 16)
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file("written", code: errno) }
        return SealedDraft(descriptor, name: name, in: path, seal: seal, limit: limit, finished: finished)
    }

    /// Removes a file, if there is one.
    func remove(_ name: String) { unlink("\(path)/\(name)") }

    /// Removes all files but those of some names.
    func removeAll(without names: Set<String>) {
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !names.contains(name) { remove(name) }
        }
    }
}

extension RefusedCall {
    /// The refusal of a call that needs a job's file.
    fileprivate static func file(_ deed: String, code: Int32) -> RefusedCall {
        .unavailable("A file of the hub's jobs cannot be \(deed): \(String(cString: strerror(code)))")
    }
}

/// A file that is open.
private final class SealedFile: JobFile {
    let byteCount: Int
    private let descriptor: Int32
    private let seal: HandleSeal
    /// Bytes of a whole block in the file.
    private let storedByteCount: Int

    /// A file of an open descriptor, which it closes.
    init(_ descriptor: Int32, seal: HandleSeal) throws(RefusedCall) {
        (self.descriptor, self.seal) = (descriptor, seal)
        let surplus: Int
        do throws(RefusedCall) { surplus = try seal.sealed([]).count } catch {
            close(descriptor)
            throw error
        }
        storedByteCount = JobFolder.blockByteCount + surplus
        var facts = stat()
        let length = fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
        byteCount = length / storedByteCount * JobFolder.blockByteCount + max(0, length % storedByteCount - surplus)
    }

    deinit { close(descriptor) }

    func bytes(from place: Int, count: Int) throws(RefusedCall) -> [UInt8] {
        let end = min(max(place, 0) + min(max(count, 0), byteCount), byteCount)
        guard place >= 0, place < end else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - place)
        for block in place / JobFolder.blockByteCount...(end - 1) / JobFolder.blockByteCount {
            let start = block * JobFolder.blockByteCount
            let content = try seal.opened(stored(block))
            bytes += content.prefix(end - start).dropFirst(max(0, place - start))
        }
        return bytes
    }

    /// A block as the file has it.
    private func stored(_ block: Int) throws(RefusedCall) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: storedByteCount)
        var count = 0
        while count < bytes.count {
            let place = off_t(block * storedByteCount + count)
            let more = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count, place)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw .file("read", code: errno) }
            guard more > 0 else { break }
            count += more
        }
        return Array(bytes.prefix(count))
    }
}

/// A file that is in no row yet.
private final class SealedDraft: JobFileDraft {
    private let descriptor: Int32
    private let (name, folder): (String, String)
    private let seal: HandleSeal
    private let limit: Int64
    private let finished: (String, Int64) throws(RefusedCall) -> Void
    /// Bytes that are not written yet, less than a block.
    private var rest: [UInt8] = []
    private var byteCount: Int64 = 0
    private var isFinished = false
    /// True once a block may not be in the file as it is.
    private var isBroken = false

    /// A draft of an open descriptor, which it closes.
    init(
        _ descriptor: Int32, name: String, in folder: String, seal: HandleSeal, limit: Int64,
        finished: @escaping (String, Int64) throws(RefusedCall) -> Void
    ) {
        (self.descriptor, self.name, self.folder) = (descriptor, name, folder)
        (self.seal, self.limit, self.finished) = (seal, limit, finished)
    }

    deinit {
        close(descriptor)
        if !isFinished { unlink("\(folder)/\(name)") }
    }

    func append(_ bytes: [UInt8]) throws(RefusedCall) {
        byteCount += Int64(bytes.count)
        guard byteCount <= limit else { throw RefusedCall(413, detail: "The file is longer than \(limit) bytes") }
        rest += bytes
        var start = 0
        while rest.count - start >= JobFolder.blockByteCount {
            try write(Array(rest[start..<start + JobFolder.blockByteCount]))
            start += JobFolder.blockByteCount
        }
        rest.removeFirst(start)
    }

    func finish() throws(RefusedCall) {
        // Another attempt would not make it whole. A second fsync after one that failed says nothing.
        guard !isBroken else { throw RefusedCall(500, detail: "A file of the hub's jobs is not whole") }
        if !rest.isEmpty { try write(rest) }
        rest = []
        guard fsync(descriptor) == 0 else {
            isBroken = true
            throw .file("written", code: errno)
        }
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw .file("written", code: errno) }
        defer { close(opened) }
        guard fsync(opened) == 0 else { throw .file("written", code: errno) }
        try finished(name, byteCount)
        isFinished = true
    }

    private func write(_ block: [UInt8]) throws(RefusedCall) {
        let stored = try seal.sealed(block)
        guard !isBroken, FileDescriptor.write(stored, to: descriptor) else {
            isBroken = true
            throw .file("written", code: errno)
        }
    }
}
