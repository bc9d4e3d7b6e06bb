import Console
import Foundation
import Glibc

/// A command of this program that serves, such as `pushfan worker`, as a process of its own.
///
/// It is killed when the thread that has started it ends, however that comes (PR_SET_PDEATHSIG, prctl(2)). So the main thread starts it.
final class DemoProcess {
    private let command: String
    private let process = Process()
    /// Its output goes to a file that has no name any more, so nothing of it is left.
    private let log: FileHandle

    /// Starts a command with this as its whole environment.
    init(_ command: String, environment: [String: String]) throws {
        self.command = command
        let path = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString).log"
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let log = FileHandle(forUpdatingAtPath: path)
        else { throw CommandFailure(.failed, "no file can be made in \(NSTemporaryDirectory())") }
        self.log = log
        try FileManager.default.removeItem(atPath: path)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "KILL", program, command]
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.run()
    }

    deinit { kill() }

    var pid: Int32 { process.processIdentifier }

    /// Waits until its log has a text. Throws if it has ended before, or it takes too long.
    func wait(until text: String) throws {
        try DemoPatience.wait(for: "pushfan \(command)") {
            let said = said
            if said.contains(text) { return nil }
            guard process.isRunning else { throw CommandFailure(.failed, "pushfan \(command) has ended: \(Self.end(of: said))") }
            return Self.end(of: said)
        }
    }

    /// Kills it with SIGKILL, and waits for its end. A second call does nothing.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The first 64 KiB of its log. The process writes where this handle stands, so it must not be moved.
    private var said: String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = pread(log.fileDescriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func end(of said: String) -> String { said.split(separator: "\n").last.map(String.init) ?? "it says nothing" }
}
