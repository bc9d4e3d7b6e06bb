import PushModel
import Testing

/// The orders that stand, by whose they are: nobody fills another's place, and none rises again.
struct OrdersTests {
    private static let since = OrderRecordTests.since

    private static func order(
        _ number: Int, _ kind: OrderRecord.Kind = .hold, tenant: String? = nil, for span: Int64 = 1000, since: Timestamp = since
    ) -> OrderRecord {
        var scope = OrderScope()
        scope.tenant = tenant
        return OrderRecord(
            id: "o-number\(number)", kind: kind, scope: scope, reason: "why", author: "ann", since: since,
            until: since.adding(milliseconds: span))
    }

    private static func request(_ fields: String = "") -> PushRequest {
        var reading = Reading()
        #expect(reading.read(record(fields)) == .request)
        return reading.request
    }

    @Test func oneIsTakenOnceAndReleasedOnce() {
        var orders = Orders()
        var order = Self.order(1)
        #expect(orders.take(order, now: Self.since) == .change && orders.take(order, now: Self.since) == .none)
        #expect(orders.slowsRequests && !orders.cancelsRequests && orders.all == [order])
        order.release = OrderRecord.Release(at: Self.since.adding(milliseconds: 5), author: "bob")
        #expect(orders.take(order, now: Self.since) == .change && orders.take(order, now: Self.since) == .none)
        #expect(orders.isEmpty && !orders.slowsRequests && orders.history == [order] && orders.order(order.id) == order)
    }

    @Test func whatWasReleasedDoesNotRiseAgain() {
        var (orders, order) = (Orders(), Self.order(1))
        order.release = OrderRecord.Release(at: Self.since, author: "bob")
        #expect(orders.take(order, now: Self.since) == .none, "the release was read first, or again")
        order.release = nil
        #expect(orders.take(order, now: Self.since) == .none)
        #expect(orders.isEmpty)
    }

    @Test func eachEndsByItself() {
        var orders = Orders()
        for (number, span) in [(1, 1000), (2, 3000), (3, 2000)] as [(Int, Int64)] {
            #expect(orders.take(Self.order(number, tenant: "t\(number)", for: span), now: Self.since) == .change)
        }
        for (moment, left) in [(999, [1, 2, 3]), (1000, [2, 3]), (2500, [2]), (3000, [])] as [(Int64, [Int])] {
            let now = Self.since.adding(milliseconds: moment)
            #expect(orders.removeEnded(now: now) == (moment != 999))
            #expect(orders.all.map(\.id) == left.map { "o-number\($0)" }, "\(moment)")
            #expect(orders.removeEnded(now: now) == false, "nothing more has ended")
        }
        #expect(orders.history.count == 3)
        #expect(orders.take(Self.order(1, tenant: "t1"), now: Self.since) == .none, "by a clock that was set back")
    }

