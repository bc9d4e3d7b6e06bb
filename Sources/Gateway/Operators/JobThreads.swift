import Dispatch
import EventLoop
import Glibc
import Synchronization

/// Threads for jobs that read topics or files and take milliseconds to minutes. Keys take turns: one job of each is done at a time.
final class JobThreads: Sendable {
    typealias Job = @Sendable () -> Void

    private struct Piece: Sendable {
        let asker: String
        let job: Job
    }

    /// The most jobs of one key that may wait, and of all.
    private let limits: (asker: Int, all: Int)
    private let turns: Mutex<UserTurns<Piece>>
    private let pieces: BoundedQueue<Piece>
    private let name: String
    /// Work that may take minutes gives way to that of calls.
    private let isBackground: Bool
    private let threads: [ServiceThread]

    /// Threads that do not run yet.
    init(_ name: String, count: Int = 2, limits: (asker: Int, all: Int) = (8, 64), isBackground: Bool = false) {
        self.name = name
        self.limits = limits
        turns = Mutex(UserTurns(lineLimit: 1, userLimit: limits.asker, limit: limits.all))
        pieces = BoundedQueue(limit: limits.all)
        self.isBackground = isBackground
        threads = (0..<count).map { _ in ServiceThread() }
    }

    func start() {
        for thread in threads { thread.start(named: name) { [self] in work() } }
    }

    /// Takes no more jobs, drops those that wait, and waits for the others up to a limit. Jobs that read topics obey a flag of their own.
    func stop(within limit: DispatchTimeInterval = .seconds(2)) {
        pieces.close()
        let deadline = DispatchTime.now() + limit
        for thread in threads { thread.waitForEnd(until: deadline) }
    }

    /// Has a job done for a key, or returns the problem with which it is refused. Waits for nothing.
    func put(for asker: String, _ job: @escaping Job) -> APIProblem? {
        let piece = Piece(asker: asker, job: job)
        switch turns.withLock({ $0.add(piece, of: asker) }) {
        case .inLine: return pieces.put(piece) ? nil : .stopping
        case .kept: return nil
        case .refusedToUser:
            return APIProblem(
                429, code: .tooManyRequests,
                detail: "\(limits.asker) calls of this key are being carried out. Wait for their answers.",
                retry: .safe, retryAfter: 1000)
        case .refusedToAll: return .overloaded(after: 1000)
        }
    }

    private func work() {
        if isBackground { ThreadPriority.lower() }
        while let piece = pieces.take() {
            piece.job()
            if let next = turns.withLock({ $0.finish(of: piece.asker) }) { _ = pieces.put(next) }
        }
    }
}

/// The share of the processors that a thread gets while others want them as well.
enum ThreadPriority {
    /// Has the calling thread, and those that it makes from now on, give way to others (setpriority(2): a thread of its own on Linux, and
    /// what it creates inherits that).
    static func lower() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
}
