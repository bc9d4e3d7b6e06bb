@testable import AppAPI
import Crypto
import Delivery
import EventLoop
import FanOut
import GatewayAPI
import Kafka
import TestSupport
import Testing

/// Secure push over HTTP and Kafka: what is pushed, and who reads the text.
@Suite(.tags(.threads), .serialized) struct SecureRouteTests {
    private static let sent = #""kind":"final","state":"sent","targets":{"accepted":1}"#
    private static let toBob = "?secure=true&to_tag=bob"

    private struct Answer: Equatable {
        let status: Int
        let text: String
    }

    /// Has a push sent; gives the id in it, and its request.
    private func push(
        _ gateway: ServedGateway, _ worker: ScriptedWorker, _ query: String = toBob, as user: String = "alice", body: String
    ) throws -> (id: String, json: String) {
        let client = try gateway.begin("POST", "/api/notifications" + query, as: user, body: body)
        let request = try worker.next()
        try worker.write(Self.sent, of: request.id)
        #expect(client.answer().status == 200)
        let rest = try #require(request.json.split(separator: #""secureId":""#).dropFirst().first)
        return (String(rest.prefix(38)), request.json)
    }

    private func read(_ gateway: ServedGateway, _ id: String, as user: String) throws -> Answer {
        let answer = try gateway.ask("GET", "/api/notifications/\(id)", as: user)
        #expect((answer.status == 200) == answer.head.contains("Cache-Control: no-store\r\n"))
        return Answer(status: answer.status, text: answer.text)
    }

    @Test func theUserAddressedReadsTheTextAndNobodyElse() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let id = try push(gateway, worker, body: #""say \"Hi\"""#).id
        for _ in 0..<2 {
            let answer = try read(gateway, id, as: "bob")
            #expect(answer.status == 200 && answer.text == #"{"Payload":"From alice: say \"Hi\""}"#)
        }
        let nothing = try read(gateway, "nothing", as: "bob")
        #expect(nothing.status == 404)
        for user in ["alice", "carol"] { #expect(try read(gateway, id, as: user) == nothing) }
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"notify.text\",status=\"404\"} 3\n") })
    }

    @Test(
        arguments: [
            ("?secure=true", #""Hi""#, false, "Hi"), ("?secure=true", "", false, "Hello"), ("", #""Hi""#, true, "Hi"),
            ("", "", true, "Hello"),
        ] as [(String, String, Bool, String)])
    func withoutARecipientItIsForTheCaller(query: String, body: String, isAlwaysSecure: Bool, text: String) throws {
        let gateway = try ServedGateway { $0.isAlwaysSecure = isAlwaysSecure }
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let pushed = try push(gateway, worker, query, body: body)
        #expect(pushed.json.contains(#""users":["alice"]"#))
        for word in [#""apple":{"#, #""fcmv1":{"#, #""windows":{"#] { #expect(pushed.json.contains(word)) }
        #expect(try read(gateway, pushed.id, as: "alice").text == #"{"Payload":"\#(text)"}"#)
    }

    @Test func anIDThatWasChangedIsNothingAtAll() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let texts = try ["one", "two"].map { text in try push(gateway, worker, body: "\"\(text)\"").id }
        let (other, id) = (try #require(SecureID(texts[0])), try #require(SecureID(texts[1])))
        var secret = id.secret
        secret[15] ^= 1
        let changed = [
            SecureID(secret: secret, partition: id.partition, offset: id.offset),
            SecureID(secret: id.secret, partition: other.partition, offset: other.offset),
            SecureID(secret: id.secret, partition: 1 - id.partition, offset: id.offset + 7),
            SecureID(secret: id.secret, partition: id.partition, offset: id.offset + 1),
            SecureID(secret: id.secret, partition: id.partition, offset: id.offset + 1_000_000),
            SecureID(secret: id.secret, partition: 99, offset: id.offset),
            SecureID(secret: id.secret, partition: .max, offset: .max),
        ]
        let nothing = try read(gateway, "nothing", as: "bob")
        for id in changed { #expect(try read(gateway, id.text, as: "bob") == nothing) }
        #expect(nothing.status == 404)
        #expect(try read(gateway, id.text, as: "bob").text == #"{"Payload":"From alice: two"}"#)
    }

    @Test func afterADayThereIsNothing() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(
            try producer.warmUp(topics: [gateway.configuration.topics.secure], timeout: farDeadline).first)
        let bob = try UserTag.Pattern(gateway.configuration.userTag).tag(of: "bob")
        let now = WallClock.millisecondsSince1970()
        for (offset, age) in [Int64(86_400_001), 82_800_000].enumerated() {
            let secret = try randomBytes(SecureID.secretByteCount)
            let value = try SecureText("Hi", for: bob).sealed(by: secret)
            try producer.produce(to: topic, partition: 1, key: nil, value: value.span, timestamp: now - age)
            try producer.flush(timeout: farDeadline)
            let id = SecureID(secret: secret, partition: 1, offset: Int64(offset))
            #expect(try read(gateway, id.text, as: "bob").status == (offset == 0 ? 404 : 200))
        }
    }

    @Test func whileKafkaIsAwayItIs503() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let id = SecureID(secret: try randomBytes(16), partition: 0, offset: 0)
        let answer = try read(gateway, id.text, as: "bob")
        #expect(answer.status == 503 && answer.text.contains(#""code":"broker_unavailable""#))
        let sent = try gateway.ask("POST", "/api/notifications" + Self.toBob, as: "alice", body: #""Hi""#)
        #expect(sent.status == 503 && sent.text.contains(#""retry":"safe""#))
    }

    @Test func whatIsNoSecurePushIsToldBeforeAnythingIsWritten() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        for (query, body) in [(Self.toBob, ""), (Self.toBob, "Hi"), ("?secure=true&pns=apns", #""Hi""#)] {
            #expect(try gateway.ask("POST", "/api/notifications" + query, as: "alice", body: body).status == 400)
        }
    }

    @Test func theTextIsNowhereElse() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let pushed = try push(gateway, worker, body: #""CANARYtext""#)
        #expect(try read(gateway, pushed.id, as: "bob").text.contains("CANARYtext"))
        _ = try read(gateway, pushed.id, as: "carol")
        let id = try #require(SecureID(pushed.id))
        let cluster = try #require(gateway.cluster)
        let fetcher = try RecordFetcher(cluster.configuration, readAhead: 1 << 20)
        let place = TopicPartition(topic: gateway.configuration.topics.secure, partition: id.partition)
        let record = try #require(try fetcher.firstRecord(from: id.offset, of: place, timeout: farDeadline))
        #expect(record.offset == id.offset && record.key == nil && record.headers.isEmpty)
        let kept = String(decoding: try #require(record.value), as: UTF8.self)
        for text in [kept, pushed.json, gateway.services.log.text, gateway.services.metrics] {
            #expect(!text.contains("CANARY") && !text.contains("alice: "))
        }
        for text in [kept, gateway.services.log.text, gateway.services.metrics] { #expect(!text.contains(pushed.id)) }
    }
}
