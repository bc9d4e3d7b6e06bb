import Basics
import Delivery
import TestSupport
import Testing

/// How far requests may be begun before another position is committed.
struct BeginReserveTests {
    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// A reserve at 100 whose partition was read at the start.
    private static func reserve(end: Int64? = 100) -> BeginReserve {
        var reserve = BeginReserve(end: end)
        reserve.read(at: at(0))
        return reserve
    }

    @Test func aPositionThatNamesNoEndLetsAnythingBegin() {
        #expect(BeginReserve().allows(.max - 1) && BeginReserve(end: 7).allows(6) && !BeginReserve(end: 7).allows(7))
    }

    /// Where reading stood at the last offer and stands now, the record that waits, and the end that is offered 1 s after the last read.
    @Test(
        arguments: [
            (nil, 100, nil, 164), (100, 100, nil, 164), (96, 100, nil, 164), (80, 100, nil, 180), (0, 1000, nil, 5000),
            (100, 100, 100, 165), (100, 100, 5000, 5065), (80, 100, 100, 181), (0, 10_000, nil, 26_384), (100, .max, nil, .max),
        ] as [(Int64?, Int64, Int64?, Int64)])
    func theReserveIsFourTimesWhatWasReadSinceTheLastOffer(before: Int64?, position: Int64, wanted: Int64?, end: Int64) {
        var reserve = Self.reserve()
        if let before { _ = reserve.next(least: 0, position: before, wanted: nil, now: Self.at(1)) }
        #expect(reserve.next(least: 0, position: position, wanted: wanted, now: Self.at(1)) == end)
    }

    @Test func aPositionNamesAllThatAnOwnerBeforeMayHaveBegun() {
        var reserve = Self.reserve()
        #expect(reserve.next(least: 900, position: 100, wanted: nil, now: Self.at(1)) == 900)
        #expect(!reserve.isRestDue(least: 100, now: Self.at(60)), "there is nothing to give back")
    }

    @Test func aPartitionWithoutRecordsGivesItsReserveBackOnce() {
        var reserve = Self.reserve(end: 164)
        #expect(!reserve.isRestDue(least: 100, now: Self.at(4.9)) && reserve.isRestDue(least: 100, now: Self.at(5)))
        let end = reserve.next(least: 100, position: 100, wanted: nil, now: Self.at(5))
        #expect(end == 100)
        reserve.offer(end)
        reserve.noteCommit()
        #expect(!reserve.allows(100) && !reserve.isRestDue(least: 100, now: Self.at(9)))
        // The next record waits for a commit that lets it and those behind it begin.
        reserve.read(at: Self.at(9))
        #expect(reserve.next(least: 100, position: 100, wanted: 100, now: Self.at(9)) == 165)
    }

    /// What the group's position names, what is offered, and the ends while it is offered and when it is committed.
    @Test(
        arguments: [
            (100, 140, 100, 140), (140, 100, 100, 100), (nil, 100, 100, 100), (100, nil, 100, .max), (nil, nil, .max, .max),
        ] as [(Int64?, Int64?, Int64, Int64)])
    func untilACommitIsConfirmedTheLesserOfTwoEndsCounts(named: Int64?, offered: Int64?, during: Int64, after: Int64) {
        var reserve = BeginReserve(end: named)
        reserve.offer(offered)
        #expect(reserve.end == during)
        var withdrawn = reserve
        withdrawn.withdrawn()
        #expect(withdrawn.end == named ?? .max, "the group stands where it stood")
        reserve.noteCommit()
        #expect(reserve.end == after)
        reserve.noteCommit()
        #expect(reserve.end == after, "nothing was offered since")
    }

    /// A commit is confirmed before or after the next 64 records; the reserve must not make a busy partition wait for many.
    @Test(arguments: 0..<20)
    func underLoadFewRecordsWaitForACommit(seed: Int) {
        var random = SeededRandom(seed)
        var (reserve, position, waits) = (Self.reserve(end: 0), Int64(0), 0)
        for _ in 0..<100 {
            for _ in 0..<Int.random(in: 32...64, using: &random) where reserve.allows(position) { position += 1 }
            let isShort = !reserve.allows(position)
            if isShort { waits += 1 }
            reserve.offer(reserve.next(least: 0, position: position, wanted: isShort ? position : nil, now: Self.at(0)))
            reserve.noteCommit()
        }
        #expect(waits <= 3 && position > 4000)
    }
}
