import TestSupport
import Testing
import Users

@Suite struct CheckTurnsTests {
    private func drain(_ turns: inout CheckTurns<String>, _ count: Int = .max) -> [String] {
        var taken: [String] = []
        while taken.count < count, let next = turns.take() { taken.append(next) }
        return taken
    }

    @Test func addressesTakeTurns() {
        var turns = CheckTurns<String>()
        for number in 0..<4 { #expect(turns.put("a\(number)", from: network("10.0.0.1"), rank: .user) == .waits) }
        for number in 0..<2 { #expect(turns.put("b\(number)", from: network("10.0.0.2"), rank: .user) == .waits) }
        #expect(drain(&turns, 1) == ["a0"])
        #expect(turns.put("c0", from: network("10.0.0.3"), rank: .user) == .waits)
        #expect(drain(&turns) == ["b0", "a1", "c0", "b1", "a2", "a3"])
        #expect(turns.count == 0 && turns.take() == nil)
    }

    @Test(arguments: SignInRank.allCases) func anAddressHoldsAtMostHalfAndLeavesRoomForOthers(rank: SignInRank) {
        var turns = CheckTurns<String>()
        let limit = CheckTurns<String>.limit(of: rank)
        for _ in 0..<(limit / 2) { #expect(turns.put("a", from: network("10.0.0.1"), rank: rank) == .waits) }
        #expect(turns.put("a", from: network("10.0.0.1"), rank: rank) == .addressIsFull)
        var others = 0
        while turns.put("b", from: network("10.0.1.\(others)"), rank: rank) == .waits { others += 1 }
        #expect(others == limit / 2)
        #expect(turns.put("c", from: network("10.0.0.1"), rank: rank) == .isFull)
        #expect(turns.count == limit)
        // Another rank has places of its own.
        let other: SignInRank = rank == .user ? .expected : .user
        #expect(turns.put("c", from: network("10.0.0.1"), rank: other) == .waits)
    }

    @Test func theLaterRanksGetOneTurnOfEightEach() {
        var turns = CheckTurns<String>()
        for host in 0..<10 {
            #expect(turns.put("expected", from: network("10.0.0.\(host)"), rank: .expected) == .waits)
            #expect(turns.put("user", from: network("10.0.0.\(host)"), rank: .user) == .waits)
            #expect(turns.put("stranger", from: network("10.0.0.\(host)"), rank: .stranger) == .waits)
        }
        let first = drain(&turns, 8)
        #expect(first.count { $0 == "expected" } == 6 && first[3] == "user" && first[7] == "stranger")
        // Nobody's turn is not wasted, and none is lost.
        #expect(drain(&turns).count == 22)
    }

    @Test(arguments: [1, 2, 3]) func whatWaitsIsTakenOnceAndInTheOrderOfItsAddress(seed: Int) {
        var random = SeededRandom(seed)
        var turns = CheckTurns<(line: Int, number: Int)>()
        var next = [Int](repeating: 0, count: 30)
        var expected = [Int](repeating: 0, count: 30)
        var count = 0
        for _ in 0..<10_000 {
            if random.below(2) == 0 {
                let line = random.below(30)
                let rank = SignInRank.allCases[line % 3]
                guard turns.put((line, next[line]), from: network("10.0.0.\(line)"), rank: rank) == .waits else { continue }
                next[line] += 1
                count += 1
            } else if let taken = turns.take() {
                #expect(taken.number == expected[taken.line])
                expected[taken.line] += 1
                count -= 1
            }
            #expect(turns.count == count)
        }
    }
}
