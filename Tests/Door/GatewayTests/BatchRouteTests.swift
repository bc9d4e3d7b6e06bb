import DoorStage
@testable import PublishAPI
@testable import GatewayAPI
import Kafka
import TestSupport
import Testing

/// `POST /v1/requests:batch`, batches of events, and `POST /v1/requests:explain`, over HTTP and Kafka.
@Suite(.tags(.waits, .threads), .serialized) struct BatchRouteTests {
    private static let content = #""audience":{"users":["bob"]},"message":{"title":"CANARYtitle"}"#
    private static let bearer = "Authorization: Bearer \(ServedGateway.key)"
    private static let json = "Content-Type: application/json"
    private static let lines = "Content-Type: application/x-ndjson"
    private static let key = "Idempotency-Key: batch-1"

    private func call(
        _ gateway: ServedGateway, _ body: String, _ fields: [String] = [json], at path: String = "/v1/requests:batch"
    ) throws -> (status: Int, head: String, text: String) {
        let client = try RawClient(port: gateway.port)
        client.send(request("POST", path, [Self.bearer] + fields, body: body))
        let answer = client.answer()
        // The times of records are of the moment.
        let text = String(decoding: answer.body, as: UTF8.self).replacing(/&time=[0-9]{13}"/, with: "\"")
        return (answer.status, answer.head, text)
    }

    private func list(_ items: [String]) -> String { "{\"requests\":[\(items.joined(separator: ","))]}" }

    /// The item of an answer for what is at an offset of the lane's one partition; without an index at that place of the batch, too.
    private func written(_ id: String, at offset: Int, index: Int? = nil) -> String {
        #"{"index":\#(index ?? offset),"status":202,"id":"\#(id)","topic":"push.requests.v1","partition":0,"offset":"\#(offset)","#
            + #""location":"/v1/requests/\#(id)?at=push.requests.v1/0/\#(offset)"}"#
    }

    @Test func aThousandRequestsAreWrittenInTheirOrder() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let ids = (0..<1000).map { "r-\($0)" }
        let answer = try call(gateway, list(ids.map { #"{"id":"\#($0)",\#(Self.content)}"# }))
        let items = ids.enumerated().map { written($1, at: $0) }.joined(separator: ",")
        #expect(answer.status == 202 && answer.text == #"{"accepted":1000,"refused":0,"items":[\#(items)]}"# + "\n")
        for id in ids { #expect(try worker.next().id == id) }
        let isCounted = eventually {
            gateway.services.metrics.contains("requests_total{route=\"requests.batch\",status=\"202\"} 1\n")
        }
        #expect(isCounted && gateway.services.metrics.contains("ack_seconds_count{outcome=\"persisted\"} 1000\n"))
    }

    @Test func oneBadRequestAmongGoodOnesIsRefusedAlone() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let items = [#"{"id":"a",\#(Self.content)}"#, #"{"id":"CANARY","mesage":{}}"#, #"{"id":"c",\#(Self.content)}"#]
        let answer = try call(gateway, list(items))
        #expect(answer.status == 202, "\(answer.text)")
        #expect(
            answer.text.hasPrefix(#"{"accepted":2,"refused":1,"items":[\#(written("a", at: 0)),{"index":1,"status":422,"#),
            "\(answer.text)"
        )
        #expect(answer.text.hasSuffix(",\(written("c", at: 1, index: 2))]}\n") && answer.text.contains(#"{"pointer":"/mesage","#))
        #expect(
            try [worker.next().json, worker.next().json]
                == ["a", "c"].map { #"{"tenant":"shop","id":"\#($0)",\#(Self.content)}"# })
        #expect(!answer.text.contains("CANARY") && !gateway.services.log.text.contains("CANARY"))
    }

    @Test func linesMayEndWithAnEmptyOne() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let body = "{\"id\":\"a\",\(Self.content)}\r\n\r\n{\"id\":\"b\",\(Self.content)}\n{no\n\n"
        let answer = try call(gateway, body, [Self.lines])
        #expect(answer.status == 202, "\(answer.text)")
        let good = [written("a", at: 0), written("b", at: 1)].joined(separator: ",")
        #expect(answer.text.hasPrefix(#"{"accepted":2,"refused":1,"items":[\#(good),{"index":2,"status":400,"#), "\(answer.text)")
        #expect(answer.text.contains(#""code":"not_json""#) && answer.text.contains("no JSON: line 4, column "), "\(answer.text)")
    }

    @Test func aBatchOfEventsIsWrittenAsRequests() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let events = ["e-1", "e-2"].map {
            #"{"specversion":"1.0","type":"t","source":"/shop","id":"\#($0)","data":{\#(Self.content)}}"#
        }
        let bad = #"{"specversion":"2.0","type":"t","source":"/shop","id":"e-3","data":{\#(Self.content)}}"#
        let answer = try call(
            gateway, "[\((events + [bad]).joined(separator: ","))]", ["Content-Type: application/cloudevents-batch+json"],
            at: "/v1/requests")
        #expect(answer.status == 202 && answer.text.hasPrefix(#"{"accepted":2,"refused":1,"#), "\(answer.text)")
        #expect(answer.text.contains(#"{"pointer":"/specversion","#))
        for id in ["e-1", "e-2"] {
            #expect(try worker.next() == (id: id, json: #"{"id":"\#(id)","tenant":"shop",\#(Self.content)}"#))
        }
    }

    @Test(
        arguments: [
            (
                #"{"requests":[{},{"a":1}]}"#, [json], 422, "invalid_request",
                #""accepted":0,"refused":2,"items":[{"index":0,"status":422,"#
            ),
            (#"{"requests":[{"tenant":"other",\#(content)},{}]}"#, [json], 403, "forbidden_tenant", #""refused":2"#),
            ("{}\n{", [lines], 422, "invalid_request", #""status":400,"#),
            (#"{"requests":[]}"#, [json], 422, "invalid_request", ""),
            (#"{"requests":[{\#(content)},]}"#, [json], 400, "not_json", "line 1, column"),
            ("", [lines], 422, "invalid_request", ""),
            (#"[{\#(content)}]"#, [json], 422, "invalid_request", #""pointer":"/requests""#),
            (#"[{\#(content)}]"#, [json], 422, "invalid_request", #"Put the list into an object: {\"requests\":[…]}."#),
            ("{\(content)}\n{\(content)}", [json], 400, "not_json", "with Content-Type: application/x-ndjson."),
            (#"{"requests":[{\#(content)}]}"#, ["Content-Type: text/plain"], 415, "unsupported_media_type", "x-ndjson"),
            (
                #"{"requests":[\#(Array(repeating: "{\(content)}", count: 1001).joined(separator: ","))]}"#, [json], 422,
                "invalid_request", "at most 1000"
            ),
        ] as [(String, [String], Int, String, String)])
    func aBatchWithNothingWrittenIsAProblemAndNeedsNoKafka(
        body: String, fields: [String], status: Int, code: String, words: String
    ) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try call(gateway, body, fields)
        #expect(answer.status == status && answer.text.contains(#""code":"\#(code)""#), "\(answer.text)")
        #expect(answer.text.contains(words), "\(answer.text)")
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
    }

    /// A refusal has no effect: a short one is repeated, and a long one is made again.
    @Test(arguments: [(1, true), (100, false)]) func aLongRefusalOfABatchIsNotKept(count: Int, isKept: Bool) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let body = list(Array(repeating: "{}", count: count))
        let answers = try (0..<2).map { _ in try call(gateway, body, [Self.json, Self.key]) }
        #expect(answers.allSatisfy { $0.status == 422 && $0.text == answers[0].text })
        #expect(answers[1].head.contains("Idempotency-Replayed") == isKept)
    }

    @Test func whatKafkaDoesNotTakeIs503WithAVerdictOnEach() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try call(gateway, list(["{\(Self.content)}", "{}", "{\(Self.content)}"]))
        #expect(answer.status == 503 && answer.head.contains("Retry-After: "), "\(answer.text)")
        #expect(
            answer.text.contains(
                #""code":"broker_unavailable","retry":"safe","accepted":0,"refused":3,"items":[{"index":0,"status":503,"#))
    }

    @Test func theSameKeyGivesTheSameAnswerAndWritesNothing() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let body = list(["{\(Self.content)}", "{}", "{\(Self.content)}"])
        // Neither waits for results.
        let answers = try [[], ["Prefer: wait=30"]].map { try call(gateway, body, [Self.json, Self.key] + $0) }
        #expect(
            answers[0].status == 202
                && answers[0].text.hasPrefix(#"{"accepted":2,"refused":1,"items":[{"index":0,"status":202,"id":"k"#))
        #expect(answers[1].status == 202 && answers[1].text == answers[0].text)
        #expect(answers[1].head.contains("Idempotency-Replayed: true\r\n"))
        #expect(gateway.services.metrics.contains("ack_seconds_count{outcome=\"persisted\"} 2\n"))
        let other = try call(gateway, list(["{\(Self.content)}"]), [Self.json, Self.key])
        #expect(other.status == 422 && other.text.contains(#""code":"idempotency_mismatch""#))
        // A single request with the same key is another call.
        #expect(try call(gateway, "{\(Self.content)}", [Self.json, Self.key], at: "/v1/requests").status == 202)
    }

    /// The key's rate allows no call now, and never more than two at once.
    @Test(arguments: [(2, "safe", "not allow this call yet"), (3, "never", "allows 2 requests at once")])
    func aBatchThatTheRateNeverAllowsIsNotToldToComeBack(count: Int, retry: String, words: String) throws {
        let gateway = try ServedGateway(hasKafka: false, checkKey: { _, _ in .limited(1500, burst: 2) })
        defer { gateway.stop() }
        let answer = try call(gateway, list(Array(repeating: "{\(Self.content)}", count: count)), [Self.json, Self.key])
        #expect(answer.status == 429 && answer.text.contains(#""code":"rate_limited","retry":"\#(retry)""#), "\(answer.text)")
        #expect(answer.text.contains(words) && answer.head.contains("Retry-After: 2\r\n") == (retry == "safe"))
    }

    @Test(
        arguments: [
            (.limited(1500), #""retry":"safe""#, "Retry-After: 2\r\n"), (.beyond(2), "allows 2 requests at once", ""),
        ] as [(KeyUses.BatchVerdict, String, String)])
    func aBatchBeyondTheRateIs429AndNothingIsWritten(verdict: KeyUses.BatchVerdict, words: String, field: String) throws {
        let gateway = try ServedGateway(hasKafka: false, checkBatch: { count, _ in count == 3 ? verdict : .allowed })
        defer { gateway.stop() }
        let answer = try call(gateway, list(Array(repeating: "{\(Self.content)}", count: 3)), [Self.json, Self.key])
        #expect(answer.status == 429 && answer.text.contains(#""code":"rate_limited""#), "\(answer.text)")
        #expect(answer.text.contains(words) && (field.isEmpty || answer.head.contains(field)))
        #expect(!gateway.services.metrics.contains("ack_seconds_count"))
    }

    @Test(
        arguments: [
            ("/v1/requests:batch", json, 4 << 20), ("/v1/requests", "Content-Type: application/cloudevents-batch+json", 4 << 20),
            ("/v1/requests:explain", json, 512 << 10),
        ])
    func aBodyBeyondTheRoutesLimitIs413(path: String, type: String, limit: Int) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let (allowed, refused) = (try RawClient(port: gateway.port), try RawClient(port: gateway.port))
        let fields = [Self.bearer, type, "Expect: 100-continue"]
        allowed.send(request("POST", path, fields + ["Content-Length: \(limit)"]))
        #expect(allowed.answer().status == 100)
        refused.send(request("POST", path, fields + ["Content-Length: \(limit + 1)"]))
        #expect(refused.answer().status == 413)
    }

    // MARK: Explaining

    @Test(
        arguments: [
            (#"{"id":"a","priority":"low",\#(content)}"#, 200, [#"{"calls":3,"#, #""lane":"bulk","#, #""record_key":"a","#]),
            (
                #"{"platforms":["apple"],\#(content)}"#, 200,
                [
                    #"{"lane":"normal","topic":"push.requests.v1","hub":"#, #""calls":[{"platform":"apple","part":1,"#,
                    "CANARYtitle",
                ]
            ),
            (
                #"{"audience":{"broadcast":true},"template":{"a":"b"}}"#, 200,
                [#""platform":"template","#, #"{"calls":1,"#]
            ),
            (#"{"mesage":{}}"#, 422, [#""pointer":"/mesage""#, #""code":"invalid_request""#]),
            ("{", 400, [#""code":"not_json""#]),
            (#"{"tenant":"other",\#(content)}"#, 403, [#""code":"forbidden_tenant""#]),
        ] as [(String, Int, [String])])
    func whatARequestWouldBecomeIsSaidAndNothingIsWritten(body: String, status: Int, words: [String]) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try call(gateway, body, at: "/v1/requests:explain")
        #expect(answer.status == status, "\(answer.text)")
        for word in words { #expect(answer.text.contains(word), "\(answer.text)") }
        if status == 200 {
            let schema = try #require(APIOperation.Publish.explain.row.answers.first?.content?.schema)
            #expect(SchemaCheck.violations(of: Array(answer.text.utf8), by: schema).isEmpty)
        }
        #expect(!gateway.services.metrics.contains("ack_seconds_count"))
        #expect(!answer.text.contains(ServedGateway.key) && !answer.text.contains("sig="))
    }
}
