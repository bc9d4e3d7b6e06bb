/// Whether one hub answers, as far as calls to it have told.
final class HubHealth {
    private let worker: WorkerHealth
    private let name: String
    /// Calls in a row that say that the hub does not work.
    private var failureCount = 0
    /// Whether it counts as one that works: it is asked with each answer, and the check itself is behind a lock.
    private var isPassing = true
    private var hasLeft = false

    init(_ worker: WorkerHealth, _ name: String) {
        self.worker = worker
        self.name = name
        worker.joined(self)
    }

    /// The hub has answered.
    func answered() {
        failureCount = 0
        guard !isPassing else { return }
        isPassing = true
        worker.hubPassed()
    }

    /// A call failed as it does when the hub, the way to it or the key is at fault; a single one says nothing yet.
    func failed(_ reason: String) {
        failureCount += 1
        guard failureCount >= Self.failureLimit, !hasLeft else { return }
        let isNew = isPassing
        isPassing = false
        worker.hubFailed(name, reason, isNew: isNew)
    }

    /// The hub is not used any more.
    func leave() {
        guard !hasLeft else { return }
        hasLeft = true
        worker.left(self, wasPassing: isPassing)
    }

    private static let failureLimit = 3
}
