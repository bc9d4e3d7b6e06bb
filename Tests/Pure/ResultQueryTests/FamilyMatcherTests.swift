import Testing

@testable import ResultQuery

@Suite struct FamilyMatcherTests {
    @Test(arguments: [
        (Records.partial, "p-1", FamilyMatcher.Relation.own), (Records.partial, "root-1", .replay),
        (Records.partial, "parent-1", .replay),
        (Records.partial, "j-1", nil), (Records.partial, "p-", nil), (Records.partial, "", nil), (Records.least, "least", .own),
        (Records.least, "leas", nil), ("least", "least", nil), ("{\"request_id\":\"\\u0061\"}", "a", .own),
        ("{\"request_id\":\"\"}", "", .own), ("{\"request_id\":\"a\\\"b\"}", "a\"b", .own),
        (#"{"request_id":"x","replay":"x"}"#, "x", .own), (#"{"request_id":"x","replay":["y"]}"#, "y", nil),
        ("{\"request_id\":\"é\"}", "é", .own), (#"{"request_id":7,"x":"7"}"#, "7", nil),
    ])
    func aResultIsToARequest(json: String, request: String, relation: FamilyMatcher.Relation?) {
        var matcher = FamilyMatcher(request: request)
        let found = matcher.relation(Array(json.utf8).span)
        #expect(found == relation)
    }
}
