package import Basics
import Dispatch
import EventLoop
package import GatewayAPI
import Observability
import Synchronization

/// The thread of the file of answers. Others hand it jobs, and never wait for the disk.
package final class AnswerFile: Sendable {
    /// The most bytes of jobs that may wait. A party has a quarter of them at most.
    private static let byteLimit = 32 << 20
    /// The least that a job counts for, in bytes: so no more than 4,096 wait.
    private static let leastByteCount = 8 << 10
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
    private let queue = BoundedQueue<AnswerJob>(limit: AnswerFile.byteLimit / AnswerFile.leastByteCount + 1)
    /// The bytes of jobs that wait, by whose they are. No other lock is taken while it is held.
    private let shares = Mutex(Shares<Party>(places: AnswerFile.byteLimit))
    private let thread = ServiceThread()

    /// Makes one whose thread does not run yet. Jobs wait until it does.
    package init(
        _ path: String, byteLimit: Int = AnswerStore.byteLimit, services: GatewayServices,
        wallClock: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970() }
    ) {
        self.path = path
        fileByteLimit = byteLimit
        self.services = services
        self.wallClock = wallClock
    }

    /// Starts the thread, which opens the file and holds `self` until ``stop()``. Called once.
    package func start() {
        thread.start(named: "pushfan-answers") { [self] in
            let keeper = AnswerKeeper(path, byteLimit: fileByteLimit, services: services, wallClock: wallClock)
            while turn(keeper) {}
        }
    }

    /// Asks for the answer to the first of some keys that has one. `then` gets it in the thread of the file, with when it counts no more. Returns false, and
    /// never calls `then`, where too much waits.
    package func find(_ scopes: [IdempotencyScope], then: @escaping @Sendable (RememberedAnswer?, MonotonicTime) -> Void) -> Bool
    {
        put(.find(scopes, then: then))
    }

    /// Keeps an answer. One for which too much waits is counted as lost.
    func keep(_ remembered: RememberedAnswer, of scope: IdempotencyScope) {
        let new = NewAnswer(scope: scope, remembered: remembered, time: wallClock())
        if !put(.keep(new)) { services.metrics.idempotencyLost.increment() }
    }

    /// Puts a job in, unless whoever it is for has its share.
    private func put(_ job: AnswerJob) -> Bool {
        let (party, byteCount) = (job.party, job.byteCount(atLeast: Self.leastByteCount))
        guard shares.withLock({ $0.take(byteCount, for: party) }) else { return false }
        if queue.put(job) { return true }
        shares.withLock { $0.give(back: byteCount, of: party) }
        return false
    }

    /// Ends the thread once what waits is done, after 2 s at most.
    package func stop() {
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
            shares.withLock { shares in
                for job in jobs { shares.give(back: job.byteCount(atLeast: Self.leastByteCount), of: job.party) }
            }
            return !jobs.contains { if case .end = $0 { true } else { false } }
        }
    }
}

extension AnswerJob {
    /// The party whose share of what waits it counts for.
    fileprivate var party: Party? {
        switch self {
        case .find(let scopes, _): scopes.first?.party
        case .keep(let new): new.scope.party
        case .end: nil
        }
    }

    /// The bytes that it counts for while it waits.
    fileprivate func byteCount(atLeast least: Int) -> Int {
        switch self {
        case .find: least
        case .keep(let new): max(least, new.remembered.answer.byteCount)
        case .end: 0
        }
    }
}
