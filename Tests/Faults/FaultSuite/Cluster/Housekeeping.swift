import Foundation
import Glibc
import Synchronization

/// What must be ended in every way out: processes of ours, and brokers, which their script has made nobody's.
final class Housekeeping: Sendable {
    static let shared = Housekeeping()

    private struct State {
        var children: [pid_t: ChildProcess] = [:]
        var brokers: Set<String> = []
        var mounts: Set<String> = []
    }

    private let state = Mutex(State())

    private init() {}

    func add(_ child: ChildProcess) { state.withLock { $0.children[child.pid] = child } }

    func remove(_ child: ChildProcess) { state.withLock { $0.children[child.pid] = nil } }

    /// Remembers the broker in `folder`.
    func add(broker folder: String) { state.withLock { _ = $0.brokers.insert(folder) } }

    func remove(broker folder: String) { state.withLock { _ = $0.brokers.remove(folder) } }

    /// Remembers a file system that was mounted at `folder`.
    func add(mount folder: String) { state.withLock { _ = $0.mounts.insert(folder) } }

    /// Unmounts what was mounted at `folder`.
    func unmount(_ folder: String) {
        state.withLock { _ = $0.mounts.remove(folder) }
        umount2(folder, Int32(MNT_DETACH))
    }

    /// Ends everything, at once.
    func endAll() {
        let (children, brokers, mounts) = state.withLock { state in
            defer { state = State() }
            return (Array(state.children.values), state.brokers, state.mounts)
        }
        for child in children { kill(child.pid, SIGKILL) }
        for folder in brokers { Self.killNodes(folder) }
        for folder in mounts { unmount(folder) }
    }

    /// Kills the brokers that the pid files of a folder name, and no process that got such a number later.
    private static func killNodes(_ folder: String) {
        for node in 1...3 {
            let path = "\(folder)/node-\(node)/pid"
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 1,
                let command = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline"),
                String(decoding: command, as: UTF8.self).contains("\(folder)/node-\(node)/")
            else { continue }
            kill(pid, SIGKILL)
        }
    }

    /// Ends everything when the suite is interrupted. To be called before any other thread is started.
    func catchSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        let awaited = signals
        let thread = Thread { [self] in
            var signals = awaited
            var number: Int32 = 0
            sigwait(&signals, &number)
            endAll()
            _exit(128 + number)
        }
        thread.name = "faults-signals"
        thread.start()
    }
}
