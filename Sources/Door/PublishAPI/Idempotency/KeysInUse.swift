import Basics
import GatewayAPI

/// A decision about a call with a key.
package enum IdempotencyVerdict: Sendable, Equatable {
    /// It is the first: it produces the answer, and ends this turn with it.
    case first(turn: Int)
    /// It repeats a call that was answered.
    case replayed(StoredAnswer)
    /// The key was used for another call: 422.
    case mismatch
    /// The first call is not answered yet, and it was waited for: 409.
    case inFlight
}

/// The bounds of ``KeysInUse``.
package struct KeyLimits: Sendable {
    /// Keys with a turn, of which a party has a quarter at most. A call beyond goes on as if it had no key.
    var keys = 10_000
    /// Calls that wait for others, of which a party has a quarter at most. A call beyond gets 409.
    var waiting = 1_024
    var waitingForOne = 16
    /// Longest wait for the same call.
    var wait = Duration.seconds(5)
    var fileWait = Duration.seconds(1)
    /// Memory for the answers of late, in bytes.
    var answerByteCount = 32 << 20
}

/// The calls with keys that are not answered yet, who waits for them, and the answers of late. Without clock, thread and I/O.
///
/// A key is asked for in the file of answers first. Then its first call has a turn, and the same calls that come meanwhile wait. A turn that
/// ends without a certain answer goes to the one that waits longest. Each step takes constant time.
///
/// - Note: The owner gives verdicts to a `Caller`, which is kept no longer than it waits.
struct KeysInUse<Caller: Sendable>: Sendable {
    /// A first decision about a call that has come.
    enum Admission: Sendable, Equatable {
        case decided(IdempotencyVerdict)
        /// The file must be asked for the key. Its answer goes to ``conclude(_:of:finding:until:)``.
        case asks(turn: Int)
        /// Its verdict comes later.
        case waits
    }

    /// A call that gets its verdict.
    typealias Decided = (caller: Caller, verdict: IdempotencyVerdict)

    private struct Call: Sendable {
        let number: Int
        let fingerprint: CallFingerprint
        let caller: Caller
    }

    private struct Turn: Sendable {
        var number: Int
        var fingerprint: CallFingerprint
        /// The call for which the file is asked, until it has its turn.
        var asking: Call?
        var waiting = FIFO<Call>()
    }

    private typealias Deadline = (due: MonotonicTime, scope: IdempotencyScope, number: Int)

    private let limits: KeyLimits
    private var turns: [IdempotencyScope: Turn] = [:]
    private var recent: RecentAnswers
    /// Deadlines of those who ask and of those who wait, and of some that have their verdict.
    private var askingUntil = FIFO<Deadline>()
    private var waitingUntil = FIFO<Deadline>()
    /// The turns, and those who wait, by whose they are.
    private var turnShares: Shares<Party>
    private var waitShares: Shares<Party>
    /// True after the file let a call wait for too long, until it answers. It is not asked meanwhile.
    private(set) var isFileSlow = false
    private var lastNumber = 0

    init(_ limits: KeyLimits = KeyLimits()) {
        self.limits = limits
        recent = RecentAnswers(byteLimit: limits.answerByteCount)
        turnShares = Shares(places: limits.keys)
        waitShares = Shares(places: limits.waiting)
    }

    /// The number of keys that have a turn.
    var turnCount: Int { turns.count }

    /// The number of calls that wait for others.
    var waitingCount: Int { waitShares.taken }

    /// Adds a call, which gets its verdict now or later. `hasFile` says that there is a file to ask first.
    package mutating func add(
        _ caller: Caller, with scope: IdempotencyScope, fingerprint: CallFingerprint, now: MonotonicTime, hasFile: Bool
    ) -> Admission {
        if let remembered = recent.answer(to: scope, now: now) { return .decided(remembered.verdict(on: fingerprint)) }
        lastNumber += 1
        let call = Call(number: lastNumber, fingerprint: fingerprint, caller: caller)
        if turns[scope] != nil { return join(scope, by: call, now: now) }
        guard turnShares.take(for: scope.party) else { return .decided(.first(turn: lastNumber)) }
        let asks = hasFile && !isFileSlow
        turns[scope] = Turn(number: lastNumber, fingerprint: fingerprint, asking: asks ? call : nil)
        guard asks else { return .decided(.first(turn: lastNumber)) }
        askingUntil.append((now.advanced(by: limits.fileWait), scope, lastNumber))
        return .asks(turn: lastNumber)
    }

