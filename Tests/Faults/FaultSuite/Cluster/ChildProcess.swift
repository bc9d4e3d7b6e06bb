import Foundation
import Glibc
import Synchronization

/// A process that the suite started, with its output in a file. It never outlives the suite.
final class ChildProcess: Sendable {
    /// How a process ended.
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    let name: String
    let pid: pid_t
    /// Its ending, once it was collected. Held while waiting, so that no signal reaches a process that took over the number.
    private let ending = Mutex<Ending?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: Its name in messages.
    ///   - command: The program's path and its arguments.
    ///   - environment: Its whole environment.
    ///   - log: The file that its output is added to.
    /// - Throws: `SuiteError.system`.
    init(_ name: String, _ command: [String], environment: [String: String], log: String) throws {
        self.name = name
        pid = try Self.spawn(command, environment: environment, output: log, log: log)
        Housekeeping.shared.add(self)
    }

    /// Runs a program to its end.
    ///
    /// - Throws: `SuiteError.failed` unless it ends with exit code 0 in time.
    static func run(
        _ name: String, _ command: [String], environment: [String: String], log: String, within limit: Duration
    ) throws {
        let child = try ChildProcess(name, command, environment: environment, log: log)
        guard let ending = child.wait(within: limit) else {
            child.end()
            throw SuiteError.late("\(name) (\(log))")
        }
        guard ending == .exited(0) else { throw SuiteError.failed("\(name) ended with \(ending); see \(log)") }
    }

    /// Sends a signal; nothing happens when the process has ended.
    func signal(_ number: Int32) {
        ending.withLock { if collect(&$0) == nil { kill(pid, number) } }
    }

    /// How the process ended; nil while it runs.
    var result: Ending? { ending.withLock { collect(&$0) } }

    /// The most memory that the process has had so far, bytes (proc(5), `/proc/PID/status`, VmHWM); nil when it has ended.
    var peakMemory: Int? {
        guard result == nil, let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first
        else { return nil }
        return Int(kilobytes).map { $0 * 1024 }
    }

    /// Waits for the end.
    func wait(within limit: Duration) -> Ending? {
        let deadline = ContinuousClock.now + limit
        while result == nil && ContinuousClock.now < deadline { Clock.pause(.milliseconds(10)) }
        return result
    }

    /// Kills the process if it still runs.
    func end() {
        signal(SIGCONT)
        signal(SIGKILL)
        _ = wait(within: .seconds(10))
    }

    private func collect(_ known: inout Ending?) -> Ending? {
        if known != nil { return known }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        let number = status & 0x7f
        known = number == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: number)
        Housekeeping.shared.remove(self)
        return known
    }

    private static func spawn(
        _ command: [String], environment: [String: String], output: String, log: String
    ) throws -> pid_t {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&files, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&files, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The suite takes its signals on a thread of its own; its children must not inherit that they are blocked.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A group of its own, so that a Ctrl-C on the terminal reaches the suite alone, which then ends its children in order.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for text in arguments + variables { free(text) }
        }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &files, &attributes, &arguments, &variables)
        guard code == 0 else { throw SuiteError.system("starting \(command[0])", code) }
        return pid
    }
}
