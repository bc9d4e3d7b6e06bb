/// The report of one hub's port to the worker's health.
final class HubHealth {
    private let worker: WorkerHealth
    /// The reason that the hub does not count as one that works, in a sentence. Nil when it does. Before the first word of its
    /// port it does not.
    private(set) var problem: String? = "not called yet"

    init(_ worker: WorkerHealth) {
        self.worker = worker
        worker.joined(self)
    }

    /// Says how the hub is.
    func show(_ new: String?) {
        guard new != problem else { return }
        problem = new
        worker.reportHubs()
    }

    /// The hub is not used any more.
    func leave() { worker.left(self) }
}