    private mutating func join(_ scope: IdempotencyScope, by call: Call, now: MonotonicTime) -> Admission {
        guard let turn = turns[scope] else { return .waits }
        // While the file is asked, an older call may be found that is the same as this one.
        if turn.asking == nil, turn.fingerprint != call.fingerprint { return .decided(.mismatch) }
        guard turn.waiting.count < limits.waitingForOne, waitShares.take(for: scope.party) else { return .decided(.inFlight) }
        turns[scope]?.waiting.append(call)
        waitingUntil.append((now.advanced(by: limits.wait), scope, call.number))
        return .waits
    }

    /// Says what the file has of a key, and returns the verdicts that this decides.
    mutating func conclude(
        _ turn: Int, of scope: IdempotencyScope, finding found: RememberedAnswer?, until: MonotonicTime
    ) -> [Decided] {
        isFileSlow = false
        guard let found else { return goOn(turn, of: scope) }
        guard let ended = turns[scope], ended.number == turn, let asking = ended.asking else { return [] }
        recent.remember(found, of: scope, until: until)
        remove(ended, of: scope)
        return ([asking] + Array(ended.waiting)).map { ($0.caller, found.verdict(on: $0.fingerprint)) }
    }

    /// Gives a call its turn of which the file has nothing, or cannot be asked. Returns its verdict, and those of calls that wait
    /// with its key and ask for something else.
    mutating func goOn(_ turn: Int, of scope: IdempotencyScope) -> [Decided] {
        guard var taken = turns[scope], taken.number == turn, let call = taken.asking else { return [] }
        taken.asking = nil
        let others = taken.waiting.filter { $0.fingerprint != call.fingerprint }
        taken.waiting.removeAll { $0.fingerprint != call.fingerprint }
        waitShares.give(back: others.count, of: scope.party)
        turns[scope] = taken
        return [(call.caller, .first(turn: turn))] + others.map { ($0.caller, .mismatch) }
    }

    /// Ends a turn, with the call's answer if that is certain, and returns the verdicts that this decides. The end of a turn that
    /// is over only has the answer remembered.
    mutating func end(
        _ turn: Int, of scope: IdempotencyScope, with answer: RememberedAnswer?, until: MonotonicTime
    ) -> [Decided] {
        if let answer { recent.remember(answer, of: scope, until: until) }
        guard var ended = turns[scope], ended.number == turn, ended.asking == nil else { return [] }
        if let answer {
            remove(ended, of: scope)
            return ended.waiting.map { ($0.caller, answer.verdict(on: $0.fingerprint)) }
        }
        guard let next = ended.waiting.popFirst() else {
            remove(ended, of: scope)
            return []
        }
        waitShares.give(back: 1, of: scope.party)
        ended.number = next.number
        turns[scope] = ended
        return [(next.caller, .first(turn: next.number))]
    }

    /// Frees the place of a turn, and those of all who wait for it.
    private mutating func remove(_ turn: Turn, of scope: IdempotencyScope) {
        turns[scope] = nil
        turnShares.give(back: 1, of: scope.party)
        waitShares.give(back: turn.waiting.count, of: scope.party)
    }

    /// Ends waits that have lasted for long enough, and returns the verdicts that this decides.
    mutating func expire(now: MonotonicTime) -> [Decided] {
        var decided: [Decided] = []
        while let first = askingUntil.first, first.due <= now {
            _ = askingUntil.popFirst()
            let passed = goOn(first.number, of: first.scope)
            if !passed.isEmpty { isFileSlow = true }
            decided += passed
        }
        while let first = waitingUntil.first, first.due <= now {
            _ = waitingUntil.popFirst()
            guard let turn = turns[first.scope], let place = turn.waiting.firstIndex(where: { $0.number == first.number }),
                let call = turns[first.scope]?.waiting.remove(at: place)
            else { continue }
            waitShares.give(back: 1, of: first.scope.party)
            decided.append((call.caller, .inFlight))
        }
        return decided
    }
}
