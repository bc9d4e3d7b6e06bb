import Publishing
import PushModel
import Testing

@testable import Console

/// What `enqueue --wait` says of requests that were not sent everywhere.
@Suite struct UnsentRequestsTests {
    private static func result(_ id: String, _ state: String, error: String? = nil) throws -> (id: String, result: ResultRecord) {
        let error = error.map { ",\"error\":\($0)" } ?? ""
        let json = #"{"request_id":"\#(id)","kind":"final","state":"\#(state)","at":"t"\#(error)}"#
        return (id, try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0)))
    }

    private static let throttled = #"{"code":"hub_throttled","message":"The hub throttled every attempt."}"#

    @Test func whatWasSentIsNotNamed() throws {
        #expect(UnsentRequests.lines([try Self.result("a", "sent")]).isEmpty)
    }

    @Test func eachCauseIsNamedOnceWithWhatToDoAndOneOfItsRequests() throws {
        let requests = [
            try Self.result("a", "sent"), try Self.result("b", "failed", error: Self.throttled),
            try Self.result("c", "partial", error: Self.throttled), try Self.result("d", "failed", error: Self.throttled),
        ]
        let remedy = ErrorCode.hubThrottled.explanation.remedy
        #expect(
            UnsentRequests.lines(requests) == [
                "2 requests failed (hub_throttled): The hub throttled every attempt.", remedy,
                "`pushfan results show b` shows each attempt",
                "1 request was sent only in part (hub_throttled): The hub throttled every attempt.", remedy,
                "`pushfan results show c` shows each attempt",
            ])
    }

    @Test(
        arguments: [
            (
                "rejected", #"{"code":"schema_invalid"}"#,
                "1 request was rejected (schema_invalid): The request does not follow the contract."
            ),
            ("expired", nil, "1 request expired"), ("cancelled", nil, "1 request was cancelled"),
            ("duplicate", nil, "1 request was sent before"), ("unknown", nil, "1 request is unknown"),
            ("new", #"{"code":"unheard_of","message":"a\u001bb"}"#, "1 request is new (unheard_of): a\u{FFFD}b"),
        ] as [(String, String?, String)])
    func everyStateHasItsWords(state: String, error: String?, first: String) throws {
        #expect(UnsentRequests.lines([try Self.result("a", state, error: error)]).first == first)
    }
}
