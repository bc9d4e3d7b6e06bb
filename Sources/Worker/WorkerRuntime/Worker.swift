import CurlHTTP
import EventLoop
import Foundation
import HubREST
import Kafka
import Observability
import Synchronization

/// Takes requests from Kafka, sends them through the hub and records one final result for each.
///
/// It has one loop or several. Loops share nothing but metrics, log and health: each is a member of the group like another worker.
public final class Worker: Sendable {
    private let configuration: WorkerConfiguration
    private let services: WorkerServices
    private let controls: [WorkerControl]
    /// Passes once every loop has its own checks, which do not pass before there is a reason.
    private let start: HealthCheck
    private let begunCount = Atomic<Int>(0)

    /// A worker that has not started. Throws `WorkerFailure.system` when the system refuses a descriptor.
    public init(_ configuration: WorkerConfiguration, services: WorkerServices) throws(WorkerFailure) {
        self.configuration = configuration
        self.services = services
        start = services.health.check("start", for: .ready, until: "not started yet")
        do {
            controls = try (0..<max(1, configuration.loops)).map { _ in WorkerControl(wakeUp: try WakeUp()) }
        } catch {
            throw .system("\(error)")
        }
    }

    /// Asks the worker to finish what is in flight, commit and leave. A second time hastens it. Safe from any thread.
    public func stop() {
        for control in controls { control.stop() }
    }

    /// Has the loops look at once for what has changed. Safe from any thread.
    public func wake() {
        for control in controls { control.wakeUp.signal() }
    }

    /// Changes the hubs, the spreads and the ways to them, while the worker runs. Everything else stays as it was. Safe from any
    /// thread.
    ///
    /// - Parameter new: What the settings say now.
    /// - Throws: Why a hub of it cannot be used; then nothing is changed.
    public func reload(_ new: WorkerConfiguration) throws(WorkerFailure) {
        do {
            let poller = try Poller()
            for hub in new.hubs {
                try ConnectionPool(hub.connections, poller: poller, tokenBase: 0).close()
                _ = try HubClient(hub.hub, userAgent: "pushfan/\(new.version)")
            }
        } catch {
            throw .system("\(error)")
        }
        for control in controls { control.reload(new) }
    }

    /// Works on the calling thread, and one more for each further loop, until `stop` was called and everything is committed.
    ///
    /// - Throws: What kept a loop from going on, or from committing everything in time; the others have stopped then too.
    public func run() throws {
        let gauges = LoopGauges(
            services.metrics, topics: configuration.topics, loops: controls.count)
        guard controls.count > 1 else { return try run(0, gauges: gauges) }
        let failure = Mutex<(any Error)?>(nil)
        let others = DispatchGroup()
        for index in controls.indices.dropFirst() {
            others.enter()
            let thread = Thread { [self] in
                runOrStopAll(index, gauges: gauges, failure: failure)
                others.leave()
            }
            thread.name = "pushfan-loop-\(index + 1)"
            thread.start()
        }
        runOrStopAll(0, gauges: gauges, failure: failure)
        others.wait()
        if let error = failure.withLock(\.self) { throw error }
    }

    /// Runs a loop. The first that cannot go on takes the others with it, so that whoever supervises the process sees it.
    private func runOrStopAll(_ index: Int, gauges: LoopGauges, failure: borrowing Mutex<(any Error)?>) {
        do {
            try run(index, gauges: gauges)
        } catch {
            failure.withLock { $0 = $0 ?? error }
            stop()
        }
    }

    private func run(_ index: Int, gauges: LoopGauges) throws {
        var configuration = configuration
        let suffix = controls.count > 1 ? "-\(index + 1)" : ""
        if controls.count > 1 { configuration.loop = index + 1 }
        configuration.workerID += suffix
        let metrics = WorkerMetrics(services.metrics, gauges: gauges, loop: index)
        let health = WorkerHealth(services.health, log: services.log, now: services.clock.monotonic, suffix: suffix)
        if begunCount.wrappingAdd(1, ordering: .relaxed).newValue == controls.count { start.pass() }
        guard var keeper = NameKeeper(configuration, services: services, health: health, control: controls[index]) else {
            repeat {
                let end = try runLoop(configuration, metrics: metrics, health: health, control: controls[index])
                if let failure = end.failure, !end.isReopening { throw failure }
                controls[index].repeatReload()
            } while controls[index].request == .none
            return
        }
        guard keeper.awaitName() else { return }
        var hasServed = false
        while true {
            let end = try runLoop(configuration, metrics: metrics, health: health, control: controls[index])
            hasServed = hasServed || end.hasServed
            metrics.assignedPartitions.set(0)
            if !end.isReopening {
                guard let failure = end.failure else { return }
                guard case .fenced(let reason) = failure else { throw failure }
                try keeper.regain(after: reason, as: end.memberID, hasServed: hasServed)
            }
            controls[index].repeatReload()
        }
    }

    /// Runs a loop to its end. Returns why it could not go on, if it could not, whether it ever had a place in the group, its id there,
    /// and whether it has ended for another to begin with new properties of Kafka's clients. What that one has left uncommitted is
    /// redelivered to the other.
    private func runLoop(
        _ configuration: WorkerConfiguration, metrics: WorkerMetrics, health: WorkerHealth, control: WorkerControl
    ) throws -> (failure: WorkerFailure?, hasServed: Bool, memberID: String?, isReopening: Bool) {
        let loop = try WorkerLoop(
            configuration, counts: PartitionCounts.ask(configuration.kafka, topics: configuration.topics), services: services,
            metrics: metrics, health: health, control: control)
        defer { loop.close() }
        try loop.run()
        let isOrderly = if case .uncommitted? = loop.failure { true } else { loop.failure == nil }
        let memberID = (try? loop.consumer.group.metadata())?.memberID
        return (loop.failure, loop.epoch > 0, memberID, isOrderly && loop.consumer.isOutdated && control.request == .none)
    }
}
