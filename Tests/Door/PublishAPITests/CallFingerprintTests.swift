@testable import PublishAPI
@testable import GatewayAPI
import HTTPServing
import Testing

/// Calls that count as the same, and answers that are kept.
struct CallFingerprintTests {
    private static let json: HTTPFields = ["Content-Type": "application/json"]

    static let same: [(String, String)] = [
        (#"{"a":1,"b":[1,2]}"#, " {\n\t\"b\" : [ 1, 2 ],\r\n \"a\" : 1 } "),
        (#"{"a":{"y":null,"x":true}}"#, #"{"a":{"x":true,"y":null}}"#),
        (#"{"a":"\u00e9\/\n"}"#, #"{"a":"é/\u000a"}"#),
        (#"{"\u0061":1,"aa":2,"":3}"#, #"{"":3,"aa":2,"a":1}"#), ("no json", "no json"), ("", ""),
    ]

    @Test(arguments: same) func orderSpaceAndEscapesMakeNoDifference(one: String, other: String) throws {
        #expect(
            CallFingerprint(Array(one.utf8), headers: Self.json) == CallFingerprint(Array(other.utf8), headers: Self.json))
    }

    static let different: [(String, String)] = [
        (#"{"a":1}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"a":"1"}"#), (#"{"a":1}"#, #"{"a":1.0}"#), (#"[1,2]"#, #"[2,1]"#),
        (#"{"a":[1],"b":2}"#, #"{"a":[1,2]}"#), (#"{"a":"b,\"c\":1"}"#, #"{"a":"b","c":1}"#),
        (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#),
        (#"{"a":null}"#, "{}"), ("{a}", "{ a}"), (#"{"a":9007199254740993}"#, #"{"a":9007199254740992}"#),
    ]

    @Test(arguments: different) func valuesAndTheOrderOfElementsDo(one: String, other: String) throws {
        #expect(
            CallFingerprint(Array(one.utf8), headers: Self.json) != CallFingerprint(Array(other.utf8), headers: Self.json))
    }

    static let headers: [(HTTPFields, HTTPFields, isSame: Bool)] = [
        (["Content-Type": "application/json"], ["content-type": "Application/JSON ; charset=utf-8"], true),
        (["Content-Type": "application/json"], ["Content-Type": "application/cloudevents+json"], false),
        (["Content-Type": "application/json"], [:], false),
        (["ce-id": "1", "ce-source": "s"], ["CE-Source": "s", "ce-id": "1"], true), (["ce-id": "1"], ["ce-id": "2"], false),
        (["ce-id": "\"a\\b\""], ["ce-id": "a%62"], true), (["ce-id": "\"a\\b\""], ["ce-id": "%61b"], true),
        (["ce-id": "%zz"], ["ce-id": "%yy"], false),
        (["ce-id": "1"], [:], false), (["traceparent": "1", "X-Request-Id": "7"], [:], true),
    ]

    @Test(arguments: headers.indices) func theMediaTypeAndAnEventsAttributesCount(index: Int) throws {
        let (one, other, isSame) = Self.headers[index]
        #expect((CallFingerprint([0x7B, 0x7D], headers: one) == CallFingerprint([0x7B, 0x7D], headers: other)) == isSame)
    }

    @Test func aKeyBelongsToATenantASourceAndARoute() throws {
        let scopes = [
            ("k", nil, "a", "r"), ("k", "t", "a", "r"), ("k", nil, "b", "r"), ("k", nil, "a", "s"), ("l", nil, "a", "r"),
            ("k", "a", "r", ""), ("r\u{0}k", nil, "a", ""), ("k", nil, "a\u{0}", "r"),
        ].map { IdempotencyScope($0.0, tenant: $0.1, source: $0.2, route: $0.3) }
        #expect(Set(scopes).count == scopes.count - 1, "only what has a NUL can be another's, and no source has one")
        #expect(IdempotencyScope("k", tenant: nil, source: "a", route: "r") == scopes[0])
        #expect(!scopes.contains(IdempotencyScope("k", apiKey: "a", route: "r")), "an earlier version's are others")
        #expect(scopes.allSatisfy { $0.digest.count == 32 })
    }

    @Test(arguments: [200, 202, 204, 400, 413, 415, 422]) func whatIsCertainIsKept(status: Int) throws {
        let answer = APIAnswer(
            status: status, headers: ["Location": "/v1/requests/1", "Content-Type": "application/json", "Date": "now"], body: [1])
        let stored = try #require(StoredAnswer(certain: answer))
        let replay: HTTPFields = [
            "Idempotency-Replayed": "true", "Location": "/v1/requests/1", "Content-Type": "application/json",
        ]
        #expect(stored.replay == APIAnswer(status: status, headers: replay, body: [1]))
    }

    @Test(arguments: [100, 304, 401, 403, 404, 405, 408, 409, 429, 500, 503, 504]) func whatIsNotCertainIsNotKept(status: Int) {
        #expect(StoredAnswer(certain: APIAnswer(status: status)) == nil)
        #expect(StoredAnswer(certain: APIAnswer(status: 202, body: Array(repeating: 0, count: (1 << 20) + 1))) == nil)
    }

    @Test(arguments: [(202, 1 << 20), (400, 4 << 10), (413, 4 << 10), (415, 4 << 10), (422, 4 << 10)])
    func aLongRefusalIsNotKept(status: Int, limit: Int) {
        for (count, isKept) in [(limit, true), (limit + 1, false)] {
            let answer = APIAnswer(status: status, body: Array(repeating: 0, count: count))
            #expect((StoredAnswer(certain: answer) != nil) == isKept, "\(count) bytes")
        }
    }
}
