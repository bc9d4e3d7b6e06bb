import Delivery
import PushModel
import TestSupport
import Testing

struct DelayLanesTests {
    @Test(
        arguments: [
            (.min, nil), (-1, nil), (0, nil), (10_499, nil), (10_500, 0), (60_499, 0), (60_500, 1), (600_499, 1), (600_500, 2),
            (3_600_499, 2), (3_600_500, 3), (86_400_000, 3), (.max, 3),
        ] as [(Int64, Int?)])
    func aWaitTakesTheLargestLaneThatIsShorterBySomeMargin(_ wait: Int64, _ lane: Int?) {
        #expect(DelayLanes().lane(for: wait) == lane)
    }

    @Test(
        arguments: [
            ([], 3_600_000, nil), ([0], 3_600_000, 0), ([3, 1], 700_000, 1), ([1, 3], 60_499, nil), ([7, -1, 2], 3_600_000, 2),
        ] as [([Int], Int64, Int?)])
    func aLaneThatIsNotThereIsNotTaken(_ available: [Int], _ wait: Int64, _ lane: Int?) {
        #expect(DelayLanes(available).lane(for: wait) == lane)
    }

    @Test(
        arguments: [
            ([0, 1, 2, 3], 1, 1), ([0, 2, 3], 1, 0), ([2, 3], 1, 2), ([3], 0, 3), ([0], 3, 0), ([0, 2], 3, 2), ([3, 0], 2, 0),
            ([], 1, nil),
        ] as [([Int], Int, Int?)])
    func aLaneIsReplacedByTheNextShorterOneOrElseTheShortest(_ available: [Int], _ lane: Int, _ nearest: Int?) {
        #expect(DelayLanes(available).nearest(to: lane) == nearest)
    }

    @Test(
        arguments: [
            ([0, 1, 2, 3], nil, 0), ([0], nil, 0), ([1, 2, 3], nil, nil), ([], nil, nil),
            // It must not expire while it waits for what is in front of it.
            ([0, 1], 1_010_501, 0), ([0, 1], 1_010_500, nil), ([0, 1], 999_999, nil), ([0], .max, 0), ([0], .min, nil),
        ] as [([Int], Int64?, Int?)])
    func whatTheNextOwnerIsToKnowGoesByTheShortestLaneOrNone(_ available: [Int], _ expiry: Int64?, _ lane: Int?) {
        let found = DelayLanes(available).laneToNextOwner(expiresAt: expiry.map { .at($0) }, now: .at(1_000_000))
        #expect(found == lane)
    }

    @Test(
        arguments: [
            // Written at 1,000,000, looked at when the lane's 10 s are over.
            (0, 1_000_000, 9_000_000, 1_002_000, 1_010_000),
            // It is due before: the wait was as long as the lane, and the record was written a little later than decided.
            (0, 1_000_040, 1_010_000, 1_000_050, 1_010_000),
            // Due already, and over already.
            (1, 1_000_000, 1_030_000, 5_000_000, 1_030_000), (1, 1_000_000, 9_000_000, 5_000_000, 1_060_000),
            // A record that claims to be from the future holds the others up no longer than the lane is long.
            (0, .max, .max, 1_000_000, 1_010_000), (3, 8_000_000_000_000, 9_000_000_000_000, 1_000_000, 4_600_000),
            (2, .min, .max, 1_000_000, 600_000 - Timestamp.limit), (2, .min, .min, 1_000_000, .min),
        ] as [(Int, Int64, Int64, Int64, Int64)])
    func aRecordIsLookedAtWhenItsLaneOrItsWaitIsOver(
        _ lane: Int, _ written: Int64, _ due: Int64, _ now: Int64, _ expected: Int64
    ) {
        #expect(DelayLanes.recheckTime(in: lane, written: .at(written), due: .at(due), now: .at(now)) == .at(expected))
    }

    /// The lane, when it was written there, when it is due, and the present moment.
    @Test(
        arguments: [
            (0, 1_000_000, 9_000_000, 1_009_999, false), (0, 1_000_000, 9_000_000, 1_010_000, true),
            (3, 1_000_000, 9_000_000, 4_599_999, false), (3, 1_000_000, 9_000_000, 4_600_000, true),
            // It was due before.
            (2, 1_000_000, 1_030_000, 1_029_999, false), (2, 1_000_000, 1_030_000, 1_030_000, true),
            // The writer's clock is ahead by a little, and by too much to say anything.
            (0, 1_000_300, 9_000_000, 1_000_000, false), (0, 1_010_001, 9_000_000, 1_000_000, true), (0, .max, .max, 5, true),
            // A held request goes on at any time, and what is unknown proves nothing.
            (nil, 1_000_000, 9_000_000, 1_000_001, true), (0, nil, 9_000_000, 1_000_001, true),
            (0, 1_000_000, nil, 1_000_001, true),
        ] as [(Int?, Int64?, Int64?, Int64, Bool)])
    func onlyWhatCannotHaveBeenCheckedAgainIsKnownToWait(
        _ lane: Int?, _ written: Int64?, _ due: Int64?, _ now: Int64, _ mayHaveGoneOn: Bool
    ) {
        let answer = DelayLanes.mayHaveGoneOn(
            in: lane, written: written.map { .at($0) }, due: due.map { .at($0) }, now: .at(now))
        #expect(answer == mayHaveGoneOn)
    }

    /// From lane to lane a wait of any length comes to its moment: never early, and without many hops.
    @Test(arguments: 0..<20) func anyWaitEndsAtItsMoment(_ seed: Int) throws {
        var random = SeededRandom(seed)
        let lanes = DelayLanes()
        for _ in 0..<200 {
            let start = Int64(random.below(1 << 40))
            let due = start + Int64(random.below(1 << Int.random(in: 1...31, using: &random)))
            var now = start
            var hops = 0
            while let lane = lanes.lane(for: due - now) {
                try #require(DelayLanes.lengths.indices.contains(lane))
                // The record is there some time after it was decided, and is looked at some time after it could be.
                let written = now + Int64(random.below(Int(DelayLanes.margin)))
                let moment = DelayLanes.recheckTime(in: lane, written: .at(written), due: .at(due), now: .at(written))
                let recheckTime = moment.milliseconds
                #expect(recheckTime <= due && recheckTime == written + DelayLanes.lengths[lane])
                now = recheckTime + Int64(random.below(5))
                hops += 1
                if now > due { break }
            }
            #expect(now >= due - 10_000 - DelayLanes.margin && now <= due + 5)
            #expect(hops <= (due - start) / 3_600_000 + 5 + 9 + 5 + 3)
        }
    }
}
