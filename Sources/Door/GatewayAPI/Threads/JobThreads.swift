package import Dispatch
import EventLoop
import Glibc
import Synchronization

/// Threads for jobs that take milliseconds to minutes. Keys take turns, and neither a key nor a tenant has all threads or all places.
package final class JobThreads: Sendable {
    package typealias Job = @Sendable () -> Void

    /// Bounds of everybody's jobs, and the shares of them. A key without tenant has the share of a key alone.
    package struct Limits: Sendable {
        /// The threads: of all, and those at which jobs of one key and of one tenant are at a time.
        let threads: (all: Int, key: Int, tenant: Int)
        /// The jobs that may be there, those that are being done included: an eighth for a key, a quarter for a tenant.
        let places: (all: Int, key: Int, tenant: Int)

        package init(
            threads: (all: Int, key: Int, tenant: Int) = (3, 1, 2), places: (all: Int, key: Int, tenant: Int) = (64, 8, 16)
        ) {
            self.threads = threads
            self.places = places
        }
    }

    private struct Piece: Sendable {
        let key: String
        let tenant: String?
        let job: Job
    }

    private let limits: Limits
    private let turns: Mutex<UserTurns<Piece>>
    private let pieces: BoundedQueue<Piece>
    private let name: String
    /// Work that may take minutes gives way to that of calls.
    private let isBackground: Bool
    private let threads: [ServiceThread]

    /// Threads that do not run yet.
    package init(_ name: String, limits: Limits = Limits(), isBackground: Bool = false) {
        self.name = name
        self.limits = limits
        turns = Mutex(
            UserTurns(
                lineLimit: limits.threads.key, userLimit: limits.places.key,
                groupLimits: (limits.threads.tenant, limits.places.tenant), limit: limits.places.all))
        // The turns bound it.
        pieces = BoundedQueue(limit: .max)
        self.isBackground = isBackground
        threads = (0..<limits.threads.all).map { _ in ServiceThread() }
    }

    package func start() {
        for thread in threads { thread.start(named: name) { [self] in work() } }
    }

    /// Takes no more jobs, drops those that wait, and waits for the others up to a limit. Jobs that read topics obey a flag of their own.
    package func stop(within limit: DispatchTimeInterval = .seconds(2)) {
        pieces.close()
        let deadline = DispatchTime.now() + limit
        for thread in threads { thread.waitForEnd(until: deadline) }
    }

    /// Has a job done for a key and its tenant, or returns the problem with which it is refused. Waits for nothing. The rest of one that was
    /// admitted before is not refused but at the end.
    package func put(for key: String, of tenant: String? = nil, isAdmitted: Bool = false, _ job: @escaping Job) -> APIProblem? {
        let piece = Piece(key: key, tenant: tenant, job: job)
        switch turns.withLock({ $0.add(piece, of: key, in: tenant, isAdmitted: isAdmitted) }) {
        case .inLine: return pieces.put(piece) ? nil : .stopping
        case .kept: return nil
        case .refusedToUser:
            return APIProblem(
                429, code: .tooManyRequests,
                detail:
                    "\(limits.places.key) calls of this key, or \(limits.places.tenant) of its tenant, are being carried out. "
                    + "Wait for their answers.",
                retry: .safe, retryAfter: 1000)
        case .refusedToAll: return .overloaded(after: 1000)
        }
    }

    private func work() {
        if isBackground { ThreadPriority.lower() }
        while let piece = pieces.take() {
            piece.job()
            if let next = turns.withLock({ $0.finish(of: piece.key, in: piece.tenant) }) { _ = pieces.put(next) }
        }
    }
}

/// The share of the processors that a thread gets while others want them as well.
package enum ThreadPriority {
    /// Has the calling thread, and those that it makes from now on, give way to others (setpriority(2): a thread of its own on Linux, and
    /// what it creates inherits that).
    package static func lower() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
}
