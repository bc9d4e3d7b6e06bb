@testable import PublishAPI
@testable import GatewayAPI
import Basics
import TestSupport
import Testing

/// Verdicts on calls with one key.
struct KeysInUseTests {
    private static let second: Int64 = 1_000_000_000
    private static let scope = IdempotencyScope(digest: [1])
    private static let order = CallFingerprint(digest: [10])
    private static let other = CallFingerprint(digest: [11])
    private static let answer = StoredAnswer(status: 202, body: [1])

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

    /// A step in the life of a key. Callers are letters.
    enum Step: Sendable, CustomStringConvertible {
        /// A call comes, without a file or with one.
        case comes(Character, CallFingerprint, KeysInUse<Character>.Admission, hasFile: Bool = false)
        /// The file answers for a turn, and callers hear these verdicts.
        case found(Int, RememberedAnswer?, [Character: IdempotencyVerdict])
        case cannotAsk(Int, [Character: IdempotencyVerdict])
        case ends(Int, StoredAnswer?, [Character: IdempotencyVerdict])
        case passes(Int64, [Character: IdempotencyVerdict])

        var description: String {
            switch self {
            case .comes(let caller, _, let admission, _): "\(caller) comes: \(admission)"
            case .found(let turn, let found, _): "found for \(turn): \(found != nil)"
            case .cannotAsk(let turn, _): "cannot ask for \(turn)"
            case .ends(let turn, let answer, _): "\(turn) ends: \(answer != nil)"
            case .passes(let seconds, _): "\(seconds) s pass"
            }
        }
    }

    static let stories: [(name: String, steps: [Step])] = [
        (
            "a repetition gets the answer",
            [
                .comes("a", order, .decided(.first(turn: 1))), .ends(1, answer, [:]),
                .comes("b", order, .decided(.replayed(answer))),
            ]
        ),
        (
            "those who wait get the answer of the first",
            [
                .comes("a", order, .decided(.first(turn: 1))), .comes("b", order, .waits), .comes("c", order, .waits),
                .ends(1, answer, ["b": .replayed(answer), "c": .replayed(answer)]),
            ]
        ),
        (
            "another call under a key is refused, whether the first is answered or not",
            [
                .comes("a", order, .decided(.first(turn: 1))), .comes("b", other, .decided(.mismatch)), .ends(1, answer, [:]),
                .comes("c", other, .decided(.mismatch)),
            ]
        ),
        (
            "without a certain answer the next that waits has its turn",
            [
                .comes("a", order, .decided(.first(turn: 1))), .comes("b", order, .waits), .comes("c", order, .waits),
                .ends(1, nil, ["b": .first(turn: 2)]), .ends(2, answer, ["c": .replayed(answer)]),
            ]
        ),
        (
            "without a certain answer and no one who waits the key is free",
            [
                .comes("a", order, .decided(.first(turn: 1))), .ends(1, nil, [:]), .comes("b", other, .decided(.first(turn: 2))),
            ]
        ),
        (
            "a wait ends after 5 s",
            [
                .comes("a", order, .decided(.first(turn: 1))), .comes("b", order, .waits), .passes(4, [:]),
                .comes("c", order, .waits), .passes(1, ["b": .inFlight]), .ends(1, answer, ["c": .replayed(answer)]),
                .passes(9, [:]),
            ]
        ),
        (
            "a turn has no other end than its own",
            [
                .comes("a", order, .decided(.first(turn: 1))), .ends(9, nil, [:]), .comes("b", order, .waits),
                .ends(1, nil, ["b": .first(turn: 2)]), .ends(1, nil, [:]), .comes("c", order, .waits),
            ]
        ),
        (
            "what the file has is answered to all",
            [
                .comes("a", other, .asks(turn: 1), hasFile: true), .comes("b", order, .waits, hasFile: true),
                .found(1, RememberedAnswer(fingerprint: order, answer: answer), ["a": .mismatch, "b": .replayed(answer)]),
                .comes("c", order, .decided(.replayed(answer)), hasFile: true),
            ]
        ),
        (
            "of what the file has not the first call has its turn",
            [
                .comes("a", order, .asks(turn: 1), hasFile: true), .comes("b", other, .waits, hasFile: true),
                .comes("c", order, .waits, hasFile: true), .found(1, nil, ["a": .first(turn: 1), "b": .mismatch]),
                .ends(1, answer, ["c": .replayed(answer)]),
            ]
        ),
        (
            "a file that cannot be asked delays nothing",
            [
                .comes("a", order, .asks(turn: 1), hasFile: true), .cannotAsk(1, ["a": .first(turn: 1)]),
                .found(1, RememberedAnswer(fingerprint: order, answer: answer), [:]), .ends(1, answer, [:]),
            ]
        ),
        (
            "a file that does not answer is waited for once, for 1 s, until it answers",
            [
                .comes("a", order, .asks(turn: 1), hasFile: true), .comes("b", order, .waits, hasFile: true),
                .passes(1, ["a": .first(turn: 1)]), .ends(1, nil, ["b": .first(turn: 2)]), .ends(2, nil, [:]),
                .comes("c", order, .decided(.first(turn: 3)), hasFile: true), .ends(3, nil, [:]), .found(1, nil, [:]),
                .comes("d", order, .asks(turn: 4), hasFile: true),
            ]
        ),
        (
            "an answer counts for a time",
            [
                .comes("a", order, .decided(.first(turn: 1))), .ends(1, answer, [:]), .passes(99, [:]),
                .comes("b", order, .decided(.replayed(answer))), .passes(1, [:]), .comes("c", order, .decided(.first(turn: 2))),
            ]
        ),
    ]

