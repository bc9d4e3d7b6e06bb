import Basics
import EventLoop
import Glibc
import HubServer
import PushModel
import Synchronization

/// A file with a line of JSON for each recorded push.
///
/// The lines of pushes are with the system before the pushes have an outcome: a killed process has recorded all that its journal says. A
/// file that cannot be written is reported once. The pushes go on.
package final class PushRecordFile: Sendable {
    /// A file that cannot be opened.
    package struct Unopened: Error, Equatable, CustomStringConvertible {
        package let path: String
        package let reason: String

        package var description: String { "The file '\(path)' for the record of pushes cannot be opened: \(reason)." }
    }

    private struct Output {
        let descriptor: Int32
        /// The file ends inside a line that could not be taken back.
        var isInsideLine: Bool
        var hasComplained = false
    }

    /// The beginning of each line.
    private static let lineStart = Array(#"{"push":""#.utf8)
    /// The most bytes of a line that a kill has cut.
    private static let longestLine = 64 << 10

    private let complain: @Sendable (String) -> Void
    /// Protects the file, also while it is written.
    private let output: Mutex<Output>
    private let lost = Atomic<Int>(0)

    /// Opens the file, or makes it. Its lines stay, but for a last one of its own that a kill has cut: that push had no outcome yet. Its
    /// owner alone may read it.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - complain: Gets a sentence at the first write that fails.
    /// - Throws: `Unopened`.
    package init(path: String, complain: @escaping @Sendable (String) -> Void) throws(Unopened) {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unopened(path: path, reason: String(cString: strerror(errno))) }
        self.complain = complain
        output = Mutex(Output(descriptor: descriptor, isInsideLine: !Self.endsWithLine(descriptor)))
    }

    deinit { output.withLock { _ = close($0.descriptor) } }

    /// The pushes that could not be written.
    package var lostCount: Int { lost.load(ordering: .relaxed) }

    /// Writes a line for each push.
    func append(_ pushes: [RecordedPush]) {
        guard !pushes.isEmpty else { return }
        var lines: [UInt8] = []
        for push in pushes { lines += Self.line(push) }
        let reason: String? = output.withLock { output in
            let bytes = output.isInsideLine ? [UInt8(ascii: "\n")] + lines : lines
            let size = lseek(output.descriptor, 0, SEEK_END)
            output.isInsideLine = !FileDescriptor.write(bytes, to: output.descriptor)
            guard output.isInsideLine else { return nil }
            let reason = String(cString: strerror(errno))
            output.isInsideLine = size < 0 || ftruncate(output.descriptor, size) != 0
            lost.add(pushes.count, ordering: .relaxed)
            defer { output.hasComplained = true }
            return output.hasComplained ? nil : reason
        }
        if let reason { complain("The record of pushes cannot be written, and pushes are missing in it: \(reason).") }
    }

    /// A push without its content. A fingerprint stands for the handle: equal for equal handles, and no way back.
    private static func line(_ push: RecordedPush) -> [UInt8] {
        let delivery = push.delivery
        let object = JSONObject([
            "push": push.id, "notification": push.message.id, "at": Int(push.at), "platform": delivery.device.platform.format,
            "handle": String(decoding: SHA256.hexadecimalDigest(of: Array(delivery.handle.utf8)).prefix(16), as: UTF8.self),
            "template": delivery.template, "installation": delivery.installationID,
        ])
        return object.bytes + [UInt8(ascii: "\n")]
    }

    /// Cuts a last line off that is not whole, if it is one of these. Returns true if the file ends with a line then.
    private static func endsWithLine(_ descriptor: Int32) -> Bool {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0 else { return true }
        var tail = [UInt8](repeating: 0, count: min(size, longestLine))
        guard pread(descriptor, &tail, tail.count, off_t(size - tail.count)) == tail.count else { return false }
        let last = tail[(tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)...]
        guard !last.isEmpty else { return true }
        guard last.count < tail.count || tail.count == size, last.starts(with: lineStart) || lineStart.starts(with: last) else {
            return false
        }
        return ftruncate(descriptor, off_t(size - last.count)) == 0
    }
}
