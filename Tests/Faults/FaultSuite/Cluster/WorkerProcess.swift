import FaultOracle
import Glibc
import Synchronization

/// One worker: a name, and the process that runs under it at the moment.
final class WorkerProcess: Sendable {
    private struct State {
        var child: ChildProcess?
        var startedAt: Int64 = 0
        var disturbances: [Disturbance] = []
        /// Set while the process is expected to end.
        var isEnding = false
        var crashes: [String] = []
        var uncleanExits: [String] = []
        var startCount = 0
    }

    let name: String
    private let program: String
    private let log: String
    private let port: UInt16
    private let environment: [String: String]
    /// Protects what is known of the process; one thread at a time acts on a worker.
    private let state = Mutex(State())

    init(_ name: String, program: String, folder: String, environment: [String: String]) throws {
        self.name = name
        self.program = program
        log = "\(folder)/\(name).log"
        port = try Ports.free()
        var environment = environment
        environment["PUSHFAN_WORKER_ID"] = name
        environment["PUSHFAN_LISTEN"] = "127.0.0.1:\(port)"
        self.environment = environment
    }

    /// Starts the process, with some more variables for this one run.
    func start(_ more: [String: String] = [:]) throws {
        let environment = environment.merging(more) { $1 }
        let child = try ChildProcess(name, [program, "worker"], environment: environment, log: log)
        state.withLock { state in
            state.child = child
            state.startedAt = Clock.now()
            state.isEnding = false
            state.startCount += 1
        }
    }

    /// Whether the process runs.
    var isRunning: Bool { state.withLock { $0.child }.map { $0.result == nil } ?? false }

    /// The most memory that the process has had so far, bytes; nil while none runs.
    var peakMemory: Int? { state.withLock { $0.child }?.peakMemory }

    /// How the last process ended; nil while it runs.
    var ending: ChildProcess.Ending? { state.withLock { $0.child }?.result }

    /// Whether the worker says that it can work.
    var isReady: Bool { HTTPProbe.ask(port: port, "/readyz")?.status == 200 }

    /// Whether it is in its group and can write results, however its hub is; then it takes signals.
    var hasBegun: Bool {
        HTTPProbe.ask(port: port, "/readyz?verbose").map { $0.body.contains("ok group") && $0.body.contains("ok producer") }
            ?? false
    }

    /// Whether the worker says that it leaves partitions to another version.
    var leavesPartitions: Bool { HTTPProbe.ask(port: port, "/readyz")?.body.contains("this worker leaves it") ?? false }

    /// A metric's value, its series added up; nil when the worker does not answer.
    func metric(_ name: String) -> Double? {
        guard let text = HTTPProbe.ask(port: port, "/metrics")?.body else { return nil }
        var sum = 0.0
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            guard let next = line.dropFirst(name.count).first, next == " " || next == "{" else { continue }
            sum += line.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        return sum
    }

    /// Kills the process with SIGKILL.
    func kill() {
        guard let child = child(for: .kill) else { return }
        child.signal(SIGKILL)
        _ = child.wait(within: .seconds(10))
        update { $0.until = Clock.now() }
    }

    /// Waits for a process that kills itself, and counts it as a kill.
    ///
    /// - Throws: It did not in time.
    func waitForSuicide(within limit: Duration) throws {
        guard let child = state.withLock({ $0.child }) else { return }
        guard child.wait(within: limit) == .killed(signal: SIGKILL) else {
            throw SuiteError.late("\(name) was to kill itself, and did not")
        }
        note(.kill)
    }

    /// Starts the process, and waits until it has killed itself at a failpoint.
    ///
    /// - Throws: It could not be started, or did not get there within 40 s.
    func startAndDie(at failpoint: String) throws {
        try start(["PUSHFAN_TEST_FAILPOINT": failpoint])
        try waitForSuicide(within: .seconds(40))
    }

