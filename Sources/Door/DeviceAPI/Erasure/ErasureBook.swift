import Basics
import GatewayAPI
import HubREST
import PushModel

/// A hub, as an erasure uses it.
struct ErasureHub: Sendable {
    /// Has a call made, and hands what became of it to `then`, once and in any thread. Returns false where it has no room for it, or
    /// none any more.
    typealias Asking =
        @Sendable (
            _ call: RegistrationCall, _ then: @escaping @Sendable (Result<RegistrationReply, RegistrationFailure>) -> Void
        ) -> Bool

    let name: String
    let ask: Asking
}

/// The erasures that are going on, those that have yet to begin, and the last ones that have ended. Without clock and thread.
///
/// No key has more than a few at a time, and neither a key nor a tenant all places, so that others' erasures begin soon.
struct ErasureBook: Sendable {
    /// The devices that are removed: of a user, at the hubs of one name, for a tenant or for all.
    struct Key: Hashable, Sendable {
        let tenant: String?
        let hub: String?
        let tag: String
    }

    /// Bounds of all erasures, and the shares of them.
    struct Limits: Sendable {
        /// Those that go on at a time: of all, of a key, and of a tenant.
        var running = (all: 8, key: 2, tenant: 3)
        /// Those that may be there, the running ones included.
        var places = (all: 400, key: 100, tenant: 200)
        /// Those that are remembered when they have ended.
        var memory = 1000
    }

    /// One thing to do now.
    enum Move: Sendable {
        case ask(RegistrationCall, at: ErasureHub, for: Key)
        case answer(ErasureReport, then: @Sendable (ErasureReport) -> Void)
        case note(ErasureReport, by: String)
    }

    /// The time after which a hub's full lane is tried again, in milliseconds.
    private static let pause: Int64 = 500

    private struct Work: Sendable {
        var erasure: UserErasure
        let hubs: [ErasureHub]
        let claimant: Claimant
        var waits: [(until: MonotonicTime, then: @Sendable (ErasureReport) -> Void)] = []
    }

    private let limits: Limits
    private var turns: UserTurns<Key>
    /// Those whose key and tenant have room.
    private var ready = FIFO<Key>()
    private var runningCount = 0
    private var works: [Key: Work] = [:]
    private var due = MomentHeap<MonotonicTime, Key>()
    private var ended: [Key: (report: ErasureReport, number: Int)] = [:]
    /// The ended ones in the order in which they have. One that was repeated is there twice, and the number tells.
    private var order = FIFO<(key: Key, number: Int)>()
    private var lastNumber = 0

    init(_ limits: Limits = Limits()) {
        self.limits = limits
        turns = UserTurns(
            lineLimit: limits.running.key, userLimit: limits.places.key,
            groupLimits: (limits.running.tenant, limits.places.tenant), limit: limits.places.all)
    }

    /// The erasures that have not ended.
    var count: Int { works.count }

    /// The report on one. Nil for one that is not remembered.
    func report(of key: Key, at now: Timestamp) -> ErasureReport? {
        works[key]?.erasure.report(at: now) ?? ended[key]?.report
    }

    /// Adds an erasure. One that goes on is not begun again.
    mutating func add(
        _ erasure: UserErasure, as key: Key, at hubs: [ErasureHub], for claimant: Claimant
    ) throws(APIProblem) {
        guard works[key] == nil else { return }
        switch turns.add(key, of: claimant.keyID, in: claimant.tenant) {
        case .inLine: ready.append(key)
        case .kept: break
        case .refusedToUser:
            throw APIProblem(
                429, code: .tooManyRequests,
                detail:
                    "\(limits.places.key) erasures of this key, or \(limits.places.tenant) of its tenant, have not ended yet.",
                retry: .safe, retryAfter: 5000)
        case .refusedToAll: throw .overloaded(after: 5000)
        }
        works[key] = Work(erasure: erasure, hubs: hubs, claimant: claimant)
    }

    /// Has `then` called at the end of an erasure, or at a moment before. False for one that does not go on.
    mutating func wait(
        for key: Key, until moment: MonotonicTime, then: @escaping @Sendable (ErasureReport) -> Void
    ) -> Bool {
        guard works[key] != nil else { return false }
        works[key]?.waits.append((moment, then))
        return true
    }

    /// Begins what may begin, goes on with what has waited long enough, and answers those who have.
    mutating func moves(at now: MonotonicTime, clock: Timestamp) -> [Move] {
        var moves: [Move] = []
        while let key = due.removeDue(now) { moves += advance(key, at: now, clock: clock) { $0.next() } }
        while runningCount < limits.running.all, let key = ready.popFirst() {
            runningCount += 1
            moves += advance(key, at: now, clock: clock) { $0.next() }
        }
        for (key, work) in works where work.waits.contains(where: { $0.until <= now }) {
            let report = work.erasure.report(at: clock)
            moves += work.waits.filter { $0.until <= now }.map { .answer(report, then: $0.then) }
            works[key]?.waits.removeAll { $0.until <= now }
        }
        return moves
    }

    /// Goes on after a hub's reply.
    mutating func take(
        _ reply: Result<RegistrationReply, RegistrationFailure>, of key: Key, at now: MonotonicTime, clock: Timestamp
    ) -> [Move] {
        advance(key, at: now, clock: clock) { $0.next(after: reply) }
    }

    /// Answers all who wait.
    mutating func endWaits(clock: Timestamp) -> [Move] {
        var moves: [Move] = []
        for (key, work) in works where !work.waits.isEmpty {
            let report = work.erasure.report(at: clock)
            moves += work.waits.map { .answer(report, then: $0.then) }
            works[key]?.waits = []
        }
        return moves
    }

    /// Tries again later what a hub has no room for.
    mutating func postpone(_ key: Key, at now: MonotonicTime) {
        due.add(key, at: now.advanced(by: .milliseconds(Self.pause)))
    }

    private mutating func advance(
        _ key: Key, at now: MonotonicTime, clock: Timestamp, by step: (inout UserErasure) -> UserErasure.Step
    ) -> [Move] {
        // Taken out, or each change would copy what is known of the devices.
        guard var work = works.removeValue(forKey: key) else { return [] }
        switch step(&work.erasure) {
        case .ask(let call, let hub):
            works[key] = work
            return [.ask(call, at: work.hubs[hub], for: key)]
        case .wait(let milliseconds):
            works[key] = work
            due.add(key, at: now.advanced(by: .milliseconds(milliseconds)))
            return []
        case .end:
            let report = work.erasure.report(at: clock)
            remember(report, as: key)
            runningCount -= 1
            if let next = turns.finish(of: work.claimant.keyID, in: work.claimant.tenant) { ready.append(next) }
            return work.waits.map { .answer(report, then: $0.then) } + [.note(report, by: work.claimant.keyID)]
                + moves(at: now, clock: clock)
        }
    }

    private mutating func remember(_ report: ErasureReport, as key: Key) {
        lastNumber += 1
        ended[key] = (report, lastNumber)
        order.append((key, lastNumber))
        guard order.count > limits.memory, let oldest = order.popFirst() else { return }
        if ended[oldest.key]?.number == oldest.number { ended[oldest.key] = nil }
    }
}
