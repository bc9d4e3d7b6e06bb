import Delivery
import TestSupport
import Testing

struct FairTurnsTests {
    /// Turns of a few tenants by name, with what waits.
    private struct Bench {
        var turns: FairTurns
        private var names: [Int: String] = [:]

        init(_ weights: [String: Int] = [:]) {
            turns = FairTurns(weights: Self.weights(weights))
        }

        static func weights(_ weights: [String: Int]) -> TenantWeights {
            var all = TenantWeights()
            for (name, weight) in weights { all[name.isEmpty ? .none : TenantID(name)] = weight }
            return all
        }

        static func id(_ name: String) -> TenantID { name.isEmpty ? .none : TenantID(name) }

        mutating func add(_ name: String, _ count: Int = 1) {
            for _ in 0..<count { names[turns.add(turns.queue(of: Self.id(name)))] = name }
        }

        mutating func next(_ count: Int) -> [String] {
            (0..<count).compactMap { _ in turns.next().flatMap { names[$0] } }
        }
    }

    private enum Step {
        case add(String, Int)
        case turns([String])
    }

    private static let cases: [(weights: [String: Int], steps: [Step])] = [
        // Nobody has work.
        ([:], [.turns([])]),
        // One alone has all turns; requests without a tenant are one of their own.
        ([:], [.add("", 2), .turns(["", ""]), .add("a", 1), .turns(["a"])]),
        ([:], [.add("", 3), .add("a", 3), .turns(["", "a", "", "a", "", "a"])]),
        // What a flood has waiting does not hold up who comes later.
        ([:], [.add("flood", 9), .turns(["flood", "flood", "flood"]), .add("b", 1), .turns(["b", "flood"])]),
        // Weights, evenly spread.
        (["a": 2], [.add("a", 9), .add("b", 9), .turns(["a", "b", "a", "b", "a", "a", "b"])]),
        ([:], [.add("a", 2), .add("b", 2), .add("c", 2), .turns(["a", "b", "c", "a", "b", "c"])]),
        // No credit for idleness: after a rest it has its part, not more.
        (
            [:],
            [
                .add("a", 1), .add("b", 20), .turns(["a", "b", "b", "b", "b", "b"]), .add("a", 9),
                .turns(["a", "b", "a", "b", "a", "b"]),
            ]
        ),
        // Who has had a turn does not get the next one by having nothing meanwhile.
        (
            [:],
            [
                .add("b", 20), .add("a", 1), .turns(["b", "a"]), .add("a", 1), .turns(["b", "a"]), .add("a", 1),
                .turns(["b", "a", "b", "b"]),
            ]
        ),
        // A weight beyond its range is clamped.
        (["a": -3], [.add("a", 3), .add("b", 3), .turns(["a", "b", "a", "b"])]),
        (["": 3], [.add("", 9), .add("b", 9), .turns(["", "b", "", "", "", "b"])]),
    ]

    @Test(arguments: cases.indices) func turnsAreGivenByWeight(_ index: Int) {
        var bench = Bench(Self.cases[index].weights)
        for (place, step) in Self.cases[index].steps.enumerated() {
            switch step {
            case .add(let name, let count): bench.add(name, count)
            case .turns(let expected): #expect(bench.next(max(expected.count, 1)) == expected, "step \(place)")
            }
        }
    }

