import Delivery
import EventLoop
import Foundation
import GatewayAPI
import Kafka
import Publishing
import PushModel
import TestSupport
import Testing

/// Orders at a gateway that serves, whose keys are of the tenant shop.
@Suite(.tags(.waits, .threads), .serialized) struct OrderRouteTests {
    private static func ask(
        _ gateway: ServedGateway, _ method: String, _ path: String, _ body: String = "", key: String = ServedGateway.key
    ) throws -> (status: Int, text: String) {
        let client = try RawClient(port: gateway.port)
        let fields = ["Authorization: Bearer \(key)"] + (body.isEmpty ? [] : ["Content-Type: application/json"])
        client.send(request(method, path, fields, body: body))
        let answer = client.answer()
        return (answer.status, String(decoding: answer.body, as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    /// A gateway that knows the orders of the control topic.
    private static func gateway() throws -> ServedGateway {
        let gateway = try ServedGateway()
        #expect(eventually { (try? ask(gateway, "GET", "/v1/holds").status) == 200 })
        return gateway
    }

    @Test func aHoldIsWrittenShownAndReleased() throws {
        let gateway = try Self.gateway()
        defer { gateway.stop() }
        let given = try Self.ask(
            gateway, "POST", "/v1/holds", #"{"scope":{"everything":true},"reason":"wrong text","for_seconds":60}"#)
        #expect(given.status == 201 && given.text.contains(#""text":"tenant:shop""#), "\(given)")
        let id = try #require(given.text.firstMatch(of: #/"id":"([^"]*)"/#)?.1)
        #expect(try Self.ask(gateway, "GET", "/v1/holds").text.contains(id), "its own order is seen at once")
        let record = try #require(Self.orders(gateway).first)
        #expect(record.id == id && record.reason == "wrong text" && record.release == nil)
        #expect(try Self.ask(gateway, "POST", "/v1/holds/\(id):release").status == 200)
        #expect(try Self.ask(gateway, "POST", "/v1/holds/\(id):release").status == 409)
        #expect(try Self.ask(gateway, "GET", "/v1/holds").text == #"{"items":[],"faulty":[]}"#)
        #expect(Self.orders(gateway).map { $0.release?.author } == [nil, "key canary00 of shop"])
    }

    /// The orders of the control topic as they were written.
    private static func orders(_ gateway: ServedGateway) -> [OrderRecord] {
        guard let cluster = gateway.cluster,
            let reader = try? TopicReader(
                cluster.configuration, topic: gateway.configuration.topics.control, start: .beginning, stop: .end,
                timeout: farDeadline)
        else { return [] }
        defer { reader.close() }
        var orders: [OrderRecord] = []
        _ = eventually {
            _ = reader.read(timeout: .milliseconds(100)) { record in
                let record = FetchedRecord(record)
                let key = record.key ?? []
                if let order = (try? OrderRecord.read(key: key.span, value: record.value?.span)) ?? nil { orders.append(order) }
            }
            return reader.hasReachedEnd
        }
        return orders
    }

    @Test func whatAnotherGatewayWritesIsSeen() throws {
        let gateway = try Self.gateway()
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(
            try producer.warmUp(topics: [gateway.configuration.topics.control], timeout: farDeadline).first)
        var scope = OrderScope()
        scope.tenant = "shop"
        let order = OrderRecord(
            id: "h-of-others", kind: .hold, scope: scope, reason: "r", author: "key k9",
            since: Timestamp(milliseconds: WallClock.millisecondsSince1970()))
        try order.write(with: producer, to: topic)
        try producer.flush(timeout: farDeadline)
        #expect(eventually { (try? Self.ask(gateway, "GET", "/v1/holds").text.contains("h-of-others")) == true })
        #expect(try Self.ask(gateway, "POST", "/v1/holds/h-of-others:release").status == 403, "no key of the tenant has given it")
    }

    @Test func aRequestSaysByWhatItIsHeld() throws {
        let gateway = try Self.gateway()
        defer { gateway.stop() }
        func publish(_ id: String) throws {
            let body = #"{"id":"\#(id)","audience":{"users":["a"]},"message":{"title":"x"},"labels":{"campaign":"\#(id)"}}"#
            #expect(try Self.ask(gateway, "POST", "/v1/requests", body).status == 202)
        }
        try publish("sale")
        try publish("news")
        let given = try Self.ask(
            gateway, "POST", "/v1/holds", #"{"scope":{"labels":{"campaign":"sale"}},"reason":"wrong text"}"#)
        let id = try #require(given.text.firstMatch(of: #/"id":"([^"]*)"/#)?.1)
        let held = try Self.ask(gateway, "GET", "/v1/requests/sale").text
        #expect(
            held.contains(#""held":[{"id":"\#(id)","reason":"wrong text","by":"key canary00 of shop","from":""#)
                && held.contains(#""to":null}]"#), "\(held)")
        #expect(try !Self.ask(gateway, "GET", "/v1/requests/news").text.contains("held"))
        #expect(try Self.ask(gateway, "POST", "/v1/holds/\(id):release").status == 200)
        let free = try Self.ask(gateway, "GET", "/v1/requests/sale").text
        #expect(free.contains(#""held":[{"#) && !free.contains(#""to":null"#), "\(free)")
    }

    @Test func aCancellationByFilterIsTried() throws {
        let gateway = try Self.gateway()
        defer { gateway.stop() }
        let scope = #""scope":{"labels":{"campaign":"sale"}}"#
        let trial = try Self.ask(gateway, "POST", "/v1/requests:cancel", "{\(scope),\"dry_run\":true}")
        #expect(trial.status == 200 || trial.status == 503, "\(trial)")
        #expect(Self.orders(gateway).isEmpty)
        let given = try Self.ask(gateway, "POST", "/v1/requests:cancel", #"{\#(scope),"reason":"wrong text"}"#)
        #expect(
            given.status == 202 && given.text.contains(#""kind":"cancel""#) && given.text.contains(#""counts":{"#), "\(given)")
        #expect(Self.orders(gateway).map(\.scope.text) == ["tenant:shop label.campaign:sale"])
    }

    @Test(arguments: [
        ("POST", "/v1/holds"), ("POST", "/v1/holds/h-unknown1:release"), ("POST", "/v1/requests:cancel"), ("GET", "/v1/holds"),
    ])
    func aKeyWithoutTheScopeMayNot(_ method: String, _ path: String) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let body = method == "GET" ? "" : #"{"scope":{"everything":true},"reason":"r"}"#
        #expect(try Self.ask(gateway, method, path, body, key: ServedGateway.newKey).status == 403)
    }

    @Test func anOrderLongerThanItsRecordIsNotRead() throws {
        let gateway = try Self.gateway()
        defer { gateway.stop() }
        let body = #"{"scope":{"everything":true},"reason":"\#(String(repeating: "x", count: 20_000))"}"#
        #expect(try Self.ask(gateway, "POST", "/v1/holds", body).status == 413)
    }
}
