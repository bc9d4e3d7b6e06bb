import PushModel
import Testing

@testable import Console

/// Holds as status and a request's life tell of them, against the broker inside the process.
@Suite(.serialized) struct HeldTests {
    /// 2026-11-21T12:00:00Z.
    private static let now: Int64 = 1_795_262_400_000

    private static func order(tenant: String?, released: Int64? = nil) -> OrderRecord {
        var scope = OrderScope()
        scope.tenant = tenant
        var order = OrderRecord(
            id: "h-1234567890", kind: .hold, scope: scope, reason: "wrong text", author: "key abc",
            since: Timestamp(milliseconds: now - 600_000), until: Timestamp(milliseconds: now + 1_800_000))
        order.release = released.map { .init(at: Timestamp(milliseconds: now + $0), author: "key abc") }
        return order
    }

    /// A broker with a request of the tenant acme that was published a minute ago, and with an order.
    private static func broker(_ order: OrderRecord) throws -> Broker {
        let broker = try Broker()
        let request = #"{"id":"p","tenant":"acme","audience":{"users":["u"]},"message":{"title":"Hi"}}"#
        try broker.write([request], to: "push.requests.v1", at: now - 60_000)
        try broker.write(
            [String(decoding: order.value, as: UTF8.self)], to: "push.control.v1",
            key: String(decoding: order.key, as: UTF8.self),
            at: now - 500)
        return broker
    }

    private static let line = "held from 2026-11-21T11:59:00.000Z until 12:30:00Z (30 min) by key abc: wrong text"

    @Test(arguments: [("acme", true), (nil, true), ("shop", false)] as [(String?, Bool)])
    func aRequestWithoutAResultSaysByWhomItIsHeld(tenant: String?, isHeld: Bool) throws {
        let broker = try Self.broker(Self.order(tenant: tenant))
        let shown = broker.harness.run("results show p")
        #expect(shown.output.contains(Self.line) == isHeld, "\(shown)")
        #expect(shown.code == .nothingMatched && !shown.messages.contains("not asked"))
    }

    @Test func aLifeSaysFromWhenToWhenItWasHeld() throws {
        let broker = try Self.broker(Self.order(tenant: "acme", released: -10_000))
        try broker.writeResults(
            [
                #"{"request_id":"p","kind":"final","state":"sent","origin":{"topic":"push.requests.v1","partition":0,"offset":"0"}}"#
            ], at: Self.now)
        let shown = broker.harness.run("results show p")
        let line = "held     from 2026-11-21T11:59:00.000Z to 2026-11-21T11:59:50.000Z by key abc: wrong text"
        #expect(shown.code == .done && shown.output.contains(line), "\(shown)")
        #expect(!broker.harness.run("results show p -o json").output.contains("held"))
    }

    @Test func statusHasALineForEachHoldThatStands() throws {
        let broker = try Self.broker(Self.order(tenant: "acme"))
        let status = broker.harness.run("status")
        #expect(status.output.contains("\nheld: tenant:acme until 12:30:00Z (30 min) by key abc: wrong text\n"), "\(status)")
        let json = broker.harness.run("status -o json").output
        #expect(
            json.contains(#""orders":[{"id":"h-1234567890","kind":"hold","scope":{"tenant":"acme"},"reason":"wrong text""#),
            "\(json)")
        let released = try Self.broker(Self.order(tenant: "acme", released: -10_000))
        #expect(!released.harness.run("status").output.contains("held:"))
        #expect(released.harness.run("status -o json").output.contains(#""orders":[]"#))
    }

    @Test(arguments: [("acme", true), ("shop", false)])
    func explainNamesTheHoldThatWouldConcernARequest(tenant: String, isHeld: Bool) throws {
        let broker = try Self.broker(Self.order(tenant: "acme"))
        var harness = broker.harness
        harness.input = #"{"id":"r","tenant":"\#(tenant)","audience":{"users":["u"]},"message":{"title":"Hi"}}"#
        let text = "held: tenant:acme until 12:30:00Z (30 min) by key abc: wrong text"
        let told = harness.run("explain - --orders")
        #expect(told.code == .done && told.output.contains(text) == isHeld, "\(told)")
        #expect(harness.run("explain - --orders -o ndjson").output.contains(#""orders":[{"id":"h-"#) == isHeld)
        let alone = harness.run("explain -")
        #expect(alone.code == .done && !alone.output.contains("held:"), "without the flag Kafka is not asked")
        withExtendedLifetime(broker) {}
    }
}
