import Basics
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
    private let clock: WorkerClock
    private let worker: Worker
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<Void, any Error>?>(nil)

    init(_ worker: Worker, _ services: WorkerServices) {
        self.worker = worker
        health = services.health
        clock = services.clock
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
        health.report(probe, now: clock.monotonic.nanoseconds)
    }

    /// Whether the worker's own end has come.
    var hasEnded: Bool { outcome.withLock { $0 != nil } }

    /// Stops the worker and throws what it could not do.
    func stop() throws {
        worker.stop()
        try wait()
    }

    /// Waits for the worker's own end.
    func wait() throws {
        guard ended.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds))) == .success else { throw Timeout() }
        try outcome.withLock { $0 }?.get()
    }

    struct Timeout: Error {}
}
