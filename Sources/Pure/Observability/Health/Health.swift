import Synchronization

/// Knows whether the process lives, has started, and can do its job, and if not, why.
///
/// Checks are declared when the program is put together and then set by their owners. Safe from every thread. Time is monotonic
/// and comes in as an argument, in nanoseconds.
public final class Health: Sendable {
    /// Protects all checks. No other lock is taken while it is held.
    private let state = Mutex(State())

    private struct Entry: Sendable {
        let name: String
        let probe: HealthProbe
        var reason: String?
        var note: String?
        var lack: String?
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var heartbeats: [Heartbeat] = []
        var isDraining = false
    }

    /// Starts without checks: alive, started, ready.
    public init() {}

    /// Declares a check, which fails until it is passed.
    ///
    /// - Parameters:
    ///   - name: The subject of the check, as one word such as `consumer_group`.
    ///   - probe: `ready` or `startup`. Liveness has heartbeats only, so that nothing outside the process can have it restarted.
    ///   - reason: The reason for which it does not pass yet.
    /// - Returns: The handle that sets the check.
    public func check(_ name: String, for probe: ConditionProbe, until reason: String) -> HealthCheck {
        let index = state.withLock { state in
            state.entries.append(Entry(name: name, probe: probe == .ready ? .ready : .startup, reason: reason))
            return state.entries.count - 1
        }
        return HealthCheck(health: self, index: index)
    }

    /// The probes that conditions may hold up.
    public enum ConditionProbe: Sendable {
        /// The check may pass and fail again.
        case ready
        /// The check stays passed once it was, for a start happens once.
        case startup
    }

    /// Declares a loop that must turn.
    ///
    /// - Parameters:
    ///   - name: The loop's name.
    ///   - limit: The longest time between two turns.
    ///   - now: Monotonic nanoseconds. Counts as the first turn.
    /// - Returns: The handle that the loop calls on each turn.
    public func heartbeat(_ name: String, limit: Duration, now: Int64) -> Heartbeat {
        let heartbeat = Heartbeat(name: name, limit: limit, now: now)
        state.withLock { $0.heartbeats.append(heartbeat) }
        return heartbeat
    }

    /// Makes the process not ready, for good: it finishes what is in flight and then ends.
    public func beginDraining() { state.withLock { $0.isDraining = true } }

    /// The state of every check of a probe. Readiness includes the start: a process that has not started is not ready. `now` is
    /// monotonic nanoseconds.
    public func report(_ probe: HealthProbe, now: Int64) -> HealthReport {
        let state = state.withLock { $0 }
        switch probe {
        case .live:
            return HealthReport(checks: state.heartbeats.map { .init(name: $0.name, reason: $0.failure(at: now)) })
        case .startup:
            return HealthReport(checks: state.entries.filter { $0.probe == .startup }.map(Self.shown))
        case .ready:
            let draining = HealthReport.Check(
                name: "accepting_work", reason: state.isDraining ? "the process is draining and will stop" : nil)
            return HealthReport(checks: [draining] + state.entries.map(Self.shown))
        }
    }

    fileprivate func set(_ index: Int, failing reason: String?) -> Bool {
        state.withLock { state in
            let entry = state.entries[index]
            if entry.probe == .startup && entry.reason == nil { return false }
            state.entries[index].reason = reason
            return (entry.reason == nil) != (reason == nil)
        }
    }

    fileprivate func note(_ text: String?, of index: Int) { state.withLock { $0.entries[index].note = text } }

    fileprivate func degrade(_ text: String?, of index: Int) { state.withLock { $0.entries[index].lack = text } }

    private static func shown(_ entry: Entry) -> HealthReport.Check {
        .init(name: entry.name, reason: entry.reason, note: entry.note, lack: entry.lack)
    }
}

/// Sets one check of a `Health`.
public struct HealthCheck: Sendable {
    fileprivate let health: Health
    fileprivate let index: Int

    /// Sets the check to passing. Returns whether it failed before, so that the change can be logged once.
    @discardableResult
    public func pass() -> Bool { health.set(index, failing: nil) }

    /// Sets the check to failing, with a reason.
    ///
    /// - Parameter reason: In plain words, without secrets: probes show it.
    /// - Returns: Whether the check passed before, so that the change can be logged once.
    @discardableResult
    public func fail(_ reason: String) -> Bool { health.set(index, failing: reason) }

    /// Sets what there is to say while the check passes, in plain words and without secrets: probes show it. Nil for nothing.
    public func note(_ text: String?) { health.note(text, of: index) }

    /// Sets what does not work while the check passes, in plain words and without secrets: probes show it, and answer 200 all the
    /// same. Nil for nothing.
    public func degrade(_ text: String?) { health.degrade(text, of: index) }
}

/// Shows that a loop still turns, by one relaxed store per turn.
public final class Heartbeat: Sendable {
    let name: String
    private let limit: Duration
    private let last: Atomic<Int64>

    init(name: String, limit: Duration, now: Int64) {
        self.name = name
        self.limit = limit
        self.last = Atomic(now)
    }

    /// Notes a turn of the loop at so many monotonic nanoseconds.
    public func noteTurn(at now: Int64) { last.store(now, ordering: .relaxed) }

    func failure(at now: Int64) -> String? {
        let (elapsed, overflow) = now.subtractingReportingOverflow(last.load(ordering: .relaxed))
        let idle = Duration.nanoseconds(overflow ? Int64.max : elapsed)
        guard idle > limit else { return nil }
        return "has not turned for \(idle.components.seconds) s"
    }
}
