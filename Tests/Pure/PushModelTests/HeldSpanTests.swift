import PushModel
import Testing

/// The times for which holds concerned a request.
@Suite struct HeldSpanTests {
    private static let start = Reading.recordTime

    private static func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: start + seconds * 1000) }

    /// A hold that begins so many seconds after the start, and stands for ten minutes.
    private static func hold(_ id: String, _ scope: OrderScope = .everything, since: Int64) -> OrderRecord {
        OrderRecord(
            id: "hold-\(id)", kind: .hold, scope: scope, reason: "wrong text", author: "key k1", since: moment(since),
            until: moment(since + 600))
    }

    private static func spans(
        _ orders: Orders, published: Int64 = 0, final: Int64? = nil, hub: String? = "north", lane: String = "normal"
    ) throws -> [HeldSpan] {
        var reading = Reading()
        try #require(reading.read(record(#""tenant":"acme","labels":{"campaign":"sale"}"#)) == .request)
        return orders.heldSpans(
            of: reading.request, hub: hub, lane: lane, published: moment(published), final: final.map(moment))
    }

    /// The moments at which the one hold counts from and to, in seconds, or none. It stands from 100 s to 700 s.
    @Test(
        arguments: [
            (0, nil, 200, 100, nil), (150, nil, 200, 150, nil), (0, nil, 800, 100, 700), (0, 300, 400, 100, 300),
            (0, 900, 1000, 100, 700), (0, 50, 200, nil, nil), (800, nil, 900, nil, nil), (0, 100, 200, nil, nil),
        ] as [(Int64, Int64?, Int64, Int64?, Int64?)])
    func aSpanIsWhereTheHoldAndTheRequestMeet(
        _ published: Int64, _ final: Int64?, _ now: Int64, _ from: Int64?, _ to: Int64?
    ) throws {
        var orders = Orders()
        let hold = Self.hold("a", since: 100)
        _ = orders.take(hold, now: Self.moment(100))
        _ = orders.removeEnded(now: Self.moment(now))
        let expected = from.map { [HeldSpan(order: hold, from: Self.moment($0), to: to.map(Self.moment))] } ?? []
        #expect(try Self.spans(orders, published: published, final: final) == expected)
    }

    @Test func aReleaseEndsASpan() throws {
        var orders = Orders()
        var hold = Self.hold("a", since: 100)
        _ = orders.take(hold, now: Self.moment(100))
        hold.release = .init(at: Self.moment(160), author: "key k2")
        _ = orders.take(hold, now: Self.moment(160))
        #expect(try Self.spans(orders).map(\.to) == [Self.moment(160)])
    }

    @Test func holdsOfOthersLimitsAndCancellationsAreNoSpans() throws {
        var (orders, others, label) = (Orders(), OrderScope(), OrderScope())
        others.tenant = "bank"
        label.labels = [.init("campaign", value: "sale")]
        var north = OrderScope()
        north.hub = "north"
        var limit = Self.hold("limit", since: 10)
        limit.kind = .limit(callsPerSecond: 5)
        var cancellation = Self.hold("cancel", since: 20)
        cancellation.kind = .cancel(publishedFrom: nil)
        let given = [
            Self.hold("label", label, since: 30), Self.hold("bank", others, since: 40), limit, cancellation,
            Self.hold("north", north, since: 5),
        ]
        for order in given { _ = orders.take(order, now: Self.moment(50)) }
        #expect(try Self.spans(orders).map(\.order.id) == ["hold-north", "hold-label"])
        #expect(try Self.spans(orders, hub: "south").map(\.order.id) == ["hold-label"])
    }

    @Test func itsJSONSaysFromWhenToWhen() {
        var json = ByteWriter()
        HeldSpan(order: Self.hold("a", since: 0), from: Self.moment(0), to: nil).append(to: &json)
        let from = Self.moment(0).text
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"id":"hold-a","reason":"wrong text","by":"an operator","from":"\#(from)","to":null}"#)
        json = ByteWriter()
        var tenant = OrderScope()
        tenant.tenant = "acme"
        HeldSpan(order: Self.hold("a", tenant, since: 0), from: Self.moment(0), to: nil).append(to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self).contains(#""by":"key k1""#), "a tenant's own hold names who gave it")
        json = ByteWriter()
        HeldSpan(order: Self.hold("a", since: 0), from: Self.moment(0), to: Self.moment(5)).append(to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self).hasSuffix(#","to":"\#(Self.moment(5).text)"}"#))
    }
}
