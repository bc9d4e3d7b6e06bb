import Basics
import Dispatch
import EventLoop
import Observability
import Synchronization

/// The thread of the file of answers. Others hand it jobs, and never wait for the disk.
final class AnswerFile: Sendable {
    /// Bounds of what may wait: jobs, and bytes of answers among them.
    private static let jobLimit = 4_096
    private static let byteLimit = 32 << 20
    /// Jobs done at a time, with one transaction.
    private static let batch = 512
    /// Time without jobs after which old answers are removed.
    private static let idleTime = DispatchTimeInterval.seconds(10)
    /// Longest time that a stop waits for the jobs before it.
    private static let stopLimit = DispatchTimeInterval.seconds(2)

    private let path: String
    private let fileByteLimit: Int
    private let services: GatewayServices
    private let wallClock: @Sendable () -> Int64
    private let queue = BoundedQueue<AnswerJob>(limit: AnswerFile.jobLimit)
    /// The bytes of answers that wait to be kept.
    private let waitingByteCount = Atomic<Int>(0)
    private let thread = ServiceThread()

    /// Makes one whose thread does not run yet. Jobs wait until it does.
    init(
        _ path: String, byteLimit: Int = AnswerStore.byteLimit, services: GatewayServices,
        wallClock: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970() }
    ) {
        self.path = path
        fileByteLimit = byteLimit
        self.services = services
        self.wallClock = wallClock
    }

    /// Starts the thread, which opens the file and holds `self` until ``stop()``. Called once.
    func start() {
        thread.start(named: "pushfan-answers") { [self] in
            let keeper = AnswerKeeper(path, byteLimit: fileByteLimit, services: services, wallClock: wallClock)
            while turn(keeper) {}
        }
    }

    /// Asks for the answer to the first of some keys that has one. `then` gets it in the thread of the file, with when it counts no more. Returns false, and
    /// never calls `then`, where too much waits.
    func find(_ scopes: [IdempotencyScope], then: @escaping @Sendable (RememberedAnswer?, MonotonicTime) -> Void) -> Bool {
        queue.put(.find(scopes, then: then))
    }

    /// Keeps an answer. One for which too much waits is counted as lost.
    func keep(_ remembered: RememberedAnswer, of scope: IdempotencyScope) {
        let count = remembered.answer.byteCount
        let others = waitingByteCount.wrappingAdd(count, ordering: .relaxed).oldValue
        let new = NewAnswer(scope: scope, remembered: remembered, time: wallClock())
        if others < Self.byteLimit, queue.put(.keep(new)) { return }
        waitingByteCount.wrappingSubtract(count, ordering: .relaxed)
        services.metrics.idempotencyLost.increment()
    }

    /// Ends the thread once what waits is done, after 2 s at most.
    func stop() {
        if queue.put(.end) { thread.waitForEnd(until: .now() + Self.stopLimit) }
        queue.close()
    }

    /// Does what waits. Returns false at the end.
    private func turn(_ keeper: AnswerKeeper) -> Bool {
        switch queue.take(until: .now() + Self.idleTime) {
        case .closed: return false
        case .nothing:
            keeper.rest()
            return true
        case .element(let first):
            var jobs = [first]
            while jobs.count < Self.batch, case .element(let job) = queue.take(until: .now()) { jobs.append(job) }
            keeper.work(jobs)
            let (byteCount, isEnd) = jobs.reduce((0, false)) { sum, job in
                switch job {
                case .keep(let new): (sum.0 + new.remembered.answer.byteCount, sum.1)
                case .find: sum
                case .end: (sum.0, true)
                }
            }
            waitingByteCount.wrappingSubtract(byteCount, ordering: .relaxed)
            return !isEnd
        }
    }
}
