import Testing

@testable import Basics

/// The share of one holder of a bounded number of places.
struct SharesTests {
    @Test(arguments: [(places: 100, part: 4, alone: 25), (100, 2, 50), (100, 1, 50), (3, 4, 1), (1, 4, 1), (0, 4, 0)])
    func oneAloneHasAPartOfThePlaces(places: Int, part: Int, alone: Int) {
        var shares = Shares<String>(places: places, part: part)
        #expect(Self.fill(&shares, for: "greedy") == alone)
        #expect(shares.taken == alone && shares["greedy"] == alone)
        #expect(shares.admits("newcomer") == (places > alone))
    }

    @Test(arguments: [1, 3, 4, 10, 60, 99])
    func howeverManyAreGreedyANewcomerFindsAPlace(count: Int) {
        var shares = Shares<Int>(places: 100)
        for _ in 0..<100 { for holder in 1...count { _ = shares.take(for: holder) } }
        #expect(shares.free > 0 && shares.admits(0))
        #expect((1...count).allSatisfy { !shares.admits($0) })
    }

    @Test func whatIsGivenBackCanBeTaken() {
        var shares = Shares<String>(places: 8)
        #expect(Self.fill(&shares, for: "a") == 2)
        shares.give(back: 1, of: "a")
        #expect(Self.fill(&shares, for: "a") == 1)
        shares.give(back: 9, of: "a")
        shares.give(back: 1, of: "unknown")
        #expect(shares.taken == 0 && shares.holderCount == 0)
    }

    @Test func noHolderInParticularMayHaveAllThatIsFree() {
        var shares = Shares<String>(places: 8)
        #expect(Self.fill(&shares, for: "a") == 2)
        #expect(Self.fill(&shares, for: nil) == 6)
        shares.give(back: 6, of: nil)
        #expect(shares.free == 6 && shares["a"] == 2)
    }

    @Test func whatWasThereBeforeCountsBeyondTheShare() {
        var shares = Shares<String>(places: 8)
        shares.add(12, to: "a")
        #expect(!shares.admits("a") && !shares.admits("b") && shares.free == -4)
        shares.give(back: 11, of: "a")
        #expect(shares.admits("a") && shares.admits("b"))
    }

    @Test(arguments: [(26, "a"), (-1, "a"), (101, nil)] as [(Int, String?)])
    func aRefusedAmountChangesNothing(amount: Int, holder: String?) {
        var shares = Shares<String>(places: 100)
        let isTaken = shares.take(amount, for: holder)
        #expect(!isTaken && shares.taken == 0 && shares.holderCount == 0)
    }

    private static func fill(_ shares: inout Shares<String>, for holder: String?) -> Int {
        var count = 0
        while shares.take(for: holder) { count += 1 }
        return count
    }
}
