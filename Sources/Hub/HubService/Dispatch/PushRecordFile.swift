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
        /// The file ends inside a line: it was cut by a kill or by a full disk.
        var isInsideLine: Bool
        var hasComplained = false
    }

    private let complain: @Sendable (String) -> Void
    /// Protects the file, also while it is written.
    private let output: Mutex<Output>
    private let lost = Atomic<Int>(0)

    /// Opens the file, or makes it. Its content stays, and its owner alone may read it.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - complain: Gets a sentence at the first write that fails.
    /// - Throws: `Unopened`.
    package init(path: String, complain: @escaping @Sendable (String) -> Void) throws(Unopened) {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unopened(path: path, reason: String(cString: strerror(errno))) }
        self.complain = complain
        output = Mutex(Output(descriptor: descriptor, isInsideLine: Self.endsInsideLine(descriptor)))
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
            output.isInsideLine = !FileDescriptor.write(bytes, to: output.descriptor)
            guard output.isInsideLine else { return nil }
            let reason = String(cString: strerror(errno))
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

    private static func endsInsideLine(_ descriptor: Int32) -> Bool {
        let size = lseek(descriptor, 0, SEEK_END)
        var last = UInt8(ascii: "\n")
        return size > 0 && pread(descriptor, &last, 1, size - 1) == 1 && last != UInt8(ascii: "\n")
    }
}