    @Test(arguments: stories.indices) func everyCallGetsItsVerdict(index: Int) {
        let (name, steps) = Self.stories[index]
        var (keys, now) = (KeysInUse<Character>(), Int64(0))
        let until = Self.at(100)
        for step in steps {
            let comment = "\(name): \(step)"
            switch step {
            case .comes(let caller, let fingerprint, let admission, let hasFile):
                let got = keys.add(caller, with: Self.scope, fingerprint: fingerprint, now: Self.at(now), hasFile: hasFile)
                #expect(got == admission, "\(comment)")
            case .found(let turn, let found, let verdicts):
                let got = keys.conclude(turn, of: Self.scope, finding: found, until: until)
                #expect(Self.byCaller(got) == verdicts, "\(comment)")
            case .cannotAsk(let turn, let verdicts):
                #expect(Self.byCaller(keys.goOn(turn, of: Self.scope)) == verdicts, "\(comment)")
            case .ends(let turn, let answer, let verdicts):
                let remembered = answer.map { RememberedAnswer(fingerprint: Self.order, answer: $0) }
                let got = keys.end(turn, of: Self.scope, with: remembered, until: until)
                #expect(Self.byCaller(got) == verdicts, "\(comment)")
            case .passes(let seconds, let verdicts):
                now += seconds
                #expect(Self.byCaller(keys.expire(now: Self.at(now))) == verdicts, "\(comment)")
            }
        }
    }

    private static func byCaller(_ decided: [KeysInUse<Character>.Decided]) -> [Character: IdempotencyVerdict] {
        Dictionary(uniqueKeysWithValues: decided.map { ($0.caller, $0.verdict) })
    }

    @Test func whoeverFindsNoPlaceIsAnsweredAtOnce() {
        var limits = KeyLimits()
        (limits.keys, limits.waiting, limits.waitingForOne) = (2, 3, 2)
        var keys = KeysInUse<Int>(limits)
        func add(_ key: UInt8, _ keys: inout KeysInUse<Int>) -> KeysInUse<Int>.Admission {
            keys.add(0, with: IdempotencyScope(digest: [key]), fingerprint: Self.order, now: Self.at(0), hasFile: false)
        }
        #expect(add(1, &keys) == .decided(.first(turn: 1)) && add(2, &keys) == .decided(.first(turn: 2)))
        #expect(add(1, &keys) == .waits && add(1, &keys) == .waits && add(1, &keys) == .decided(.inFlight))
        #expect(add(2, &keys) == .waits && add(2, &keys) == .decided(.inFlight))
        guard case .decided(.first(let turn)) = add(3, &keys) else {
            Issue.record("a call beyond the limit goes on")
            return
        }
        #expect(keys.turnCount == 2, "a call beyond goes on without a turn of its own")
        #expect(keys.end(turn, of: IdempotencyScope(digest: [3]), with: nil, until: .never).isEmpty)
        #expect(keys.expire(now: Self.at(5)).count == 3 && keys.waitingCount == 0)
        #expect(add(1, &keys) == .waits)
    }

