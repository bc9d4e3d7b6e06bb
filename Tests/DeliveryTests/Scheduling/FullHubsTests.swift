import Basics
import Delivery
import Testing

/// The time for which a hub without room holds up others.
struct FullHubsTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// What a hub of which 100 have room holds, a second after the other, and whether it is overdue at the end.
    @Test(
        arguments: [
            ([], false), ([99, 99, 99, 99, 99, 99, 99], false),
            // It is full for 5 s, or for less.
            ([100, 100, 100, 100, 100, 100], true), ([100, 100, 100, 100, 100], false), ([100, 200, 300, 400, 500, 600], true),
            // Some that leave make no end of it, half of them do.
            ([100, 99, 51, 51, 99, 51], true), ([100, 99, 50, 51, 99, 100], false),
            ([100, 0, 100, 100, 100, 100, 100, 100], true),
            ([100, 100, 100, 100, 100, 100, 50], false), ([.max, .max, 0, .max], false),
        ] as [([Int], Bool)])
    func aHubIsOverdueThatIsFullForFiveSeconds(holding: [Int], isOverdue: Bool) {
        var full = FullHubs()
        var now = Self.start
        for used in holding {
            now += 1_000_000_000
            full.note(3, holding: used, of: 100, now: now)
        }
        #expect(full.isOverdue(3, now: now) == isOverdue)
        #expect(!full.isOverdue(0, now: now) && !full.isOverdue(99, now: now))
    }

    @Test func deferralLastsUntilHalfOfTheRoomIsFree() {
        var full = FullHubs()
        full.note(1, holding: 100, of: 100, now: Self.start)
        #expect(!full.isDeferring(1))
        full.beginDeferral(1)
        for used in [100, 51, 99] {
            full.note(1, holding: used, of: 100, now: Self.start)
            #expect(full.isDeferring(1) && !full.isDeferring(0) && !full.isDeferring(2))
        }
        full.note(1, holding: 50, of: 100, now: Self.start)
        #expect(!full.isDeferring(1))
        full.note(1, holding: 100, of: 100, now: Self.start)
        #expect(!full.isDeferring(1), "it was free, and is full again")
    }

    @Test func eachHubHasATimeOfItsOwn() {
        var full = FullHubs()
        full.note(5, holding: 1, of: 1, now: Self.start)
        full.note(2, holding: 7, of: 7, now: Self.start + 3_000_000_000)
        let later = Self.start + FullHubs.patience
        #expect(full.isOverdue(5, now: later) && !full.isOverdue(2, now: later))
        #expect(full.numbers.sorted() == [2, 5])
        full.note(5, holding: 0, of: 1, now: later)
        #expect(full.numbers == [2] && !full.isOverdue(5, now: later))
    }
}
