import Basics
import Observability

/// The service's report to its probes. Live: the loop turns. Ready: the file is read, results are read, and the group has divided them.
final class CallbackHealth {
    private let loop: Heartbeat
    private let receivers: HealthCheck
    private let results: HealthCheck
    private let group: HealthCheck
    private let decisions: HealthCheck

    init(_ health: Health, now: MonotonicTime) {
        loop = health.heartbeat("loop", limit: .seconds(10), now: now.nanoseconds)
        receivers = health.check("receivers", for: .ready, until: "the file of receivers is not read yet")
        results = health.check("results", for: .ready, until: "the topic of results is not read yet")
        group = health.check("group", for: .ready, until: "not a member of the consumer group yet")
        decisions = health.check("states", for: .ready, until: "it is not known yet who is paused")
    }

    /// Notes a turn of the loop.
    func noteTurn(at now: MonotonicTime) { loop.noteTurn(at: now.nanoseconds) }

    /// Notes that the file was read.
    func read(count: Int) {
        receivers.pass()
        receivers.note(count == 1 ? "1 receiver" : "\(count) receivers")
    }

    /// Shows how things stand.
    ///
    /// - Parameters:
    ///   - areResultsRead: Whether the topic of results is read.
    ///   - lack: The last problem with reading it, in words, or nil.
    ///   - isShared: Whether the group has divided the partitions.
    ///   - problem: The last problem with the group, in words, or nil.
    ///   - areStatesKnown: Whether it is known who is paused.
    func show(areResultsRead: Bool, lack: String?, isShared: Bool, problem: String?, areStatesKnown: Bool) {
        if areResultsRead { results.pass() } else { results.fail(lack ?? "the topic of results is not read yet") }
        results.degrade(lack)
        if isShared { group.pass() } else { group.fail(problem ?? "not a member of the consumer group yet") }
        group.degrade(problem)
        if areStatesKnown { decisions.pass() } else { decisions.fail("it is not known yet who is paused") }
    }
}
