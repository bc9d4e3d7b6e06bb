import Glibc
import Synchronization

/// One gateway: a name, its ports, and the process that runs under it at the moment.
final class GatewayProcess: Sendable {
    private struct State {
        var child: ChildProcess?
        var startCount = 0
        var killCount = 0
        /// Processes that ended by themselves, or otherwise than with exit code 0 after they were asked to stop.
        var wrongEnds: [String] = []
    }

    let name: String
    /// Where it serves back ends.
    let port: UInt16
    private let probePort: UInt16
    private let program: String
    private let log: String
    private let environment: [String: String]
    private let state = Mutex(State())

    init(_ name: String, program: String, folder: String, environment: [String: String]) throws {
        self.name = name
        self.program = program
        log = "\(folder)/\(name).log"
        port = try Ports.free()
        probePort = try Ports.free()
        var environment = environment
        environment["PUSHFAN_GATEWAY_LISTEN"] = "127.0.0.1:\(port)"
        environment["PUSHFAN_LISTEN"] = "127.0.0.1:\(probePort)"
        self.environment = environment
    }

    /// Starts the process. The count goes up first, so that whoever is connected knows which start that is.
    func start() throws {
        state.withLock { $0.startCount += 1 }
        let child = try ChildProcess(name, [program, "gateway"], environment: environment, log: log)
        state.withLock { $0.child = child }
    }

    /// Its name and the number of its last start. A connection that answers and was made before this was asked is one to that start.
    var run: String { state.withLock { "\(name)#\($0.startCount)" } }

    /// Whether it says that it can work.
    var isReady: Bool { HTTPProbe.ask(port: probePort, "/readyz")?.status == 200 }

    /// The most memory that the process has had so far, bytes; nil while none runs.
    var peakMemory: Int? { state.withLock { $0.child }?.peakMemory }

    /// Kills the process with SIGKILL, unless it has ended.
    func kill() {
        guard let child = running else { return }
        child.signal(SIGKILL)
        _ = child.wait(within: .seconds(10))
        state.withLock { $0.killCount += 1 }
    }

    /// Asks the process to stop, and waits until it has.
    func stop(within limit: Duration = .seconds(30)) {
        guard let child = running else { return }
        child.signal(SIGTERM)
        let ending = child.wait(within: limit)
        if ending == nil { child.end() }
        guard ending != .exited(0) else { return }
        let text = ending.map { "\($0)" } ?? "still running after \(limit)"
        state.withLock { $0.wrongEnds.append("\(name): \(text)") }
    }

    /// Ends the process in any way; for cleaning up.
    func end() { state.withLock { $0.child }?.end() }

    /// How often it was killed.
    var killCount: Int { state.withLock { $0.killCount } }

    /// How it ended where it should not have.
    var wrongEnds: [String] { state.withLock { $0.wrongEnds } }

    /// The process; nil when it has ended. One that has ended by itself is remembered.
    private var running: ChildProcess? {
        guard let child = state.withLock({ $0.child }) else { return nil }
        guard let ending = child.result else { return child }
        state.withLock { state in
            state.child = nil
            state.wrongEnds.append("\(name): \(ending)")
        }
        return nil
    }
}
