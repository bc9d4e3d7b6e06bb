import Basics
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

@Suite struct BacklogTests {
    private static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    @Test func nothingUnreadWaitsForNothing() {
        var age = BacklogAge()
        #expect(age.oldest(unreadCount: 0, lastTaken: Self.at(5), now: Self.at(10)) == nil)
    }

    @Test func aBacklogIsAsOldAsTheLastRecordThatWasTaken() {
        var age = BacklogAge()
        #expect(age.oldest(unreadCount: 3, lastTaken: Self.at(500), now: Self.at(10_000)) == Self.at(500))
        #expect(age.oldest(unreadCount: 9, lastTaken: Self.at(500), now: Self.at(90_000)) == Self.at(500), "a paused hub")
    }

    @Test func aNewRecordOfAQuietTopicIsNotAsOldAsTheOneBefore() {
        var age = BacklogAge()
        #expect(age.oldest(unreadCount: 0, lastTaken: Self.at(500), now: Self.at(3_600_000)) == nil)
        #expect(age.oldest(unreadCount: 1, lastTaken: Self.at(500), now: Self.at(3_601_000)) == Self.at(3_600_000))
    }

    @Test func aBacklogOfWhichNothingWasTakenAgesFromWhenItWasSeen() {
        var age = BacklogAge()
        #expect(age.oldest(unreadCount: 1, lastTaken: nil, now: Self.at(1000)) == Self.at(1000))
        #expect(age.oldest(unreadCount: 4, lastTaken: nil, now: Self.at(9000)) == Self.at(1000))
        #expect(age.oldest(unreadCount: 4, lastTaken: Self.at(20), now: Self.at(9500)) == Self.at(20))
    }

    @Test func aPublishersClockThatIsAheadGivesNoNegativeAge() {
        var age = BacklogAge()
        #expect(age.oldest(unreadCount: 1, lastTaken: Self.at(50_000), now: Self.at(1000)) == Self.at(1000))
    }

    /// Published, `not_before` and due of a request, and since when it waits.
    @Test(
        arguments: [
            (100, nil, nil, 100), (100, 900, nil, 900), (100, 50, nil, 100), (100, nil, 700, 700), (100, 900, 700, 700),
            (100, nil, Int64.min, Int64.min), (100, nil, Int64.max, Int64.max),
        ] as [(Int64, Int64?, Int64?, Int64)])
    func whatIsNotToGoOnYetDoesNotWait(published: Int64, notBefore: Int64?, due: Int64?, since: Int64) {
        let moment = WaitingSince.moment(
            published: Self.at(published), notBefore: notBefore.map(Self.at), due: due.map(Self.at))
        #expect(moment == Self.at(since))
    }

    /// Look and since when it waits of the next record, look of the last one taken, unread records behind, and the answer at 1000.
    @Test(
        arguments: [
            (nil, nil, 5, nil), (nil, 300, 0, nil), (nil, 300, 5, 300), (nil, 2000, 5, 2000), ((400, 700), 300, 5, 700),
            ((400, 700), 300, 0, 700), ((400, 5000), 300, 5, 400), ((400, 5000), 300, 0, 5000), ((3000, 5000), 300, 5, 3000),
        ] as [((Int64, Int64)?, Int64?, Int64, Int64?)])
    func aDelayLaneWaitsFromWhenItsNextRecordIsDueOrCouldHaveBeen(
        next: (Int64, Int64)?, lastLook: Int64?, unreadCount: Int64, expected: Int64?
    ) {
        let since = DelayedBacklog.oldest(
            next: next.map { (Self.at($0), Self.at($1)) }, lastLook: lastLook.map(Self.at), unreadCount: unreadCount,
            now: Self.at(1000))
        #expect(since == expected.map(Self.at))
    }

    @Test func aFlightWaitsForWhatItCarriesAndNotForWhatItCarriedBefore() {
        let flight = Flight(index: 0)
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Self.at(100))
        flight.request.notBefore = Self.at(5000)
        flight.begin(epoch: 0, slot: 0, origin: origin, now: Self.at(200), monotonic: 0)
        #expect(flight.waitingSince == Self.at(5000))
        flight.wait.deadLetter = OutcomeBatch()
        #expect(flight.waitingSince == Self.at(.max), "a record of another group")
        flight.wait.deadLetter?.add(.deadLetters, of: .init(slot: 0, offset: 0)) { $0.copyValue([1].span) }
        #expect(flight.waitingSince == Self.at(100), "one that nobody understands")
    }

    @Test func theRateIsThatOfTheLastTenSeconds() {
        var rate = FinishRate()
        #expect(rate.perSecond == 0)
        for second in 0...30 {
            rate.add(second < 20 ? 0 : (second - 20) * 50, at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000))
        }
        #expect(rate.perSecond == 50)
    }

    @Test func theFirstWaitOfAFlightIsFoundWithoutStaleOnes() {
        var heap = MomentHeap<MonotonicTime, WaitingCall>()
        for (flight, due, generation) in [(1, 50, 7), (1, 30, 7), (1, 10, 6), (2, 5, 1), (3, 4, 0)] {
            heap.add(
                WaitingCall(flight: flight, call: 0, generation: UInt32(generation)),
                at: MonotonicTime(nanoseconds: Int64(due)))
        }
        #expect(heap.firstDue(of: [1: 7, 2: 1, 9: 0]) == [1: 30, 2: 5])
    }
}
