import Basics
import Dispatch
package import GatewayAPI
import Observability
import Synchronization

/// Ensures that a key means once at this gateway: of calls with one `Idempotency-Key` the first produces an answer, and the others get it.
///
/// Answers are kept in memory, and for 24 h in a file where there is one. Neither is needed for exactness: the same key gives the same id,
/// by which workers find repetitions. Any thread may ask, and none waits.
package final class Idempotency: Sendable {
    /// A decision about a call.
    enum Verdict: Sendable {
        /// It produces the answer, and ends the turn with it.
        case first(Turn)
        case replayed(StoredAnswer)
        /// The key was used for another call: 422.
        case mismatch
        /// The first call is not answered after 5 s: 409, and `Retry-After: 1`.
        case inFlight
    }

    /// The right to produce the answer to a key. Whoever drops it without an end has ended it without an answer.
    final class Turn: Sendable {
        private let idempotency: Idempotency
        private let caller: Caller
        private let number: Int
        private let isEnded = Atomic<Bool>(false)

        fileprivate init(_ idempotency: Idempotency, caller: Caller, number: Int) {
            self.idempotency = idempotency
            self.caller = caller
            self.number = number
        }

        deinit { end(with: nil) }

        /// Ends it, once, with the call's answer if that is certain. Those who wait get it, or the next of them gets a turn,
        /// before this returns.
        func end(with answer: StoredAnswer?) {
            guard !isEnded.exchange(true, ordering: .relaxed) else { return }
            idempotency.end(number, of: caller, with: answer)
        }
    }

    /// A call that waits for its verdict.
    struct Caller: Sendable {
        let scope: IdempotencyScope
        let fingerprint: CallFingerprint
        let then: @Sendable (Verdict) -> Void
    }

    /// Time between two checks for waits that are over.
    private static let interval = DispatchTimeInterval.milliseconds(250)

    private let services: GatewayServices
    private let file: AnswerFile?
    /// No other lock is taken while it is held, and no verdict given.
    private let keys: Mutex<KeysInUse<Caller>>
    private let isStopped = Atomic<Bool>(false)

    /// Makes one whose thread does not run yet. Without a file, answers are kept in memory alone.
    package init(_ file: AnswerFile?, limits: KeyLimits = KeyLimits(), services: GatewayServices) {
        self.file = file
        self.services = services
        keys = Mutex(KeysInUse(limits))
    }

    /// Opens the file in a thread, and ends waits from now on. To be called once.
    package func start() {
        file?.start()
        endWaitsLater()
    }

    /// Writes the answers that are not in the file yet, for 2 s at most, and ends. Those who wait hear nothing any more.
    package func stop() {
        isStopped.store(true, ordering: .relaxed)
        file?.stop()
    }

    /// Asks what becomes of a call. `then` gets the verdict, once: before this returns, or later in the thread of the file, of
    /// another call or of a timer. `former` is the scope under which an earlier version may have kept the answer in the file.
    func begin(
        _ scope: IdempotencyScope, former: IdempotencyScope? = nil, fingerprint: CallFingerprint,
        then: @escaping @Sendable (Verdict) -> Void
    ) {
        let caller = Caller(scope: scope, fingerprint: fingerprint, then: then)
        let now = services.now()
        switch keys.withLock({ $0.add(caller, with: scope, fingerprint: fingerprint, now: now, hasFile: file != nil) }) {
        case .waits: break
        case .decided(let verdict): give([(caller, verdict)])
        case .asks(let turn):
            let isAsked = file?.find([scope, former].compactMap(\.self)) { [self] found, until in
                give(keys.withLock { $0.conclude(turn, of: scope, finding: found, until: until) })
            }
            if isAsked != true { give(keys.withLock { $0.goOn(turn, of: scope) }) }
        }
    }

    /// Ends waits that have lasted for long enough.
    func endWaits() {
        let now = services.now()
        give(keys.withLock { $0.expire(now: now) })
    }

    private func endWaitsLater() {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            endWaits()
            endWaitsLater()
        }
    }

    private func end(_ turn: Int, of caller: Caller, with answer: StoredAnswer?) {
        let remembered = answer.map { RememberedAnswer(fingerprint: caller.fingerprint, answer: $0) }
        let until = services.now().advanced(by: .milliseconds(AnswerStore.lifetime))
        if let remembered { file?.keep(remembered, of: caller.scope) }
        give(keys.withLock { $0.end(turn, of: caller.scope, with: remembered, until: until) })
    }

    private func give(_ decided: [KeysInUse<Caller>.Decided]) {
        for (caller, verdict) in decided {
            switch verdict {
            case .first(let number): give(.first(Turn(self, caller: caller, number: number)), as: "first", to: caller)
            case .replayed(let answer): give(.replayed(answer), as: "replayed", to: caller)
            case .mismatch: give(.mismatch, as: "mismatch", to: caller)
            case .inFlight: give(.inFlight, as: "in_flight", to: caller)
            }
        }
    }

    private func give(_ verdict: Verdict, as outcome: String, to caller: Caller) {
        services.metrics.idempotencyKeys.series([outcome]).increment()
        caller.then(verdict)
    }
}
