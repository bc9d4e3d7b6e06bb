import Basics
import Dispatch
import Foundation
import Glibc
import Synchronization

/// Appends every call to a file as one line of JSON, in the order in which the answers were decided.
///
/// A call costs its caller one line in memory. A thread hands the lines to the system every 20 ms, so a killed process loses the
/// lines since then. A file that cannot be written is reported once. Its calls are counted, and serving goes on.
final class CallJournal: Sendable {
    private struct Output {
        let descriptor: Int32
        /// The file ends inside a line: it was cut by a kill or by a full disk.
        var isInsideLine: Bool
    }

    /// The longest wait of a line in memory. Half of the promised time leaves the system time to take it.
    private static let interval = DispatchTimeInterval.milliseconds(20)
    /// Bytes that may wait while the disk is slow. Further calls are lost.
    private static let maximumPendingByteCount = 32 << 20

    private let path: String
    private let complain: @Sendable (String) -> Void
    private let ended = DispatchSemaphore(value: 0)
    /// Protects the file, also while writing. `pending` is taken inside it.
    private let output: Mutex<Output>
    /// Protects the lines that were not written yet.
    private let pending = Mutex<[UInt8]>([])
    private let lost = Atomic<Int>(0)
    private let hasComplained = Atomic<Bool>(false)

    /// Opens the file, or makes it, and starts the thread that writes. The file's content stays. `complain` takes one sentence at
    /// the first write that fails.
    init(path: String, complain: @escaping @Sendable (String) -> Void) throws(HubEmulatorError) {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .unwritableFile(path: path, reason: String(cString: strerror(errno))) }
        self.path = path
        self.complain = complain
        output = Mutex(Output(descriptor: descriptor, isInsideLine: Self.endsInsideLine(descriptor)))
        Thread.detachNewThread { [weak self, ended] in
            while ended.wait(timeout: .now() + Self.interval) == .timedOut { self?.flush() }
        }
    }

    deinit {
        ended.signal()
        flush()
        output.withLock { _ = close($0.descriptor) }
    }

    /// The calls that could not be written.
    var lostCount: Int { lost.load(ordering: .relaxed) }

    /// Adds a call, which is written within the interval.
    func append(_ call: RecordedCall) {
        let line = ReportWriter.line(call, fingerprint: call.handle.map(Self.fingerprint(of:)))
        let hasRoom = pending.withLock { lines in
            guard lines.count < Self.maximumPendingByteCount else { return false }
            lines += line
            return true
        }
        if !hasRoom { lose(1, reason: "it is written too slowly") }
    }

    /// Hands the lines added so far to the system.
    func flush() {
        let failure: (count: Int, reason: String)? = output.withLock { output in
            let lines = pending.withLock { lines in
                defer { lines = [] }
                return lines
            }
            guard !lines.isEmpty else { return nil }
            let start = output.isInsideLine ? [UInt8(ascii: "\n")] : []
            let bytes = start + lines
            let (written, error) = Self.write(bytes, to: output.descriptor)
            if written > 0 { output.isInsideLine = bytes[written - 1] != UInt8(ascii: "\n") }
            guard written < bytes.count else { return nil }
            let missing = bytes[max(written, start.count)...].count { $0 == UInt8(ascii: "\n") }
            return (missing, String(cString: strerror(error)))
        }
        if let failure { lose(failure.count, reason: failure.reason) }
    }

    private func lose(_ count: Int, reason: String) {
        lost.add(count, ordering: .relaxed)
        guard !hasComplained.exchange(true, ordering: .relaxed) else { return }
        complain("the journal '\(path)' cannot be written, calls are missing in it: \(reason)")
    }

    /// The first 16 hexadecimal digits of a handle's SHA-256: equal for equal handles, and no way back.
    static func fingerprint(of handle: String) -> String {
        String(decoding: SHA256.hexadecimalDigest(of: Array(handle.utf8)).prefix(16), as: UTF8.self)
    }

    private static func endsInsideLine(_ descriptor: Int32) -> Bool {
        let size = lseek(descriptor, 0, SEEK_END)
        var last = UInt8(ascii: "\n")
        return size > 0 && pread(descriptor, &last, 1, size - 1) == 1 && last != UInt8(ascii: "\n")
    }

    /// Writes as much as the system takes.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> (written: Int, error: Int32) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (written, count < 0 ? errno : ENOSPC) }
            written += count
        }
        return (written, 0)
    }
}
