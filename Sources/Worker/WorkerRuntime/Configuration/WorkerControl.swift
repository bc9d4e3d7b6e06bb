import EventLoop
import Synchronization

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
