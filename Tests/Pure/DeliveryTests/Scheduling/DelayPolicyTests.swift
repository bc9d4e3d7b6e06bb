import PushModel
import TestSupport
import Testing

@testable import Delivery

/// Where requests wait that must not be sent yet, and for how long those wait again for which there is no room.
@Suite struct DelayPolicyTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    /// Each row: the wait and what is left until the expiry, in milliseconds, whether it is left to the next owner, and its lane.
    @Test(
        arguments: [
            (10_499, nil, false, nil), (10_500, nil, false, 0), (60_499, nil, false, 0), (60_500, nil, false, 1),
            (90_000, 20_000, false, 0), (90_000, 5_000, false, nil), (0, nil, true, 0), (0, 10_500, true, nil),
            (0, 10_501, true, 0), (4_000_000, nil, true, 3),
            (-5, nil, false, nil),
        ] as [(Int64, Int64?, Bool, Int?)])
    func aRequestWaitsInTheLaneOfItsWait(_ wait: Int64, _ expiry: Int64?, _ isLeft: Bool, _ lane: Int?) {
        let found = DelayPolicy(DelayLanes()).lane(
            until: Self.now.adding(milliseconds: wait), expiresAt: expiry.map { Self.now.adding(milliseconds: $0) },
            isLeft: isLeft, now: Self.now)
        #expect(found == lane)
    }

    @Test func aRequestWaitsNoLongerThanItIsOfUse() {
        #expect(DelayPolicy.moment(until: 50, expiresAt: nil) == 50)
        #expect(DelayPolicy.moment(until: 50, expiresAt: 40) == 40)
        #expect(DelayPolicy.moment(until: 50, expiresAt: 60) == 50)
    }

    /// Each row: what is left of the wait and until the expiry, and the next lane.
    @Test(
        arguments: [(60_500, nil, 1), (60_500, 1, 1), (60_500, 0, nil), (10_499, nil, nil)] as [(Int64, Int64?, Int?)])
    func aRequestThatIsNotDueIsHandedOnUntilItExpires(_ wait: Int64, _ expiry: Int64?, _ lane: Int?) {
        let found = DelayPolicy(DelayLanes()).nextLane(
            until: Self.now.adding(milliseconds: wait), expiresAt: expiry.map { Self.now.adding(milliseconds: $0) },
            now: Self.now)
        #expect(found == lane)
    }

    /// Each row: the age of a request that is deferred, and how long it waits, in milliseconds.
    @Test(
        arguments: [
            (-1000, 10_500), (0, 10_500), (10_501, 10_501), (900_000, 900_000), (36_000_000, 3_600_500),
        ] as [(Int64, Int64)])
    func aDeferredRequestWaitsAsLongAgainWithinTheLanes(_ age: Int64, _ wait: Int64) {
        let due = DelayPolicy.deferral(publishedAt: Self.now.adding(milliseconds: -age), now: Self.now)
        #expect(due == Self.now.adding(milliseconds: wait))
    }

    @Test func aWaitIsHeldFromTheLengthOfTheShortestLaneOn() {
        #expect(!DelayPolicy.isLong(until: Self.now.adding(milliseconds: 10_499), now: Self.now))
        #expect(DelayPolicy.isLong(until: Self.now.adding(milliseconds: 10_500), now: Self.now))
        #expect(DelayPolicy(DelayLanes()).hasLanes && !DelayPolicy(DelayLanes([])).hasLanes)
    }

    /// Each row: the calls that a tenant has waiting, the tenants that have some, the calls that the hub may have in flight.
    @Test(
        arguments: [
            (0, 0, 1, true), (1, 1, 1, false), (63, 1, 64, true), (64, 1, 64, false), (15, 64, 64, true), (16, 64, 64, false),
            (0, 5000, 64, true), (1, 5000, 64, false),
        ])
    func aTenantHasAPlaceWhileFewOfItsCallsWait(_ waiting: Int, _ tenants: Int, _ most: Int, _ hasPlace: Bool) {
        #expect(HubBuffers.hasPlace(waiting: waiting, tenantCount: tenants, most: most) == hasPlace)
    }

    /// Each row: the reach of a partition of held requests in a window of 1,000, and the offset before which what waits is written again.
    @Test(arguments: [(750, nil), (751, 351), (1000, 600)] as [(Int64, Int64?)])
    func heldRequestsAreWrittenAgainWhenThreeQuartersOfTheWindowAreFull(_ length: Int64, _ start: Int64?) {
        #expect(HeldRules.relocationStart(lowWaterMark: 100, position: 100 + length, window: 1000) == start)
        #expect(HeldRules.hasRoom(count: 249, bytes: 12 << 20, window: 1000))
        #expect(!HeldRules.hasRoom(count: 250, bytes: 0, window: 1000))
        #expect(!HeldRules.hasRoom(count: 0, bytes: 12 << 20 + 1, window: 1000))
    }
}