    @Test func noTenantFillsAnothersPlace() {
        var orders = Orders()
        for number in 0..<Orders.mostOfTenant {
            #expect(orders.take(Self.order(number, tenant: "a"), now: Self.since) == .change)
        }
        #expect(orders.take(Self.order(5000, tenant: "a"), now: Self.since) == .tooMany)
        #expect(orders.take(Self.order(5000, tenant: "b"), now: Self.since) == .change)
        for number in 0..<Orders.most { #expect(orders.take(Self.order(number), now: Self.since) == .change) }
        #expect(orders.take(Self.order(5000), now: Self.since) == .tooMany)
        #expect(orders.take(Self.order(5001, tenant: "b"), now: Self.since) == .change)
        // A place is free again when one has ended.
        var released = Self.order(7)
        released.release = OrderRecord.Release(at: Self.since, author: "bob")
        #expect(orders.take(released, now: Self.since) == .change && orders.take(Self.order(5000), now: Self.since) == .change)
        for number in 2..<Orders.mostTenants {
            #expect(orders.take(Self.order(0, tenant: "t\(number)"), now: Self.since) == .change)
        }
        #expect(orders.take(Self.order(0, tenant: "late"), now: Self.since) == .tooMany)
    }

    @Test func ofSeveralHoldsTheLastToEndCounts() {
        var orders = Orders()
        for (number, tenant, span) in [(1, nil, 1000), (2, "acme", 3000), (3, "acme", 2000), (4, "bank", 9000)]
            as [(Int, String?, Int64)]
        {
            _ = orders.take(Self.order(number, tenant: tenant, for: span), now: Self.since)
        }
        func hold(_ fields: String, at moment: Int64 = 0) -> String? {
            orders.hold(of: Self.request(fields), hub: nil, lane: "normal", now: Self.since.adding(milliseconds: moment))?.id
        }
        #expect(hold(#""tenant":"acme""#) == "o-number2" && hold(#""tenant":"bank""#) == "o-number4")
        #expect(hold("") == "o-number1" && hold(#""tenant":"shop""#) == "o-number1")
        #expect(hold("", at: 1000) == nil && hold(#""tenant":"acme""#, at: 2999) == "o-number2", "before it is removed, too")
    }

    @Test func limitsAreAllToldAndNoHolds() {
        var orders = Orders()
        _ = orders.take(Self.order(1), now: Self.since)
        _ = orders.take(Self.order(2, .limit(callsPerSecond: 5)), now: Self.since)
        _ = orders.take(Self.order(3, .limit(callsPerSecond: 7), tenant: "acme"), now: Self.since)
        func limits(_ fields: String) -> [String] {
            orders.limits(of: Self.request(fields), hub: nil, lane: "normal", now: Self.since).map(\.id).sorted()
        }
        #expect(limits("") == ["o-number2"] && limits(#""tenant":"acme""#) == ["o-number2", "o-number3"])
    }

    @Test func aCancellationConcernsWhatWasPublishedBetweenItsMoments() {
        var orders = Orders()
        let from = Self.since.adding(milliseconds: -600)
        #expect(orders.take(Self.order(1, .cancel(publishedFrom: from), tenant: "acme"), now: Self.since) == .change)
        #expect(orders.cancelsRequests && !orders.slowsRequests && orders.cancellationCount == 1)
        let request = Self.request(#""tenant":"acme""#)
        for (moment, isMeant) in [(-601, false), (-600, true), (0, true), (1, false)] as [(Int64, Bool)] {
            let published = Self.since.adding(milliseconds: moment)
            let order = orders.cancellation(of: request, published: published, hub: nil, lane: "bulk")
            #expect((order != nil) == isMeant, "\(moment)")
        }
        #expect(orders.cancellation(of: Self.request(), published: Self.since, hub: nil, lane: "bulk") == nil)
        #expect(orders.hold(of: request, hub: nil, lane: "bulk", now: Self.since) == nil)
        #expect(orders.removeEnded(now: Self.since.adding(milliseconds: 1000)) == true)
        #expect(!orders.cancelsRequests)
        #expect(orders.cancellation(of: request, published: Self.since, hub: nil, lane: "bulk") == nil)
    }

    @Test func recordsThatAreFaultyOrAboutSomethingElseChangeNothing() {
        var orders = Orders()
        let cancel = Array("cancel/a".utf8), forged = Array("order/{}".utf8)
        #expect(orders.take(key: cancel.span, value: forged.span, now: Self.since) == .none)
        #expect(orders.take(key: forged.span, value: forged.span, now: Self.since) == .faulty(.unreadable))
        let order = Self.order(1)
        let (key, value) = (order.key, order.value)
        #expect(orders.take(key: key.span, value: nil, now: Self.since) == .none && orders.isEmpty)
        #expect(orders.take(key: key.span, value: value.span, now: Self.since) == .change)
        #expect(
            orders.take(key: key.span, value: nil, now: Self.since) == .none && orders.all == [order],
            "a tombstone takes nothing back")
    }
}