    @Test(arguments: [[8, 4, 1], [1, 1, 1], [1000, 1, 10], [3, 7], [5, 4, 3, 2, 1]])
    func whileAllHaveWorkSharesAreExactAtEveryMoment(_ weights: [Int]) {
        var named = TenantWeights()
        for (tenant, weight) in weights.enumerated() { named[TenantID("t\(tenant)")] = weight }
        var turns = FairTurns(weights: named)
        let numbers = weights.indices.map { turns.add(TenantID("t\($0)")) }
        let sum = Double(weights.reduce(0, +))
        var counts = weights.map { _ in 0 }
        for turn in 1...20_000 {
            // Each has one more before every turn.
            for tenant in weights.indices { #expect(turns.add(TenantID("t\(tenant)")) == numbers[tenant]) }
            guard let tenant = turns.next().flatMap({ numbers.firstIndex(of: $0) }) else {
                Issue.record("somebody has work")
                return
            }
            counts[tenant] += 1
            for tenant in weights.indices {
                let share = Double(turn * weights[tenant]) / sum
                #expect(abs(Double(counts[tenant]) - share) < Double(weights.count) + Double(turn) / 10_000)
            }
        }
    }

    /// Tenants come and go at random: everything added has its turn exactly once, nobody waits longer than the weights say, and nothing
    /// is given while something waits elsewhere.
    @Test(arguments: 0..<20) func nobodyIsLeftOut(_ seed: Int) {
        var random = SeededRandom(seed)
        let names = (0..<(2 + random.below(8))).map { "t\($0)" }
        let weights = Dictionary(uniqueKeysWithValues: names.map { ($0, 1 + random.below(20)) })
        let sum = weights.values.reduce(0, +)
        var bench = Bench(weights)
        var waiting: [String: Int] = [:]
        var turnsWaited: [String: Int] = [:]
        for _ in 0..<5_000 {
            if random.below(3) > 0, let name = names.randomElement(using: &random) {
                let count = 1 + random.below(4)
                bench.add(name, count)
                waiting[name, default: 0] += count
                continue
            }
            guard let name = bench.next(1).first else {
                #expect(waiting.isEmpty)
                continue
            }
            let left = (waiting[name] ?? 0) - 1
            #expect(left >= 0, "\(name) had nothing")
            waiting[name] = left > 0 ? left : nil
            turnsWaited[name] = 0
            for other in waiting.keys where other != name {
                turnsWaited[other, default: 0] += 1
                let most = sum / (weights[other] ?? 1) + 2 * names.count
                #expect(turnsWaited[other] ?? 0 <= most, "\(other) waited for \(turnsWaited[other] ?? 0) turns")
            }
        }
        let total = waiting.values.reduce(0, +)
        #expect(bench.next(total + 1).count == total)
        #expect(bench.turns.tenantCount == 0)
    }

    @Test func whatOneDoesNotUseIsTheOthers() {
        var bench = Bench(["idle": 1000])
        bench.add("a", 300)
        bench.add("b", 300)
        var counts: [String: Int] = [:]
        for name in bench.next(600) { counts[name, default: 0] += 1 }
        #expect(counts == ["a": 300, "b": 300])
    }

    @Test func tenantsBeyondTheMostShareQueuesByName() {
        var named = TenantWeights()
        named[TenantID("paying")] = 5
        var turns = FairTurns(weights: named)
        for number in 0..<FairTurns.maximumCount { _ = turns.add(turns.queue(of: TenantID("t\(number)"))) }
        #expect(turns.tenantCount == FairTurns.maximumCount)
        // Those that are there keep their own, as do those with a weight and those without a name.
        for tenant in [TenantID("t0"), TenantID("paying"), .none] { #expect(turns.queue(of: tenant) == tenant) }
        let late = (0..<10_000).map { turns.queue(of: TenantID("late\($0)")) }
        #expect(Set(late).count == 64)
        #expect(turns.queue(of: late[0]) == late[0])
        for queue in late { _ = turns.add(queue) }
        #expect(turns.tenantCount == FairTurns.maximumCount + 64)
        var count = 0
        while turns.next() != nil { count += 1 }
        #expect(count == FairTurns.maximumCount + 10_000)
        // When they have gone, there is room again.
        #expect(turns.tenantCount == 0)
        #expect(turns.queue(of: TenantID("late0")) == TenantID("late0"))
    }

    @Test func tenantsWithoutWorkAreForgotten() {
        var turns = FairTurns()
        for number in 0..<5_000 {
            let tenant = TenantID("t\(number)")
            #expect(turns.queue(of: tenant) == tenant)
            // One after the other, all have one number.
            #expect(turns.add(tenant) == 1 && turns.tenantCount == 1)
            #expect(turns.next() == 1 && turns.tenantCount == 0)
        }
        // While somebody always has work, those whose turns are over go too.
        for _ in 0..<10_000 { _ = turns.add(TenantID("flood")) }
        for number in 0..<5_000 {
            _ = turns.add(TenantID("t\(number)"))
            _ = (turns.next(), turns.next())
            #expect(turns.tenantCount <= 4)
        }
    }

    @Test func workThatWasTakenOutHasNoTurn() {
        var turns = FairTurns()
        let (a, b) = (turns.add(TenantID("a")), turns.add(TenantID("b")))
        turns.remove(1, from: a)
        #expect(turns.count(of: TenantID("a")) == 0 && turns.count(of: TenantID("b")) == 1)
        #expect(turns.next() == b)
        #expect(turns.next() == nil)
        #expect(turns.tenantCount == 0)
    }

    @Test func namesAreToldApart() {
        let ids = Set((0..<100_000).map { TenantID("tenant-\($0)") })
        #expect(ids.count == 100_000 && !ids.contains(.none))
        #expect(TenantID("") != .none)
    }
}