    /// Stops the process as a debugger would, and lets it go on later.
    func freeze() { child(for: .freeze)?.signal(SIGSTOP) }

    /// Lets a frozen process go on.
    ///
    /// - Parameter grace: How long it may take to learn that others have its work.
    func thaw(grace: Duration = .seconds(3)) {
        state.withLock { $0.isEnding = false }
        state.withLock { $0.child }?.signal(SIGCONT)
        update { $0.until = Clock.now() + grace.components.seconds * 1000 }
    }

    /// Asks the process to read its settings again; one that has only begun reads them anyway, and may not take signals yet.
    func reload() { if hasBegun { state.withLock { $0.child }?.signal(SIGHUP) } }

    /// Asks the process to stop.
    func terminate() { child(for: .drain)?.signal(SIGTERM) }

    /// Asks the process to stop and waits until it has; another exit code than 0 is remembered.
    func stop(within limit: Duration = .seconds(45)) {
        terminate()
        waitForStop(within: limit)
    }

    /// Takes down that the worker cannot reach the broker from now on.
    func noteOutage() {
        state.withLock { state in
            state.disturbances.append(
                Disturbance(.outage, worker: name, startedAt: state.startedAt, at: Clock.now(), until: .max))
        }
    }

    /// Takes down that the outage which began last is surely there.
    func noteOutageDone() {
        state.withLock { state in
            guard let index = state.disturbances.lastIndex(where: { $0.kind == .outage }) else { return }
            state.disturbances[index].doneAt = Clock.now()
        }
    }

    /// Takes down that the worker can reach the broker again.
    ///
    /// A client counts its session from the last answer of the coordinator. When that runs out just after the broker is back, the
    /// worker has begun calls anew, and loses them with its partitions.
    ///
    /// - Parameter grace: How long it may take to be in touch with the coordinator.
    func noteOutageEnd(grace: Duration = .seconds(3)) {
        let until = Clock.now() + grace.components.seconds * 1000
        state.withLock { state in
            for index in state.disturbances.indices where state.disturbances[index].kind == .outage {
                state.disturbances[index].until = min(state.disturbances[index].until, until)
            }
        }
    }

    /// Waits until a process that was asked to stop has stopped.
    func waitForStop(within limit: Duration = .seconds(45)) {
        guard let child = state.withLock({ $0.child }) else { return }
        let ending = child.wait(within: limit)
        if ending == nil { child.end() }
        guard ending != .exited(0) else { return }
        state.withLock { state in
            state.uncleanExits.append("\(name): \(ending.map { "\($0)" } ?? "still running after \(limit)")")
        }
    }

    /// Ends the process in any way; for cleaning up.
    func end() {
        state.withLock { $0.isEnding = true }
        state.withLock { $0.child }?.end()
    }

    /// Takes note when the process ended by itself; true when it did.
    func noteCrash() -> Bool {
        state.withLock { state in
            guard let ending = state.child?.result, !state.isEnding else { return false }
            state.crashes.append("\(name): \(ending)")
            state.isEnding = true
            return true
        }
    }

    /// What was done to it, and how it took it.
    var record: (disturbances: [Disturbance], crashes: [String], uncleanExits: [String]) {
        state.withLock { ($0.disturbances, $0.crashes, $0.uncleanExits) }
    }

    private func child(for kind: Disturbance.Kind) -> ChildProcess? {
        guard let child = state.withLock({ $0.child }), child.result == nil else { return nil }
        note(kind)
        return child
    }

    private func note(_ kind: Disturbance.Kind) {
        state.withLock { state in
            state.isEnding = true
            state.disturbances.append(Disturbance(kind, worker: name, startedAt: state.startedAt, at: Clock.now()))
        }
    }

    private func update(_ change: (inout Disturbance) -> Void) {
        state.withLock { state in
            guard let last = state.disturbances.indices.last else { return }
            change(&state.disturbances[last])
        }
    }
}
