@testable import PublishAPI
@testable import GatewayAPI
import HTTPServing
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import Publishing

/// `POST /v1/requests` over HTTP and Kafka.
@Suite(.tags(.waits, .threads), .serialized) struct PublishRouteTests {
    private static let content = #""audience":{"users":["bob"]},"message":{"title":"CANARYtitle"}"#
    private static let bearer = "Authorization: Bearer \(ServedGateway.key)"
    private static let type = "Content-Type: application/json"

    /// Begins a call, and gives the connection on which its answer comes.
    private func begin(
        _ gateway: ServedGateway, _ body: String, _ fields: [String] = [bearer, type]
    ) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        client.send(request("POST", "/v1/requests", fields, body: body))
        return client
    }

    private func publish(
        _ gateway: ServedGateway, _ body: String, _ fields: [String] = [bearer, type]
    ) throws -> (status: Int, head: String, text: String) {
        let answer = try begin(gateway, body, fields).answer()
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// The only record of a topic: its place, key, value, headers and timestamp.
    private func record(
        of topic: String, at gateway: ServedGateway
    ) throws -> (partition: Int32, offset: Int64, key: String, value: String, headers: [String: String], time: Int64) {
        let cluster = try #require(gateway.cluster)
        let reader = try TopicReader(cluster.configuration, topic: topic, start: .beginning, timeout: farDeadline)
        defer { reader.close() }
        var found: [(Int32, Int64, String, String, [String: String], Int64)] = []
        let isRead = eventually {
            _ = reader.read(timeout: .milliseconds(100)) { record in
                var headers: [String: String] = [:]
                record.forEachHeader { name, value in if let value { headers[Self.text(name)] = Self.text(value) } }
                let key = if let bytes = record.key { Self.text(bytes) } else { "" }
                let value = if let bytes = record.value { Self.text(bytes) } else { "" }
                found.append((record.partition, record.offset, key, value, headers, record.timestamp ?? 0))
            }
            return reader.hasReachedEnd && !found.isEmpty
        }
        try #require(isRead && found.count == 1)
        return found[0]
    }

    private static func text(_ milliseconds: Int64) -> String {
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: milliseconds))
        return text.text
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [("high", .high), ("normal", .normal), ("low", .low)] as [(String, PushRequest.Priority)])
    func a202SaysWhereTheRequestIsInTheLaneOfItsPriority(word: String, priority: PushRequest.Priority) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let topic = gateway.configuration.requestTopics.name(for: priority)
        let body = #"{\#(Self.content),"priority":"\#(word)","ttl_seconds":60}"#
        let answer = try publish(gateway, body, [Self.bearer, Self.type, "Idempotency-Key: order-1"])
        #expect(answer.status == 202, "\(answer.text)")
        let record = try record(of: topic, at: gateway)
        #expect(record.key.hasPrefix("k") && record.key.count == 33)
        #expect(record.value == #"{"id":"\#(record.key)","tenant":"shop",\#(body.dropFirst())"#)
        #expect(record.headers["ce_id"] == record.key && record.headers["ce_source"] == "/shop")
        let place = "/v1/requests/\(record.key)?at=\(topic)/\(record.partition)/\(record.offset)&time=\(record.time)"
        #expect(answer.head.contains("Location: \(place)\r\n"), "\(answer.head)")
        let members =
            #"{"id":"\#(record.key)","state":"accepted","topic":"\#(topic)","partition":\#(record.partition),"offset":"\#(record.offset)","accepted_at":"\#(Self.text(record.time))","expires_at":""#
        #expect(answer.text.hasPrefix(members), "\(answer.text)")
        // An answer is counted when it is on its way.
        let isCounted = eventually {
            gateway.services.metrics.contains("requests_total{route=\"requests.publish\",status=\"202\"} 1\n")
        }
        #expect(isCounted && gateway.services.metrics.contains("ack_seconds_count{outcome=\"persisted\"} 1\n"))
    }

    @Test func aRepetitionUnderANewKeyOfTheSourceIsWrittenOnceAndIsItsOwn() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let fields = [Self.type, "Idempotency-Key: order-1"]
        let answers = try [ServedGateway.key, ServedGateway.newKey].map {
            try publish(gateway, "{\(Self.content)}", ["Authorization: Bearer \($0)"] + fields)
        }
        #expect(answers[0].status == 202 && answers[1].status == 202 && answers[1].text == answers[0].text)
        #expect(answers[1].head.contains("Idempotency-Replayed: true\r\n"))
        let record = try record(of: gateway.configuration.requestTopics.name(for: .normal), at: gateway)
        let client = try RawClient(port: gateway.port)
        client.send(request("GET", "/v1/requests/\(record.key)", ["Authorization: Bearer \(ServedGateway.newKey)"]))
        #expect(client.answer().status == 200)
    }

    @Test func eventsInBothModesAreWrittenAsRequests() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let event = #"{"specversion":"1.0","type":"t","source":"/shop","id":"e-1","data":{\#(Self.content)}}"#
        let structured = try publish(gateway, event, [Self.bearer, "Content-Type: application/cloudevents+json"])
        #expect(structured.status == 202, "\(structured.text)")
        #expect(try worker.next() == (id: "e-1", json: #"{"id":"e-1","tenant":"shop",\#(Self.content)}"#))
        let attributes = ["ce-specversion: 1.0", "ce-type: t", "ce-source: /shop", "ce-id: e-2"]
        let binary = try publish(gateway, "{\(Self.content)}", [Self.bearer, Self.type] + attributes)
        #expect(binary.status == 202, "\(binary.text)")
        #expect(try worker.next().id == "e-2")
    }

    @Test(
        arguments: [
            ([], "{}", 401, "unauthorized"), ([basic("alice", "alice"), type], "{}", 401, "unauthorized"),
            (["Authorization: Bearer other", type], "{}", 401, "unauthorized"),
            ([bearer, "Content-Type: text/plain"], "{}", 415, "unsupported_media_type"), ([bearer, type], "{", 400, "not_json"),
            ([bearer, type], "{}", 422, "invalid_request"),
            ([bearer, type], #"{"tenant":"CANARYother",\#(content)}"#, 422, "invalid_request"),
            ([bearer, type], #"{"tenant":"other",\#(content)}"#, 403, "forbidden_tenant"),
        ] as [([String], String, Int, String)])
    func whatIsRefusedSaysWhyAndNeedsNoKafka(fields: [String], body: String, status: Int, code: String) throws {
        let gateway = try ServedGateway(hasKafka: false) { $0.docsURL = "https://example.com/#" }
        defer { gateway.stop() }
        let answer = try publish(gateway, body, fields)
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.text.hasPrefix(#"{"type":"https://example.com/#\#(code)","#), "\(answer.text)")
        #expect(answer.text.contains(#""code":"\#(code)","retry":"never""#), "the same call with the same key ends the same way")
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(answer.head.contains("WWW-Authenticate: Bearer realm=\"pushfan\"\r\n") == (status == 401))
        for text in [answer.head, answer.text, gateway.services.log.text, gateway.services.metrics] {
            #expect(!text.contains("CANARY"))
        }
    }

    @Test(
        arguments: [
            ([], "No key was sent: `Authorization: Bearer KEY`"), ([basic("alice", "alice")], "What was sent is no key"),
            (["Authorization: Bearer pf_short"], "What was sent is no key"),
            (
                ["Authorization: Bearer \(ServedGateway.key.replacing("CANARY", with: "canary"))"],
                "The key is not known, has expired or"
            ),
        ] as [([String], String)])
    func a401SaysWhetherAKeyWasSent(fields: [String], words: String) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        for (method, path) in [("POST", "/v1/requests"), ("GET", "/v1/requests/a")] {
            let client = try RawClient(port: gateway.port)
            client.send(request(method, path, fields + [Self.type], body: method == "POST" ? "{}" : ""))
            let answer = client.answer()
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 401 && text.contains(words), "\(text)")
            #expect(!text.contains("canary"))
        }
    }

    @Test func aBodyBeyondTheContractsRecordIs413() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let client = try RawClient(port: gateway.port)
        client.send(request("POST", "/v1/requests", [Self.bearer, Self.type, "Content-Length: \(512 << 10 + 1)"]))
        #expect(client.answer().status == 413)
        // What an app may send is as large as before.
        let app = try RawClient(port: gateway.port)
        app.send(request("POST", "/api/notifications", [basic("a", "a"), Self.type, "Content-Length: 65537"]))
        #expect(app.answer().status == 413)
    }

    @Test func whatKafkaDoesNotTakeIs503AndMayBeRepeated() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try publish(gateway, "{\(Self.content)}")
        #expect(answer.status == 503 && answer.text.contains(#""code":"broker_unavailable""#), "\(answer.text)")
        #expect(answer.text.contains(#""retry":"safe""#) && answer.head.contains("Retry-After: "))
        #expect(!answer.head.contains("Location"))
    }

    @Test func aFullQueueIs503() throws {
        let gateway = try ServedGateway {
            $0.kafka.properties += [
                .init(key: "message.timeout.ms", value: "3600000"), .init(key: "queue.buffering.max.messages", value: "1"),
            ]
        }
        defer { gateway.stop() }
        try #require(gateway.cluster).setBroker(1, isUp: false)
        let waiting = try (0..<2).map { _ in try begin(gateway, "{\(Self.content)}") }
        // One of them waits for the broker, the other has no place.
        let isFull = eventually {
            gateway.services.metrics.contains("requests_total{route=\"requests.publish\",status=\"503\"} 1\n")
        }
        try #require(isFull)
        let answer = try publish(gateway, "{\(Self.content)}")
        #expect(answer.status == 503 && answer.text.contains(#""code":"broker_slow""#), "\(answer.text)")
        #expect(answer.text.contains(#""retry":"safe""#) && answer.head.contains("Retry-After: "))
        #expect(waiting.count == 2)
    }

    @Test func whileKafkaConfirmsNothingInTimeNewRequestsAreRefusedAtOnce() throws {
        let gateway = try ServedGateway { $0.kafka.properties.append(.init(key: "message.timeout.ms", value: "3600000")) }
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        cluster.setBroker(1, isUp: false)
        let waiting = try begin(gateway, "{\(Self.content)}")
        // Time passes a second at a time, because the record may still be on its way to the queue.
        let isOld = eventually {
            gateway.services.clock.advance(seconds: 1)
            return gateway.services.metrics.contains("pushfan_gateway_queue_age_seconds 3\n")
        }
        try #require(isOld)
        // One of them is written on trial.
        let both = try (0..<2).map { _ in try begin(gateway, "{\(Self.content)}") }
        let isRefused = eventually {
            gateway.services.metrics.contains("requests_total{route=\"requests.publish\",status=\"503\"} 1\n")
        }
        try #require(isRefused)
        let answer = try publish(gateway, "{\(Self.content)}")
        #expect(answer.status == 503 && answer.text.contains(#""code":"broker_slow""#), "\(answer.text)")
        #expect(answer.text.contains(#""retry":"safe""#) && answer.head.contains("Retry-After: "))
        let sent = try gateway.ask("POST", "/api/notifications", as: "alice", body: #""Hi""#)
        #expect(sent.status == 503 && sent.text.contains(#""code":"broker_slow""#), "\(sent.text)")
        #expect(gateway.services.metrics.contains("pushfan_gateway_queue_refusals_total 3\n"))
        cluster.setBroker(1, isUp: true)
        #expect(waiting.answer().status == 202 && both.map { $0.answer().status }.sorted() == [202, 503])
        #expect(try publish(gateway, "{\(Self.content)}").status == 202)
        #expect(gateway.services.metrics.contains("pushfan_gateway_queue_age_seconds 0\n"))
    }

    /// Codes of Kafka's protocol. What may pass is refused for as long as it takes to be told.
    @Test(
        arguments: [
            (29, 1, 503, "broker_forbidden", "safe"), (10, 1, 413, "broker_size_limit", "never"),
            (19, 10_000, 503, "not_enough_replicas", "safe"),
        ] as [(Int32, Int, Int, String, String)])
    func eachRefusalOfKafkaHasItsAnswer(error: Int32, count: Int, status: Int, code: String, retry: String) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let cluster = try #require(gateway.cluster)
        cluster.failNext(apiKey: 0, codes: Array(repeating: error, count: count))
        let answer = try publish(gateway, "{\(Self.content)}")
        cluster.failNoMore(apiKey: 0)
        #expect(answer.status == status && answer.text.contains(#""code":"\#(code)","retry":"\#(retry)""#), "\(answer.text)")
        #expect(answer.text.contains(gateway.configuration.requestTopics.normal) && answer.text.contains("nothing is sent"))
        #expect(answer.head.contains("Retry-After: ") == (status == 503))
        let line = status == 503 ? "a topic takes no records" : "refuses a record"
        #expect(eventually { gateway.services.log.text.contains(line) })
        // The client asks for the topic again first.
        #expect(try eventually { try publish(gateway, "{\(Self.content)}").status == 202 })
    }

    @Test func aLaneWhoseTopicIsMissingIsNamedAndTheOthersWork() throws {
        let cluster = try MockCluster()
        defer { cluster.close() }
        let gateway = try ServedGateway(hasKafka: false) {
            cluster.setTopic($0.requestTopics.bulk, isMissing: true)
            $0.kafka = cluster.configuration
        }
        defer { gateway.stop() }
        let lane = gateway.configuration.requestTopics.bulk
        func readiness() -> String {
            String(decoding: gateway.services.services.health.report(.ready, now: 0).body(verbose: false), as: UTF8.self)
        }
        let isNamed = eventually { readiness().hasPrefix("degraded kafka: \(lane) takes no records: ") }
        #expect(isNamed, "\(readiness())")
        let low = #"{\#(Self.content),"priority":"low"}"#
        for _ in 0..<3 {
            let answer = try publish(gateway, low)
            #expect(answer.status == 503 && answer.text.contains(#""code":"topic_missing","retry":"safe""#), "\(answer.text)")
            #expect(answer.text.contains("The topic \(lane) is missing") && answer.head.contains("Retry-After: "))
        }
        #expect(try publish(gateway, "{\(Self.content)}").status == 202)
        #expect(gateway.services.log.text.split(separator: "a topic takes no records").count == 2, "once in the log")
        cluster.setTopic(lane, isMissing: false)
        #expect(eventually { readiness() == "ok\n" })
        #expect(try publish(gateway, low).status == 202)
        #expect(gateway.services.log.text.contains("a topic takes records again"))
    }

    /// Only Kafka's client can make the three deliveries; their answers are a table.
    @Test func eachDeliveryHasItsAnswer() {
        let request = PublishedRequest(
            id: "r-1", owner: RequestOwner(source: "/shop", tenant: nil), acceptedAt: Timestamp(milliseconds: 1_795_262_400_000))
        func answer(_ delivery: Producer.Delivery) -> APIAnswer {
            APIAnswer(PublishOutcome(delivery, of: request, in: "t", retryAfter: 3000))
        }
        let written = answer(.persisted(partition: 3, offset: nil))
        #expect(written.status == 202 && written.headers["Location"] == "/v1/requests/r-1")
        #expect(
            String(decoding: written.body, as: UTF8.self)
                == #"{"id":"r-1","state":"accepted","topic":"t","partition":3,"accepted_at":"2026-11-21T12:00:00.000Z"}"# + "\n")
        let missing = answer(.notPersisted(.unknownTopic("t")))
        #expect(missing.status == 503 && missing.code == "topic_missing" && missing.headers["Retry-After"] == "3")
        let unknown = answer(.possiblyPersisted(.unknownTopic("t")))
        let text = String(decoding: unknown.body, as: UTF8.self)
        #expect(unknown.status == 504 && unknown.code == "ack_unknown" && unknown.headers["Location"] == "/v1/requests/r-1")
        #expect(text.contains(#""retry":"same_key","request_id":"r-1""#) && !text.contains("missing"))
    }
}
