import Delivery
import TestSupport
import Testing

/// The memory that several hubs share.
struct HubSharesTests {
    /// What the hubs hold, the first of them first, and whether that one may begin another request. Each of three has 100, and 300 are for
    /// whoever needs them.
    @Test(
        arguments: [
            // What a hub is sure of, it has whatever the others hold.
            ([], true), ([0, 0, 0], true), ([0, 400, 100], true), ([99, 400, 100], true), ([99, 5000, 5000], true),
            // A hub alone has all that is common.
            ([100, 0, 0], true), ([399, 0, 0], true), ([400, 0, 0], false), ([400, 100, 100], false),
            // Of that the others' shares are no part, used or not.
            ([249, 250, 0], true), ([250, 250, 0], false), ([200, 250, 150], false), ([199, 250, 150], true),
            // What the others have borrowed is gone.
            ([100, 400, 0], false), ([101, 400, 100], false), ([.max, 0, 0], false),
        ] as [([Int], Bool)])
    func aHubHasItsShareAndWhatNoOtherHasBorrowed(held: [Int], hasRoom: Bool) {
        #expect(HubShares(budget: 600, hubs: 3).hasRoom(for: 0, among: held) == hasRoom)
    }

    /// The request itself, which is counted already, takes no room of its own.
    @Test(arguments: [(0, 500, true), (99, 500, true), (100, 300, false), (100, 0, true)])
    func theRequestThatIsAskedForIsNotCounted(own: Int, other: Int, hasRoom: Bool) {
        let shares = HubShares(budget: 400, hubs: 2)
        #expect(shares.hasRoom(for: 1, among: [other, own + 1000], besides: 1000) == hasRoom)
    }

    @Test(arguments: [(0, 3), (-1, 3), (Int.min, 0), (5, 100)]) func withoutABudgetOneRequestOfEachHubIsInWork(
        budget: Int, hubs: Int
    ) {
        let shares = HubShares(budget: budget, hubs: hubs)
        #expect(shares.hasRoom(for: 0, among: [0, 100, 100]) && shares.hasRoom(for: 7, among: [100, 100]))
        #expect(!shares.hasRoom(for: 0, among: [1, 100, 100]))
    }

    /// Hubs that are out take all that they may, together or one after the other. No hub has more than its last request too much, and one
    /// that works has its share.
    @Test(arguments: 0..<20) func hubsThatAreOutLeaveItsShareToAHubThatWorks(seed: Int) {
        var random = SeededRandom(seed)
        let (budget, largest, hubs) = (1_000_000, 10_000, 2 + random.below(8))
        let shares = HubShares(budget: budget, hubs: hubs)
        var held = [Int](repeating: 0, count: hubs)
        for _ in 0..<4 {
            // The last hub is the one that works.
            for hub in Array(0..<hubs - 1).shuffled(using: &random) {
                for _ in 0..<random.below(400) where shares.hasRoom(for: hub, among: held) {
                    held[hub] += 1 + random.below(largest)
                }
            }
        }
        #expect(held.reduce(0, +) < budget + hubs * largest)
        while held[hubs - 1] < shares.guaranteed {
            guard shares.hasRoom(for: hubs - 1, among: held) else { break }
            held[hubs - 1] += 1 + random.below(largest)
        }
        #expect(held[hubs - 1] >= shares.guaranteed, "\(held)")
    }
}
