import PushModel
import Testing

@Suite struct RequestHeaderTests {
    static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test(
        arguments: [
            (#""id":"body""#, [("ce_id", "header")], "body"), ("", [("ce_id", "header")], "header"),
            ("", [("CE_ID", "header")], "header"),
            ("", [], "push.requests.v1:3:42"), ("", [("ce_id", "")], "push.requests.v1:3:42"),
            ("", [("ce_id", "a b")], "push.requests.v1:3:42"),
            ("", [("ce_id", String(repeating: "a", count: 128))], String(repeating: "a", count: 128)),
            ("", [("ce_id", String(repeating: "a", count: 129))], "push.requests.v1:3:42"),
            ("", [("ce_id", "a"), ("ce_id", "b")], "b"),
            (#""id":"bad id""#, [("ce_id", "header")], "header"), (#""id":"""#, [], "push.requests.v1:3:42"),
            (#""id":7"#, [], "push.requests.v1:3:42"),
        ] as [(String, [(String, String)], String)])
    func theIdentityComesFromBodyThenHeaderThenPlace(fragment: String, headers: [(String, String)], id: String) {
        var reading = Reading(headers)
        let outcome = reading.read(record(fragment))
        #expect((outcome == .request) == (fragment.isEmpty || fragment.contains("body")))
        #expect(reading.string(reading.request.id) == id)
        #expect(reading.request.hasOwnID == !id.hasPrefix("push.requests.v1:"))
    }

    @Test func theKeyAgainstRepetitionsIsReadAndForgotten() {
        var reading = Reading()
        #expect(reading.read(record(#""dedupe":{"key":"k","window_seconds":5}"#)) == .request)
        #expect(reading.string(reading.request.dedupeKey) == "k")
        #expect(reading.request.dedupeWindow == 5)
        #expect(reading.read(record(#""dedupe":{"key":"l"}"#)) == .request)
        #expect(reading.string(reading.request.dedupeKey) == "l")
        #expect(reading.request.dedupeWindow == 86_400)
        #expect(reading.read(record("")) == .request)
        #expect(reading.request.dedupeKey == nil)
    }

    @Test func theIdentityIsKeptWhateverIsWrongWithTheRecord() {
        var reading = Reading([("ce_id", "header")])
        for value in ["", "{", "[]", "7", String(repeating: " ", count: RequestReader.maximumRecordByteCount + 1), "{}"] {
            #expect(reading.read(value) != .request)
            #expect(reading.string(reading.request.id) == "header")
        }
        reading.headers.removeAll()
        _ = reading.read("")
        #expect(reading.string(reading.request.id) == "push.requests.v1:3:42")
        reading.origin.topic = String(repeating: "t", count: 249)
        reading.origin.offset = .max
        _ = reading.read("")
        let id = reading.string(reading.request.id)
        #expect(id?.utf8.count == 128)
        #expect(id?.hasSuffix("t:3:9223372036854775807") == true)
    }

    @Test func attributesFillWhatTheBodyLeavesOpen() {
        let headers = [("ce_source", "/shop"), ("ce_partitionkey", "order-1"), ("ce_time", "2026-11-20T11:00:00Z")]
        var reading = Reading(headers)
        #expect(reading.read(record(#""ttl_seconds":60"#)) == .request)
        #expect(reading.string(reading.request.source) == "/shop")
        #expect(reading.string(reading.request.orderingKey) == "order-1")
        #expect(reading.request.createdAt?.milliseconds == Reading.recordTime - 3_600_000)
        #expect(reading.request.expiresAt?.milliseconds == Reading.recordTime - 3_540_000)
        let own = #""source":"/own","ordering_key":"own","created_at":"2026-11-20T12:00:00Z""#
        #expect(reading.read(record(own)) == .request)
        #expect(reading.string(reading.request.source) == "/own")
        #expect(reading.string(reading.request.orderingKey) == "own")
        #expect(reading.request.createdAt?.milliseconds == Reading.recordTime)
    }

    @Test(
        arguments: [
            ("", "2026-11-20T12:00:10Z", 10), (#""ttl_seconds":60"#, "2026-11-20T12:00:10Z", 10),
            (#""ttl_seconds":5"#, "2026-11-20T12:00:10Z", 5),
            (#""expires_at":"2026-11-20T12:00:05Z""#, "2026-11-20T12:00:10Z", 5),
            (#""expires_at":"2026-11-20T12:00:15Z""#, "2026-11-20T12:00:10Z", 10),
            (#""ttl_seconds":0"#, "2026-11-20T12:00:10Z", 0), (#""ttl_seconds":60,"created_at":"2026-11-20T11:59:00Z""#, nil, 0),
            (#""ttl_seconds":60"#, nil, 60), ("", nil, nil),
        ] as [(String, String?, Int64?)])
    func theEarlierOfTwoExpiriesWins(fragment: String, header: String?, seconds: Int64?) {
        var reading = Reading(header.map { [("ce_expirytime", $0)] } ?? [])
        #expect(reading.read(record(fragment)) == .request)
        #expect(reading.request.expiresAt?.milliseconds == seconds.map { Reading.recordTime + $0 * 1000 })
    }

    @Test func anExpiryThatCannotBeReadIsAFault() {
        var reading = Reading([("ce_expirytime", "tomorrow")])
        #expect(reading.faults(record()).first?.message.contains("expirytime") == true)
    }

    @Test(arguments: [Int64.max, .max - 1000, .min, -1, 0])
    func aTimeToLiveNeverOverflows(recordTime: Int64) {
        var reading = Reading()
        reading.origin.timestamp = Timestamp(milliseconds: recordTime)
        #expect(reading.read(record(#""ttl_seconds":2419200"#)) == .request)
        #expect(reading.request.expiresAt == Timestamp(milliseconds: recordTime).adding(seconds: 2_419_200))
    }

    @Test(
        arguments: [
            ([("traceparent", trace)], trace, nil), ([("ce_traceparent", trace)], trace, nil),
            ([("traceparent", trace), ("tracestate", "a=1")], trace, "a=1"),
            ([("ce_traceparent", trace), ("ce_tracestate", "b=2"), ("tracestate", "a=1")], trace, "b=2"),
            ([("traceparent", "bad"), ("ce_traceparent", trace)], trace, nil), ([("tracestate", "a=1")], nil, nil),
            ([("traceparent", trace), ("tracestate", String(repeating: "a", count: 513))], trace, nil),
            ([("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01")], nil, nil),
            ([("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01")], nil, nil),
            ([("traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")], nil, nil),
            ([("traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")], nil, nil),
            ([("traceparent", "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")], nil, nil),
            ([("traceparent", trace + "-")], nil, nil), ([("traceparent", trace + "-more")], nil, nil),
            ([("traceparent", "01" + trace.dropFirst(2))], trace, nil),
            ([("traceparent", "cc" + trace.dropFirst(2) + "-"), ("tracestate", "a=1")], trace, "a=1"),
            ([("traceparent", "fe" + trace.dropFirst(2) + "-what-comes")], trace, nil),
            ([("traceparent", "cc" + trace.dropFirst(2).dropLast(2) + "fe-x")], trace.dropLast(2) + "02", nil),
            ([("traceparent", "cc" + trace.dropFirst(2) + ".x")], nil, nil),
            ([("traceparent", "ff" + trace.dropFirst(2) + "-x")], nil, nil),
            ([("traceparent", "cc" + trace.dropFirst(2).dropLast())], nil, nil),
            ([("traceparent", trace.dropLast(2) + "fe")], trace.dropLast(2) + "fe", nil),
            ([("traceparent", "")], nil, nil), ([], nil, nil),
        ] as [([(String, String)], String?, String?)])
    func theTraceContextIsTakenWhenItIsValid(headers: [(String, String)], parent: String?, state: String?) {
        var reading = Reading(headers)
        #expect(reading.read(record()) == .request)
        #expect(reading.string(reading.request.traceParent) == parent)
        #expect(reading.string(reading.request.traceState) == state)
    }

    @Test(arguments: [
        "application/cloudevents+json", "Application/CloudEvents+JSON", "application/cloudevents+json; charset=utf-8",
        "application/cloudevents+json;charset=utf-8",
    ])
    func aStructuredEventIsReadWithItsAttributes(type: String) {
        var reading = Reading([("content-type", type), ("ce_id", "header")])
        let attributes =
            #""specversion":"1.0","type":"push.request.v1","id":"ev\u0065nt","source":"/shop","time":"2026-11-20T11:00:00Z""#
        let extra = #""expirytime":"2026-11-20T11:00:30Z","partitionkey":"k","traceparent":"\#(Self.trace)","tracestate":"a=1""#
        #expect(reading.read("{\(attributes),\(extra),\"data\":\(record(#""ttl_seconds":60"#))}") == .request)
        let request = reading.request
        #expect(reading.string(request.id) == "event" && reading.string(request.source) == "/shop")
        #expect(reading.string(request.orderingKey) == "k")
        #expect(request.createdAt?.milliseconds == Reading.recordTime - 3_600_000)
        #expect(request.expiresAt?.milliseconds == Reading.recordTime - 3_570_000)
        #expect(reading.string(request.traceParent) == Self.trace && reading.string(request.traceState) == "a=1")
        #expect(request.unknownFieldCount == 0)
        #expect(reading.read("{\(attributes),\"data\":\(record(#""id":"body""#))}") == .request)
        #expect(reading.string(reading.request.id) == "body")
    }

    @Test func theFaultsOfAStructuredEventPointIntoTheRecord() {
        var reading = Reading([("content-type", "application/cloudevents+json")])
        #expect(
            reading.faults(#"{"id":"e","data":{"hub":"X","message":{"title":"t"}}}"#).map(\.pointer) == [
                "/data/hub", "/data/audience",
            ])
        #expect(reading.string(reading.request.id) == "e")
        #expect(reading.faults(#"{"id":"e","id":"f","data":\#(record())}"#).map(\.pointer) == ["/id"])
    }

    @Test(arguments: [#"{"id":"e"}"#, #"{"id":"e","data":"x"}"#, #"{"id":"e","data":null}"#, #"{"id":"e","data_base64":"e30="}"#])
    func aStructuredEventWithoutARequestIsRejectedUnderItsId(text: String) {
        var reading = Reading([("content-type", "application/cloudevents+json")])
        let faults = reading.faults(text)
        #expect(faults.map(\.pointer) == ["/data"])
        #expect(faults.first?.message.contains("data") == true)
        #expect(reading.string(reading.request.id) == "e")
    }

    @Test(arguments: ["application/json", "application/cloudevents+jsonx", "application/cloudevents", "text/plain", ""])
    func otherContentTypesMeanTheRecordItselfIsTheRequest(type: String) {
        var reading = Reading([("content-type", type)])
        #expect(reading.read(record(#""data":{}"#)) == .request)
        #expect(reading.request.unknownFieldCount == 1)
    }

    @Test func headersAreTakenByNameAndForgottenAgain() {
        var headers = RecordHeaders()
        func add(_ name: String, _ value: [UInt8]) { headers.add(name: Array(name.utf8).span, value: value.span) }
        func value(_ name: RecordHeaders.Name) -> [UInt8]? {
            guard let span = headers.value(name) else { return nil }
            return (0..<span.count).map { span[$0] }
        }
        add("ce_id", [0x61])
        add("ce_source", [0xFF])
        add("ce_time", [UInt8](repeating: 0x61, count: RecordHeaders.maximumValueByteCount + 1))
        add("tracestate", [UInt8](repeating: 0x61, count: RecordHeaders.maximumValueByteCount))
        add("unknown", [0x62])
        add("", [0x63])
        #expect(value(.ceID) == [0x61])
        #expect(value(.ceSource) == nil && value(.ceTime) == nil && value(.traceParent) == nil)
        #expect(value(.traceState)?.count == RecordHeaders.maximumValueByteCount)
        add("ce_id", [0xFF])
        #expect(value(.ceID) == [0x61])
        add("Ce_Id", [])
        #expect(value(.ceID) == [])
        headers.removeAll()
        for name in RecordHeaders.Name.allCases { #expect(value(name) == nil) }
    }
}
