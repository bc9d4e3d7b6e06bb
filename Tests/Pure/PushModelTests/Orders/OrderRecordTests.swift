import PushModel
import Testing

/// An order says all in its key, and nobody can give it another meaning.
struct OrderRecordTests {
    static let since = Timestamp(milliseconds: 1_795_262_400_000)

    static func order(
        _ kind: OrderRecord.Kind = .hold, _ scope: OrderScope = .everything, id: String = "h-abcdefgh",
        reason: String = "wrong text",
        author: String = "ann@host", until: Timestamp? = nil
    ) -> OrderRecord {
        OrderRecord(id: id, kind: kind, scope: scope, reason: reason, author: author, since: since, until: until)
    }

    static func read(_ key: [UInt8], _ value: [UInt8]?) throws(OrderRecord.Fault) -> OrderRecord? {
        guard let value else { return try OrderRecord.read(key: key.span, value: nil) }
        return try OrderRecord.read(key: key.span, value: value.span)
    }

    private static func fault(_ body: () throws(OrderRecord.Fault) -> Void) -> OrderRecord.Fault? {
        do throws(OrderRecord.Fault) { try body() } catch { return error }
        return nil
    }

    private static var scope: OrderScope {
        var scope = OrderScope()
        (scope.hub, scope.tenant, scope.source, scope.lane) = ("north", "acme", "shop", "bulk")
        (scope.request, scope.user) = ("a", #"ü/"\"#)
        scope.labels = [.init("wave", value: "2"), .init("campaign", value: "new year")]
        return scope
    }

    static let orders: [OrderRecord] = [
        order(), order(.hold, scope), order(.limit(callsPerSecond: 1)), order(.limit(callsPerSecond: 1_000_000), scope),
        order(.cancel(publishedFrom: nil), scope), order(.cancel(publishedFrom: Timestamp(milliseconds: 1_795_262_399_000))),
        order(reason: "line\nbreak \"quoted\""), order(until: since.adding(milliseconds: OrderRecord.longest)),
    ]

    @Test(arguments: orders) func whatIsWrittenIsRead(_ written: OrderRecord) throws {
        var order = written
        #expect(try Self.read(order.key, order.value) == order)
        let standing = order.key
        order.release = OrderRecord.Release(at: Self.since.adding(milliseconds: 1), author: "key k-1", reason: "mended")
        #expect(order.key == standing, "the release belongs to the value")
        #expect(try Self.read(order.key, order.value) == order)
        #expect(try Self.read(order.key, nil) == nil, "a tombstone")
    }

    @Test func itStandsUntilItsEndOrItsRelease() {
        var order = Self.order()
        #expect(order.until.milliseconds(since: order.since) == OrderRecord.usual && order.end == order.until)
        #expect(order.stands(at: order.since) && !order.stands(at: order.until))
        order.release = OrderRecord.Release(at: Self.since.adding(milliseconds: 5), author: "ann")
        #expect(!order.stands(at: order.since) && order.end == Self.since.adding(milliseconds: 5))
        let cancel = Self.order(.cancel(publishedFrom: nil))
        #expect(cancel.until.milliseconds(since: cancel.since) == OrderRecord.cancelLifetime)
    }

    static let faulty: [(OrderRecord, OrderRecord.Fault)] = {
        var narrow = OrderScope()
        narrow.hub = ""
        let most = OrderRecord.maximumReasonLength
        return [
            (order(id: "short"), .id), (order(id: "H-ABCDEFGH"), .id), (order(id: String(repeating: "a", count: 65)), .id),
            (order(.hold, narrow), .scope), (order(.limit(callsPerSecond: 0)), .number),
            (order(.limit(callsPerSecond: 1_000_001)), .number), (order(.limit(callsPerSecond: -1)), .number),
            (order(reason: ""), .reason), (order(reason: " \n"), .reason),
            (order(reason: String(repeating: "x", count: most + 1)), .reason),
            (order(author: ""), .author), (order(author: String(repeating: "x", count: 257)), .author),
            (order(until: since), .end),
            (order(until: since.adding(milliseconds: -1)), .end),
            (order(until: since.adding(milliseconds: OrderRecord.longest + 1)), .end),
            (order(.cancel(publishedFrom: nil), until: since.adding(milliseconds: OrderRecord.cancelLifetime + 1)), .end),
        ]
    }()

    @Test(arguments: faulty) func noWorkerObeysAFaultyOne(_ order: OrderRecord, _ fault: OrderRecord.Fault) {
        #expect(Self.fault { () throws(OrderRecord.Fault) in try order.check() } == fault)
        // An empty hub cannot be read as a scope at all.
        let read: OrderRecord.Fault = fault == .scope ? .unreadable : fault
        #expect(Self.fault { () throws(OrderRecord.Fault) in _ = try Self.read(order.key, order.value) } == read)
    }

    /// A key that means the same in other words would be another order, which compaction keeps beside the first.
    @Test func aForgedKeyIsUnreadable() throws {
        let key = String(decoding: Self.order().key, as: UTF8.self)
        #expect(key.hasPrefix(#"order/{"id":"h-abcdefgh","kind":"hold","scope":{"everything":true}"#))
        let forged = [
            "order/", "order/x", "order/[]", "order/{}", key + " ", key.replacing("\"hold\"", with: "\"stop\""),
            key.replacing(",\"kind\"", with: ", \"kind\""), key.replacing("{\"id\"", with: "{\"more\":1,\"id\""),
            key.replacing("{\"everything\":true}", with: "{}"),
            key.replacing("{\"everything\":true}", with: #"{"everything":true,"hub":"a"}"#),
            key.replacing("{\"everything\":true}", with: #"{"planet":"earth"}"#),
            key.replacing("{\"everything\":true}", with: #"{"hub":1}"#),
            key.replacing("\"hold\"", with: #""limit","calls_per_second":"5""#),
            key.replacing("2026-11-21T", with: "2026-13-21T"),
            "order/" + String(repeating: " ", count: OrderRecord.maximumKeyByteCount),
        ]
        for key in forged {
            let fault = Self.fault { () throws(OrderRecord.Fault) in
                _ = try Self.read(Array(key.utf8), Self.order().value)
            }
            #expect(fault == .unreadable, "\(key)")
        }
        for key in ["order", "Order/{}", "cancel/a", "", "orders/x"] {
            #expect(try Self.read(Array(key.utf8), Array("{}".utf8)) == nil, "\(key)")
        }
    }

    @Test(arguments: [
        "", "x", "{}", #"{"released":true}"#, #"{"released":{"by":"ann"}}"#, #"{"released":{"at":"2026-11-21T12:00:01.000Z"}}"#,
    ])
    func aValueThatCannotBeReadReleasesNothing(_ value: String) throws {
        #expect(try Self.read(Self.order().key, Array(value.utf8)) == Self.order())
    }

    @Test func idsTellTheKindAndDiffer() throws {
        var generator = SystemRandomNumberGenerator()
        for (kind, letter) in [(.hold, "h-"), (.limit(callsPerSecond: 1), "l-"), (.cancel(publishedFrom: nil), "c-")]
            as [(OrderRecord.Kind, String)]
        {
            let ids = (0..<50).map { _ in OrderRecord.makeID(kind, using: &generator) }
            #expect(Set(ids).count == 50 && ids.allSatisfy { $0.hasPrefix(letter) && $0.count == 18 })
            try Self.order(kind, id: ids[0]).check()
        }
    }
}
