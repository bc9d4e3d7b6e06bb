import Basics
import GatewayAPI
import Observability
import SQLite

/// Something for the thread of the file of answers to do.
enum AnswerJob: Sendable {
    /// Find the answer to the first of these keys that has one. It is handed over with when it counts no more, or there is none, or the file cannot be asked.
    case find([IdempotencyScope], then: @Sendable (RememberedAnswer?, _ until: MonotonicTime) -> Void)
    case keep(NewAnswer)
    /// End, when everything before is done.
    case end
}

/// Keeps the file of answers open as long as it can be used, and says once that it cannot. Without it there are no answers, and no failures.
///
/// Belongs to the thread of the file.
final class AnswerKeeper {
    /// Pause before a file that could not be used is opened again.
    static let pause = Duration.seconds(30)
    /// Old answers removed at a time while there are no jobs.
    private static let bite = 1_000

    private let path: String
    private let byteLimit: Int
    private let services: GatewayServices
    private let wallClock: @Sendable () -> Int64
    private var store: AnswerStore?
    private var nextTry = MonotonicTime.past
    private var hasFailed = false

    /// Opens the file, which may grow to `byteLimit`. `wallClock` gives milliseconds since 1970.
    init(_ path: String, byteLimit: Int, services: GatewayServices, wallClock: @escaping @Sendable () -> Int64) {
        self.path = path
        self.byteLimit = byteLimit
        self.services = services
        self.wallClock = wallClock
        services.metrics.idempotencyFile.series([]).set(1)
        open()
    }

    /// Does jobs: what is asked first, then all that is kept, in one transaction.
    func work(_ jobs: [AnswerJob]) {
        open()
        var answers: [NewAnswer] = []
        for job in jobs {
            switch job {
            case .find(let scopes, let then):
                let found = answer(toFirstOf: scopes)
                then(found?.remembered, services.now().advanced(by: .milliseconds(found?.remaining ?? 0)))
            case .keep(let answer): answers.append(answer)
            case .end: break
            }
        }
        if !answers.isEmpty { keep(answers) }
    }

    /// Removes some of what is old. Called from time to time while there are no jobs.
    func rest() {
        open()
        use { (store) throws(SQLiteError) in try store.removeOld(atMost: Self.bite, now: wallClock()) }
    }

    private func answer(toFirstOf scopes: [IdempotencyScope]) -> (remembered: RememberedAnswer, remaining: Int64)? {
        for scope in scopes { if let found = answer(to: scope) { return found } }
        return nil
    }

    private func answer(to scope: IdempotencyScope) -> (remembered: RememberedAnswer, remaining: Int64)? {
        use { (store) throws(SQLiteError) in try store.answer(to: scope, now: wallClock()) } ?? nil
    }

    private func keep(_ answers: [NewAnswer]) {
        let isKept = use { (store) throws(SQLiteError) in try store.add(answers, now: wallClock()) } != nil
        guard isKept else { return services.metrics.idempotencyLost.increment(by: UInt64(answers.count)) }
        guard hasFailed else { return }
        hasFailed = false
        services.metrics.idempotencyFile.series([]).set(1)
        services.log.info(.answerFile, "answers are kept in gateway.idempotency_file again")
    }

    /// Uses the file, or returns nil where it cannot be used.
    private func use<Result>(_ body: (AnswerStore) throws(SQLiteError) -> Result) -> Result? {
        guard let store else { return nil }
        do throws(SQLiteError) {
            return try body(store)
        } catch {
            fail(error.message)
            return nil
        }
    }

    private func open() {
        guard store == nil, services.now() >= nextTry else { return }
        do throws(AnswerStoreFailure) {
            store = try AnswerStore(path: path, byteLimit: byteLimit)
        } catch {
            fail(error.description)
        }
    }

    private func fail(_ reason: String) {
        store = nil
        nextTry = services.now().advanced(by: Self.pause)
        guard !hasFailed else { return }
        hasFailed = true
        services.metrics.idempotencyFile.series([]).set(0)
        services.log.warning(
            .answerFile, "gateway.idempotency_file cannot be used; answers are kept in memory alone until it can",
            [.setting: "gateway.idempotency_file", .reason: .string(reason)])
    }
}
