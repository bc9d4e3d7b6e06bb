import Foundation
import Glibc
import TestSupport
import Testing

/// The program `pushfan` that was built beside these tests, as a process of its own. What it says goes to a file.
///
/// It is killed when the thread that has started it ends, however that comes (PR_SET_PDEATHSIG, prctl(2)). So a test starts it in the
/// thread in which it runs.
final class PushfanProcess {
    private let process = Process()
    private let log: URL

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - command: The command, such as `worker`.
    ///   - environment: Its whole environment.
    /// - Throws: It cannot be started.
    convenience init(_ command: String, _ environment: [String: String]) throws { try self.init([command], environment) }

    /// Runs a command to its end. Returns its exit status and what it has said.
    static func run(_ arguments: [String], _ environment: [String: String]) throws -> (status: Int32, said: String) {
        let process = try PushfanProcess(arguments, environment)
        let hasEnded = eventually { !process.process.isRunning }
        try #require(hasEnded, "\(process.said)")
        return (process.process.terminationStatus, process.said)
    }

    private init(_ arguments: [String], _ environment: [String: String]) throws {
        let command = arguments[0]
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("pushfan-\(command)-\(UUID().uuidString).log")
        let isMade = FileManager.default.createFile(atPath: log.path, contents: nil, attributes: [.posixPermissions: 0o600])
        try #require(isMade)
        self.log = log
        let output = try FileHandle(forWritingTo: log)
        let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let program = tests.deletingLastPathComponent().appendingPathComponent("pushfan").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "KILL", program] + arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        // A process begins with the signal mask of the thread that starts it, and Dispatch's threads block this signal.
        var (stopping, before) = (sigset_t(), sigset_t())
        sigemptyset(&stopping)
        sigaddset(&stopping, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &stopping, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: log)
    }

    /// What it has said so far.
    var said: String { (try? String(decoding: Data(contentsOf: log), as: UTF8.self)) ?? "" }

    /// The port in the first line of its log that has some words; waits for that line.
    ///
    /// - Throws: It has ended before.
    func port(where words: String) throws -> Int {
        var port: Int?
        _ = eventually {
            let hasEnded = !process.isRunning
            let line = said.split(separator: "\n").first { $0.contains(words) && $0.hasSuffix("}") }
            let digits = line?.split(separator: #""address":"127.0.0.1:"#).dropFirst().first?.prefix { $0.isNumber }
            port = digits.flatMap { Int($0) }
            return port != nil || hasEnded
        }
        return try #require(port, "\(said)")
    }

    /// Kills it with SIGKILL, and waits for its end; a second time does nothing.
    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Asks it to stop with SIGTERM, and waits for its end; once.
    ///
    /// - Throws: It has not ended, or not with exit status 0.
    func stop() throws {
        process.terminate()
        let hasEnded = eventually { !process.isRunning }
        try #require(hasEnded, "\(said)")
        try #require(process.terminationReason == .exit && process.terminationStatus == 0, "\(said)")
    }
}