    /// Random steps against a plain model: no call is lost or answered twice, and no key has two turns.
    @Test(arguments: 0..<20) func everyCallIsAnsweredOnce(seed: Int) {
        var generator = SeededRandom(seed)
        var limits = KeyLimits()
        limits.waitingForOne = 4
        var keys = KeysInUse<Int>(limits)
        var (now, asking, running, open) = (Int64(0), [Int: Int](), [Int: Int](), Set<Int>())
        let scopes = (0..<4).map { IdempotencyScope(digest: [UInt8($0)]) }
        func take(_ verdict: IdempotencyVerdict, of key: Int) {
            guard case .first(let turn) = verdict else { return }
            #expect(running.updateValue(turn, forKey: key) == nil, "two turns of one key")
            asking[key] = nil
        }
        func give(_ decided: [KeysInUse<Int>.Decided]) {
            for (caller, verdict) in decided {
                #expect(open.remove(caller) != nil, "a call was answered twice")
                take(verdict, of: caller % 4)
            }
        }
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<4, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<4:
                let caller = 4 * step + key
                let fingerprint = Int.random(in: 0..<5, using: &generator) == 0 ? Self.other : Self.order
                let hasFile = Bool.random(using: &generator)
                switch keys.add(caller, with: scopes[key], fingerprint: fingerprint, now: Self.at(now), hasFile: hasFile) {
                case .decided(let verdict): take(verdict, of: key)
                case .waits: open.insert(caller)
                case .asks(let turn):
                    #expect(asking[key] == nil && running[key] == nil)
                    asking[key] = turn
                    open.insert(caller)
                }
            case 4:
                guard let turn = asking.removeValue(forKey: key) else { continue }
                give(keys.conclude(turn, of: scopes[key], finding: nil, until: .never))
            case 5, 6:
                guard let turn = running.removeValue(forKey: key) else { continue }
                let isCertain = Int.random(in: 0..<9, using: &generator) == 0
                let answer = isCertain ? RememberedAnswer(fingerprint: Self.order, answer: Self.answer) : nil
                give(keys.end(turn, of: scopes[key], with: answer, until: Self.at(now + 3)))
            default:
                now += 1
                give(keys.expire(now: Self.at(now)))
            }
        }
        for key in 0..<4 {
            if let turn = asking.removeValue(forKey: key) { give(keys.goOn(turn, of: scopes[key])) }
            while let turn = running.removeValue(forKey: key) { give(keys.end(turn, of: scopes[key], with: nil, until: .past)) }
        }
        #expect(open.isEmpty && keys.turnCount == 0 && keys.waitingCount == 0)
    }

    @Test func theOldestAnswerMakesRoom() {
        var recent = RecentAnswers(byteLimit: 5_000)
        let remembered = RememberedAnswer(
            fingerprint: Self.order, answer: StoredAnswer(status: 202, body: Array(repeating: 0, count: 600)))
        let scopes = (0..<10_000).map { IdempotencyScope(digest: [UInt8($0 & 255), UInt8($0 >> 8)]) }
        for scope in scopes { recent.remember(remembered, of: scope, until: .never) }
        #expect(recent.count == 5)
        #expect(scopes.suffix(5).allSatisfy { recent.answer(to: $0, now: Self.at(0)) == remembered })
        for _ in 0..<9 { recent.remember(remembered, of: scopes[9_999], until: .never) }
        #expect(recent.count == 5, "an answer in place of another takes no more room")
    }

    private static func scope(_ number: Int, of party: String) -> IdempotencyScope {
        IdempotencyScope(digest: Array("\(party) \(number)".utf8), of: Party(tenant: party, source: nil))
    }

    /// The answers of another tenant, so many of such a size, do not push out the one answer of a tenant.
    @Test(arguments: [(40, 1 << 20), (10_000, 600), (1, 1 << 20), (50_000, 0)])
    func theAnswersOfWhoeverHasMostMakeRoom(count: Int, size: Int) {
        var recent = RecentAnswers(byteLimit: 4 << 20)
        func answer(_ size: Int) -> RememberedAnswer {
            RememberedAnswer(
                fingerprint: Self.order, answer: StoredAnswer(status: 202, body: Array(repeating: 0, count: size)))
        }
        recent.remember(answer(500), of: Self.scope(0, of: "quiet"), until: .never)
        for number in 0..<count { recent.remember(answer(size), of: Self.scope(number, of: "greedy"), until: .never) }
        #expect(recent.answer(to: Self.scope(0, of: "quiet"), now: Self.at(0)) == answer(500))
        #expect(recent.answer(to: Self.scope(count - 1, of: "greedy"), now: Self.at(0)) == answer(size))
        let isKept = count * (size + 400) + 900 <= 4 << 20
        #expect((recent.answer(to: Self.scope(0, of: "greedy"), now: Self.at(0)) == nil) == !isKept, "its oldest went first")
    }

    @Test func oneTenantTakesAQuarterOfTheTurnsAndOfTheWaits() {
        var limits = KeyLimits()
        (limits.keys, limits.waiting) = (40, 16)
        var keys = KeysInUse<Int>(limits)
        func add(_ number: Int, of party: String) -> KeysInUse<Int>.Admission {
            let scope = Self.scope(number, of: party)
            return keys.add(0, with: scope, fingerprint: Self.order, now: Self.at(0), hasFile: false)
        }
        for number in 0..<100 { _ = add(number, of: "greedy") }
        #expect(keys.turnCount == 10)
        for number in 0..<8 { #expect(add(number, of: "greedy") == (number < 4 ? .waits : .decided(.inFlight))) }
        guard case .decided(.first(let turn)) = add(0, of: "quiet") else {
            Issue.record("another tenant has its turn")
            return
        }
        #expect(keys.turnCount == 11 && add(0, of: "quiet") == .waits)
        #expect(keys.end(turn, of: Self.scope(0, of: "quiet"), with: nil, until: .never).count == 1)
        #expect(keys.expire(now: Self.at(5)).count == 4 && keys.waitingCount == 0)
        for number in 0..<4 { #expect(add(number, of: "greedy") == .waits, "what was given back can be taken") }
    }
}
