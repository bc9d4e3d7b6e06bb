import Basics
import Observability

/// The service's report to its probes. Live: the loop turns. Ready: the file is read, results are read, the group has divided them, and it
/// is known who is paused.
final class CallbackHealth {
    /// The standing of the service at a moment.
    struct Standing {
        /// True if the topic of results is read.
        var areResultsRead: Bool
        /// The last problem with reading it, in words, or nil.
        var readingProblem: String?
        /// True if the group has divided the partitions.
        var isShared: Bool
        /// The last problem with the group, in words, or nil.
        var groupProblem: String?
        /// True if it is known who is paused.
        var areStatesKnown: Bool
        /// The reason for which dead letters cannot be written, in words, or nil.
        var letterProblem: String?
    }

    private let loop: Heartbeat
    private let receivers: HealthCheck
    private let results: HealthCheck
    private let group: HealthCheck
    private let states: HealthCheck
    private let deadLetters: HealthCheck
    private let log: Log
    private var shownProblem: String?

    init(_ health: Health, log: Log, now: MonotonicTime) {
        self.log = log
        loop = health.heartbeat("loop", limit: .seconds(10), now: now.nanoseconds)
        receivers = health.check("receivers", for: .ready, until: "the file of receivers is not read yet")
        results = health.check("results", for: .ready, until: "the topic of results is not read yet")
        group = health.check("group", for: .ready, until: "not a member of the consumer group yet")
        states = health.check("states", for: .ready, until: "it is not known yet who is paused")
        deadLetters = health.check("deadletters", for: .ready, until: "the service has only begun")
        deadLetters.pass()
    }

    /// Notes a turn of the loop.
    func noteTurn(at now: MonotonicTime) { loop.noteTurn(at: now.nanoseconds) }

    /// Notes that the file was read.
    func read(count: Int) {
        set(receivers, named: "receivers", failing: nil)
        receivers.note(count == 1 ? "1 receiver" : "\(count) receivers")
    }

    /// Shows how things stand.
    func show(_ standing: Standing) {
        set(
            results, named: "results",
            failing: standing.areResultsRead ? nil : standing.readingProblem ?? "the topic of results is not read yet")
        results.degrade(standing.readingProblem)
        set(
            group, named: "group",
            failing: standing.isShared ? nil : standing.groupProblem ?? "not a member of the consumer group yet")
        group.degrade(standing.groupProblem)
        set(states, named: "states", failing: standing.areStatesKnown ? nil : "it is not known yet who is paused")
        // Results are read and called all the same.
        deadLetters.degrade(standing.letterProblem)
        let problem = standing.readingProblem ?? standing.groupProblem
        guard problem != shownProblem else { return }
        shownProblem = problem
        if let problem {
            log.warning(.kafkaError, "results cannot be read, or not be divided, at present", [.reason: .string(problem)])
        } else {
            log.info(.brokerConnection, "results are read and divided again")
        }
    }

    private func set(_ check: HealthCheck, named name: String, failing reason: String?) {
        if let reason {
            guard check.fail(reason) else { return }
            log.warning(.healthChanged, "a health check fails", [.check: .string(name), .reason: .string(reason)])
        } else if check.pass() {
            log.info(.healthChanged, "a health check passes", [.check: .string(name)])
        }
    }
}
