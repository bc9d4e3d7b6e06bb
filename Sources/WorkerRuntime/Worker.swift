import CurlHTTP
import EventLoop
import Foundation
import Kafka
public import Observability
import Synchronization

/// Why a worker could not go on.
public enum WorkerFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another worker runs under the same name.
    case fenced(String)
    /// The Kafka client has failed for good.
    case kafka(String)
    /// A partition's committed position carries metadata that this version cannot read; true when a newer one wrote it.
    case undecodablePosition(String, Bool)
    /// Time was up before this many results could be committed; their requests are taken up again.
    case uncommitted(Int)
    /// Something on this machine failed.
    case system(String)

    /// What has happened and what to do, in plain words.
    public var description: String {
        switch self {
        case .fenced(let reason):
            "another worker runs under the same name; give each its own PUSHFAN_WORKER_ID (\(reason))"
        case .kafka(let reason): "the Kafka client has failed for good: \(reason)"
        case .undecodablePosition(let partition, let isNewer):
            "the committed position of \(partition) carries metadata that this version cannot read"
                + (isNewer ? " because a newer one, or another program, wrote it;" : ";")
                + " use the version that wrote it, or another kafka.group_id"
        case .uncommitted(let count):
            "time was up before \(count) results could be committed; their requests will be taken up again"
        case .system(let reason): reason
        }
    }
}

/// What a worker reports to.
public struct WorkerServices: Sendable {
    /// The program's metrics.
    public var metrics: PushfanMetrics
    /// The program's log.
    public var log: Log
    /// The program's health.
    public var health: Health

    /// The services of one worker.
    public init(metrics: PushfanMetrics, log: Log, health: Health) {
        self.metrics = metrics
        self.log = log
        self.health = health
    }
}

/// Takes requests from Kafka, sends them through the hub and records one final result for each.
public final class Worker: Sendable {
    private let configuration: WorkerConfiguration
    private let services: WorkerServices
    private let control: WorkerControl

    /// A worker that has not started.
    ///
    /// - Throws: `WorkerFailure.system` when the system refuses a descriptor.
    public init(_ configuration: WorkerConfiguration, services: WorkerServices) throws(WorkerFailure) {
        self.configuration = configuration
        self.services = services
        do { control = WorkerControl(wakeUp: try WakeUp()) } catch { throw .system("\(error)") }
    }

    /// Asks the worker to finish what is under way, commit and leave; a second time hastens it. Safe from any thread.
    public func stop() {
        control.stop()
    }

    /// Works on the calling thread until `stop` was called and everything is committed.
    ///
    /// - Throws: What kept it from going on, or from committing everything in time.
    public func run() throws {
        let health = WorkerHealth(services.health, services.log, now: MonotonicTime.now().nanoseconds)
        let loop = try WorkerLoop(configuration, services: services, health: health, control: control)
        defer {
            loop.leaveFleet()
            loop.committer.stop(within: .seconds(10))
            loop.consumer.close(timeout: .seconds(5))
            loop.connections.close()
        }
        try loop.run()
        if let failure = loop.failure { throw failure }
    }
}

/// What the outside asks of a running worker.
final class WorkerControl: Sendable {
    /// What was asked for, in the order of urgency.
    enum Request: Int, Sendable {
        case none, stop, stopNow
    }

    let wakeUp: WakeUp
    private let asked = Atomic<Int>(0)

    init(wakeUp: WakeUp) {
        self.wakeUp = wakeUp
    }

    func stop() {
        asked.wrappingAdd(1, ordering: .relaxed)
        wakeUp.signal()
    }

    var request: Request { Request(rawValue: min(asked.load(ordering: .relaxed), 2)) ?? .none }
}
