import CurlHTTP
import EventLoop
import Foundation
import HubREST
import Kafka
public import Observability
import Synchronization

/// The reason that a worker could not go on.
public enum WorkerFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another worker runs under the same name, and had it from the start.
    case fenced(String)
    /// Another process has taken the worker's name over while it worked.
    case takenOver(String)
    /// Brokers took the worker for an outdated one, and it was asked to stop before it could join again.
    case interrupted(String)
    /// Another cluster answers at the address of the one that the worker has worked with.
    case otherCluster(String)
    /// The Kafka client has failed for good.
    case kafka(String)
    /// The brokers do not allow the worker's user to do what a worker does.
    case notAllowed(String)
    /// The Kafka client cannot work with these settings.
    case configuration(String)
    /// The drain timeout ended before this many results were committed. Their requests are redelivered.
    case uncommitted(Int)
    /// Something on this machine failed.
    case system(String)

    /// An account of what has happened and what to do, in plain words.
    public var description: String {
        switch self {
        case .fenced(let reason):
            "another process works under this worker's name: stop it, or give this one its own PUSHFAN_WORKER_ID (\(reason))"
        case .takenOver(let reason):
            "another process works under this worker's name: stop it, or give this one its own PUSHFAN_WORKER_ID; "
                + "started again, it waits until the other is gone (\(reason))"
        case .interrupted(let reason):
            "brokers took this worker for an outdated one, and it was asked to stop before it could join again; "
                + "requests without a result will be redelivered (\(reason))"
        case .otherCluster(let reason): "\(reason); started again, it goes by `kafka.start`, as at any first start"
        case .kafka(let reason): "the Kafka client has failed for good: \(reason)"
        case .notAllowed(let reason): "a right of this worker's user is missing (`pushfan doctor` says which): \(reason)"
        case .configuration(let reason): "the settings for Kafka cannot be used: \(reason)"
        case .uncommitted(let count):
            "drain timeout: "
                + (count == 1
                    ? "1 result not committed; its request will be redelivered"
                    : "\(count) results not committed; their requests will be redelivered")
        case .system(let reason): reason
        }
    }
}

extension WorkerFailure {
    /// The meaning of an error after which a client works no more.
    init(fatal error: KafkaError) {
        let reason = error.description
        self =
            error.isOtherCluster
            ? .otherCluster(reason)
            : error.isFenced ? .fenced(reason) : error.isAuthorization ? .notAllowed(reason) : .kafka(reason)
    }
}

/// The services that a worker reports to.
public struct WorkerServices: Sendable {
    /// The program's metrics.
    public var metrics: PushfanMetrics
    /// The program's log.
    public var log: Log
    /// The program's health.
    public var health: Health
    /// The board on which the loops write down how things stand.
    public var status = StatusBoard()
    /// The clock that the worker takes for the present.
    public var clock = WorkerClock()

    /// The services of one worker.
    public init(metrics: PushfanMetrics, log: Log, health: Health) {
        self.metrics = metrics
        self.log = log
        self.health = health
    }
}

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

/// The requests of the outside to a running worker.
final class WorkerControl: Sendable {
    /// The requests, in the order of urgency.
    enum Request: Int, Sendable {
        case none, stop, stopNow
    }

    let wakeUp: WakeUp
    private let asked = Atomic<Int>(0)
    private let hasReload = Atomic<Bool>(false)
    /// The settings as they are now, if they were read again. Nothing else is locked while it is held.
    private let settings = Mutex<WorkerConfiguration?>(nil)

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    func stop() {
        asked.wrappingAdd(1, ordering: .relaxed)
        wakeUp.signal()
    }

    func reload(_ new: WorkerConfiguration) {
        settings.withLock { $0 = new }
        hasReload.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// The settings as they are now, if that is new.
    func takeReload() -> WorkerConfiguration? {
        guard hasReload.load(ordering: .relaxed), hasReload.exchange(false, ordering: .acquiring) else { return nil }
        return settings.withLock(\.self)
    }

    /// Gives the next loop what the last one was given.
    func repeatReload() {
        if settings.withLock({ $0 != nil }) { hasReload.store(true, ordering: .releasing) }
    }

    var request: Request { Request(rawValue: min(asked.load(ordering: .relaxed), 2)) ?? .none }
}
