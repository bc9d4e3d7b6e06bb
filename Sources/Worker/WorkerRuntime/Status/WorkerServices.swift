public import Observability

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
