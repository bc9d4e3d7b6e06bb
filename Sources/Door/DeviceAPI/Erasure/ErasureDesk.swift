import Basics
import EventLoop
import FanOut
import GatewayAPI
import HubREST
import Observability
import PushModel
import Synchronization

/// Removes the devices of users, several users at a time, on the lanes of the hubs. No thread waits with it.
final class ErasureDesk: Sendable {
    private struct State {
        var book: ErasureBook
        /// All who wait were answered, and whoever comes is answered at once.
        var isEnding = false
    }

    private let log: Log
    private let now: @Sendable () -> MonotonicTime
    private let wall: @Sendable () -> Timestamp
    /// Nothing else is locked while it is held, and nothing is called.
    private let state: Mutex<State>

    init(
        _ limits: ErasureBook.Limits = ErasureBook.Limits(), log: Log, now: @escaping @Sendable () -> MonotonicTime,
        wall: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: WallClock.millisecondsSince1970()) }
    ) {
        (self.log, self.now, self.wall) = (log, now, wall)
        state = Mutex(State(book: ErasureBook(limits)))
    }

    /// The report on an erasure. Nil for one that is not remembered.
    func report(of key: ErasureBook.Key) -> ErasureReport? {
        let clock = wall()
        return state.withLock { $0.book.report(of: key, at: clock) }
    }

    /// Begins an erasure, unless it goes on already. Returns how far it is.
    func begin(
        _ user: String, tag: UserTag, as key: ErasureBook.Key, at hubs: [ErasureHub], for claimant: Claimant
    ) throws(APIProblem) -> ErasureReport {
        let clock = wall()
        let erasure = UserErasure(of: user, tag: tag, at: hubs.map(\.name), startedAt: clock)
        let added = state.withLock { state -> Result<Void, APIProblem> in
            Result { () throws(APIProblem) in try state.book.add(erasure, as: key, at: hubs, for: claimant) }
        }
        try added.get()
        tick()
        return report(of: key) ?? erasure.report(at: clock)
    }

    /// Calls `then` once: at the end of an erasure, or after so many seconds, with how far it is.
    func wait(for key: ErasureBook.Key, seconds: Int, then: @escaping @Sendable (ErasureReport) -> Void) {
        let moment = now().advanced(by: .seconds(seconds))
        let isKept = state.withLock { state in
            !state.isEnding && state.book.wait(for: key, until: moment, then: then)
        }
        if !isKept, let report = report(of: key) { then(report) }
    }

    /// Goes on with what has waited long enough. To be called several times a second.
    func tick() {
        let (now, clock) = (now(), wall())
        perform(state.withLock { $0.book.moves(at: now, clock: clock) })
    }

    /// Answers all who wait.
    func endWaits() {
        let clock = wall()
        perform(
            state.withLock { state in
                state.isEnding = true
                return state.book.endWaits(clock: clock)
            })
    }

    private func perform(_ moves: [ErasureBook.Move]) {
        for move in moves {
            switch move {
            case .ask(let call, let hub, let key):
                let isTaken = hub.ask(call) { [self] reply in
                    let (now, clock) = (now(), wall())
                    perform(state.withLock { $0.book.take(reply, of: key, at: now, clock: clock) })
                }
                if !isTaken {
                    let now = now()
                    state.withLock { $0.book.postpone(key, at: now) }
                }
            case .answer(let report, let then): then(report)
            case .note(let report, let key): note(report, by: key)
            }
        }
    }

    /// Says in the log that all devices of a user were to be removed, and who wanted it. Whose they are is not said.
    private func note(_ report: ErasureReport, by key: String) {
        let progress = report.progress
        let counts = "\(progress.removed) of \(progress.found) devices removed by key \(key)"
        if let problem = report.problem {
            log.warning(
                .devicesErased, "the devices of a user could not all be removed; the call may be repeated",
                [.reason: .string("\(counts): \(problem)"), .count: .int(Int64(progress.left))])
        } else {
            log.info(
                .devicesErased, "the devices of a user were removed",
                [.reason: .string(counts), .count: .int(Int64(progress.removed))])
        }
    }
}
