import Publishing
import PushModel
import Testing

/// What the record of a request is made of (page Requests).
@Suite struct RequestWriterTests {
    private let topics = RequestTopics(high: "h", normal: "t", bulk: "b")
    private let moment = Timestamp(milliseconds: 1_795_262_400_000)

    @Test func aRequestWithoutAnIdGetsOneEverywhere() {
        var writer = RequestWriter(topics: topics, source: "/s")
        let first = writer.record(of: OutgoingRequest(json: Array(#"{"a":1}"#.utf8)), at: moment)
        let second = writer.record(of: OutgoingRequest(json: Array(#"{"a":1}"#.utf8)), at: moment)
        #expect(first.id < second.id)
        #expect(String(decoding: first.value, as: UTF8.self) == #"{"id":"\#(first.id)","a":1}"#)
        #expect(first.key == nil)
        #expect(first.topic == "t")
        let headers = first.headers.map { "\($0.name)=\($0.value)" }
        #expect(
            headers == [
                "content-type=application/json", "ce_specversion=1.0", "ce_id=\(first.id)", "ce_source=/s",
                "ce_type=push.request.v1", "ce_time=2026-11-21T12:00:00.000Z",
            ])
    }

    @Test func aRequestsOwnIdAndSourceStay() {
        var writer = RequestWriter(topics: topics, source: "/s")
        let json = Array(#"{"id":"own","source":"/mine"}"#.utf8)
        let record = writer.record(of: OutgoingRequest(json: json, id: "own", source: "/mine"), at: moment)
        #expect(record.id == "own")
        #expect(record.value == json)
        #expect(record.headers.contains { $0.name == "ce_id" && $0.value == "own" })
        #expect(record.headers.contains { $0.name == "ce_source" && $0.value == "/mine" })
    }

    @Test func headersOfItsOwnTakeThePlaceOfTheUsualOnes() {
        var writer = RequestWriter(topics: topics, source: "/s")
        var request = OutgoingRequest(json: Array("{}".utf8), id: "own")
        request.headers = [("ce_time", "2026-11-20T12:00:00Z"), ("traceparent", "00-1")]
        let headers = writer.record(of: request, at: moment).headers
        #expect(
            headers.map(\.name) == ["content-type", "ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time", "traceparent"])
        #expect(headers.contains { $0.name == "ce_time" && $0.value == "2026-11-20T12:00:00Z" })
    }

    @Test func anEventStaysAsItIs() {
        var writer = RequestWriter(topics: topics, source: "/s")
        let json = Array(#"{"specversion":"1.0","id":"own","data":{}}"#.utf8)
        let record = writer.record(of: OutgoingRequest(json: json, id: "own", isEvent: true), at: moment)
        #expect(record.id == "own" && record.key == "own" && record.value == json)
        #expect(record.headers.map { "\($0.name)=\($0.value)" } == ["content-type=application/cloudevents+json"])
    }

    @Test(arguments: [(.high, "h"), (.normal, "t"), (.low, "b")] as [(PushRequest.Priority, String)], [false, true])
    func thePriorityChoosesTheTopic(row: (priority: PushRequest.Priority, topic: String), isEvent: Bool) {
        var writer = RequestWriter(topics: topics, source: "/s")
        let request = OutgoingRequest(json: Array("{}".utf8), id: "own", priority: row.priority, isEvent: isEvent)
        #expect(writer.record(of: request, at: moment).topic == row.topic)
    }

    @Test(
        arguments: [
            (nil, nil, nil, nil), ("i", nil, nil, "i"), ("i", "d", nil, "d"), ("i", "d", "o", "o"), (nil, nil, "o", "o"),
        ] as [(String?, String?, String?, String?)])
    func whatBelongsTogetherHasOneKey(id: String?, dedupe: String?, ordering: String?, key: String?) {
        #expect(OutgoingRequest(json: [], id: id, orderingKey: ordering, dedupeKey: dedupe).recordKey == key)
    }
}
