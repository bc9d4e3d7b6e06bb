import Delivery
import GatewayAPI
import HTTPServing
import Kafka
import PushModel
import TestSupport
import Testing

/// A request that was published over HTTP: repeated, looked up, awaited and cancelled.
@Suite(.tags(.waits, .threads), .serialized) struct PublishedRequestTests {
    private static let content = #""audience":{"users":["bob"]},"message":{"title":"x"}"#
    private static let bearer = "Authorization: Bearer \(ServedGateway.key)"
    private static let sent = #""kind":"final","state":"sent","outcome":"success","source":"/shop","tenant":"shop""#
    private static let type = "Content-Type: application/json"

    private func begin(
        _ gateway: ServedGateway, _ method: String, _ path: String, _ fields: [String] = [], _ body: String = ""
    ) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        let more = body.isEmpty ? [] : [Self.type]
        client.send(request(method, path, [Self.bearer] + more + fields, body: body))
        return client
    }

    private func ask(
        _ gateway: ServedGateway, _ method: String, _ path: String, _ fields: [String] = [], _ body: String = ""
    ) throws -> (status: Int, head: String, text: String) {
        let answer = try begin(gateway, method, path, fields, body).answer(toHEAD: method == "HEAD")
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    @Test func aRepeatedKeyGetsTheFirstAnswerAndWritesNothing() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let key = ["Idempotency-Key: \"order 1\""]
        let first = try ask(gateway, "POST", "/v1/requests", key, "{\(Self.content)}")
        #expect(first.status == 202 && !first.head.contains("Idempotency-Replayed"), "\(first.text)")
        let id = try worker.next().id
        for body in ["{\(Self.content)}", #"{ "message": {"title":"x"}, "audience":{"users":["bob"]} }"#] {
            let again = try ask(gateway, "POST", "/v1/requests", key, body)
            #expect(again.status == 202 && again.text == first.text && again.head.contains("Idempotency-Replayed: true\r\n"))
        }
        let other = try ask(gateway, "POST", "/v1/requests", key, #"{"audience":{"users":["al"]},"message":{"title":"x"}}"#)
        #expect(other.status == 422 && other.text.contains(#""code":"idempotency_mismatch""#), "\(other.text)")
        // The next record is another call's.
        let next = try ask(gateway, "POST", "/v1/requests", ["Idempotency-Key: 2"], "{\(Self.content)}")
        let nextID = try worker.next().id
        #expect(next.status == 202 && next.text.contains(nextID) && nextID != id)
    }

    @Test func aRequestIsShownUntilItsResultIsThere() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let published = try ask(gateway, "POST", "/v1/requests", [], #"{"id":"r-1",\#(Self.content)}"#)
        #expect(published.status == 202, "\(published.text)")
        let shown = try ask(gateway, "GET", "/v1/requests/r-1")
        #expect(shown.status == 200 && shown.text.hasPrefix(published.text.dropLast(2)), "\(shown.text)")
        let place = #""topic":"\#(gateway.configuration.topics.requests)","partition":0,"offset":"0","accepted_at":""#
        #expect(shown.text.hasPrefix(#"{"id":"r-1","state":"accepted",\#(place)"#), "\(shown.text)")
        let head = try ask(gateway, "HEAD", "/v1/requests/r-1")
        #expect(head.status == 200 && head.text.isEmpty)
        let missing = try ask(gateway, "GET", "/v1/requests/r-2")
        #expect(missing.status == 404 && missing.text.contains("?at= of its Location"))
        let wrong = try ask(gateway, "DELETE", "/v1/requests/r-1")
        #expect(wrong.status == 405 && wrong.head.contains("Allow: GET, HEAD\r\n"), "\(wrong.head)")
        let waiting = try begin(gateway, "GET", "/v1/requests/r-1?wait=30")
        _ = try worker.next()
        try worker.write(Self.sent, of: "r-1")
        let ended = waiting.answer()
        let text = String(decoding: ended.body, as: UTF8.self)
        #expect(
            ended.status == 200 && text.hasPrefix(#"{"id":"r-1","state":"sent","#) && text.contains(#""result":{"#), "\(text)")
        #expect(ended.head.contains("ETag: \""))
    }

    @Test(arguments: ["order-1:cancel", ".", "..", "a:b:events", "..:cancel", "-"])
    func anIDLeadsBackToItsRequest(id: String) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let published = try ask(gateway, "POST", "/v1/requests", [], #"{"id":"\#(id)",\#(Self.content)}"#)
        let line = try #require(published.head.split(separator: "\r\n").first { $0.hasPrefix("Location: ") })
        let location = line.dropFirst("Location: ".count)
        let shown = try ask(gateway, "GET", String(location))
        #expect(shown.status == 200 && shown.text.hasPrefix(published.text.dropLast(2)), "\(location): \(shown.text)")
        let path = location.prefix { $0 != "?" }
        #expect(try ask(gateway, "POST", path + ":cancel").status == 202)
    }

    @Test func aPublishThatPrefersToWaitIsAnsweredWithItsResult() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let client = try begin(gateway, "POST", "/v1/requests", ["Prefer: wait=30"], #"{"id":"r-1",\#(Self.content)}"#)
        _ = try worker.next()
        for owner in [#""source":null"#, #""source":"/shop""#, #""source":"/bank","tenant":"shop""#] {
            try worker.write(#""kind":"final","state":"failed",\#(owner)"#, of: "r-1")
        }
        try worker.write(Self.sent, of: "r-1")
        let answer = client.answer()
        #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self).contains(#""state":"sent""#))
        #expect(answer.head.contains("Preference-Applied: wait=30\r\n"), "\(answer.head)")
    }

    /// A publish that prefers to wait, a lookup that waits, a lookup after that, and the events: each goes by key and value.
    @Test(arguments: HeadersOfResult.allCases) func aResultIsTheSameWhateverItsHeaders(_ headers: HeadersOfResult) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        #expect(try ask(gateway, "POST", "/v1/requests", [], #"{"id":"other",\#(Self.content)}"#).status == 202)
        _ = try worker.next()
        let publishing = try begin(gateway, "POST", "/v1/requests", ["Prefer: wait=30"], #"{"id":"r-1",\#(Self.content)}"#)
        _ = try worker.next()
        let clients = try [publishing] + ["r-1?wait=30", "r-1/events"].map { try begin(gateway, "GET", "/v1/requests/\($0)") }
        try worker.write(Self.sent, of: "r-1", headers: headers)
        for client in clients {
            let answer = client.answer()
            let isStream = answer.head.contains("text/event-stream")
            let text = String(decoding: isStream ? client.chunks().bytes : answer.body, as: UTF8.self)
            #expect(answer.status == 200 && text.contains(#""state":"sent""#), "\(text)")
        }
        let shown = try ask(gateway, "GET", "/v1/requests/r-1")
        #expect(shown.text.contains(#""request_id":"r-1","kind":"final","state":"sent""#), "\(shown.text)")
        #expect(try ask(gateway, "GET", "/v1/requests/other").text.contains(#""state":"accepted""#))
    }

    @Test func aRequestIsFollowedToItsEnd() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        #expect(try ask(gateway, "POST", "/v1/requests", [], #"{"id":"r-1",\#(Self.content)}"#).status == 202)
        let client = try begin(gateway, "GET", "/v1/requests/r-1/events")
        _ = try worker.next()
        try worker.write(Self.sent, of: "r-1")
        let answer = client.answer()
        #expect(answer.status == 200 && answer.head.contains("Content-Type: text/event-stream"), "\(answer.head)")
        let text = String(decoding: client.chunks().bytes, as: UTF8.self)
        #expect(text.contains("event: state\n") && text.contains(#""state":"sent""#) && text.contains("event: end\n"), "\(text)")
    }

    @Test func aCancellationIsInTheControlTopicBeforeIts202() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        #expect(try ask(gateway, "POST", "/v1/requests", [], #"{"id":"r-1",\#(Self.content)}"#).status == 202)
        let answer = try ask(gateway, "POST", "/v1/requests/r-1:cancel", [], #"{"reason":"wrong audience"}"#)
        #expect(answer.status == 202, "\(answer.text)")
        let cluster = try #require(gateway.cluster)
        let reader = try TopicReader(
            cluster.configuration, topic: gateway.configuration.topics.control, start: .beginning, timeout: farDeadline)
        defer { reader.close() }
        var found: [CancelRecord?] = []
        let isThere = eventually {
            _ = reader.read(timeout: .milliseconds(100)) { record in
                guard let key = record.key, let value = record.value else { return }
                found.append(CancelRecord(key: key, value: value))
            }
            return reader.hasReachedEnd && !found.isEmpty
        }
        #expect(isThere && found.count == 1 && found.first??.reason == "wrong audience", "\(found)")
        #expect(found.first??.requestID == "r-1" && found.first??.scope.source != nil, "\(found)")
        #expect(try ask(gateway, "POST", "/v1/requests/r-2:cancel").status == 404)
    }
}
