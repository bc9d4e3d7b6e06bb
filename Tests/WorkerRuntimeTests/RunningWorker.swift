import Foundation
import Observability
import Synchronization
import TestSupport
import WorkerRuntime

/// What a worker logs.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var sink: @Sendable ([UInt8]) -> Void {
        { [self] bytes in lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }

    var all: [String] { lines.withLock { $0 } }
}

/// A worker on a thread of its own.
final class RunningWorker: Sendable {
    let health: Health
    private let worker: Worker
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<Void, any Error>?>(nil)

    init(_ worker: Worker, _ health: Health) {
        self.worker = worker
        self.health = health
        let thread = Thread { [self] in
            let result = Result { try worker.run() }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        thread.start()
    }

    func askToStop() { worker.stop() }

    /// Changes its hubs.
    func reload(_ configuration: WorkerConfiguration) throws { try worker.reload(configuration) }

    /// What the probe says at this moment.
    func report(_ probe: HealthProbe) -> HealthReport {
        health.report(probe, now: Int64(DispatchTime.now().uptimeNanoseconds))
    }

    /// Whether the worker's own end has come.
    var hasEnded: Bool { outcome.withLock { $0 != nil } }

    /// Stops the worker and throws what it could not do.
    func stop(within limit: Duration = .seconds(40)) throws {
        worker.stop()
        try wait(within: limit)
    }

    /// Waits for the worker's own end.
    func wait(within limit: Duration = .seconds(40)) throws {
        guard ended.wait(timeout: .now() + .seconds(Int(limit.components.seconds) * patience)) == .success else {
            throw Timeout()
        }
        try outcome.withLock { $0 }?.get()
    }

    struct Timeout: Error {}
}
