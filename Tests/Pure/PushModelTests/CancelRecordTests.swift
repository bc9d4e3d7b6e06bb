import PushModel
import Testing

struct CancelRecordTests {
    private static func read(_ key: String, _ value: String) -> CancelRecord? {
        CancelRecord(key: Array(key.utf8).span, value: Array(value.utf8).span)
    }

    @Test(
        arguments: [
            ("a", nil), ("push.requests.v1:0:17", ""), ("01J8Z6Q7X1J3N5V7B9D1F3H5K7", "wrong audience"),
            ("ü/\"", "line\nbreak \"quoted\""),
            (String(repeating: "x", count: 288), "why"),
        ] as [(String, String?)])
    func whatIsWrittenIsRead(_ id: String, _ reason: String?) throws {
        let record = CancelRecord(requestID: id, reason: reason)
        let value = record.value(at: Timestamp(milliseconds: 1_795_262_400_000))
        #expect(record.key == Array("cancel/\(id)".utf8))
        #expect(String(decoding: value, as: UTF8.self).hasSuffix(#","at":"2026-11-21T12:00:00.000Z"}"#))
        var document = JSONDocument()
        try document.read(value.span)
        #expect(CancelRecord(key: record.key.span, value: value.span) == record)
    }

    @Test(arguments: [
        "", "cancel", "cancel/", "Cancel/a", "pause/a", "a", "cancel/" + String(repeating: "x", count: 289),
    ])
    func otherKeysAreAboutSomethingElse(_ key: String) {
        #expect(Self.read(key, #"{"reason":"r"}"#) == nil)
    }

    @Test func aKeyThatIsNoTextIsNone() {
        let key = Array("cancel/".utf8) + [0xFF]
        #expect(CancelRecord(key: key.span, value: [UInt8]().span) == nil)
    }

    @Test(
        arguments: [
            (.init(source: "shop"), #"{"id":"a","source":"shop"}"#), (.init(tenant: "acme"), #"{"id":"a","tenant":"acme"}"#),
            (.init(source: "shop", tenant: "acme"), #"{"id":"a","source":"shop","tenant":"acme"}"#),
            (.init(source: #"/"\"#), #"{"id":"a","source":"/\"\\"}"#),
        ] as [(CancelRecord.Scope, String)])
    func whoseRequestsAreMeantStandsInTheKey(_ scope: CancelRecord.Scope, _ key: String) throws {
        let record = CancelRecord(requestID: "a", scope: scope, reason: "why")
        #expect(String(decoding: record.key, as: UTF8.self) == "cancel-own/" + key)
        let value = record.value(at: Timestamp(milliseconds: 0))
        var document = JSONDocument()
        try document.read(value.span)
        #expect(CancelRecord(key: record.key.span, value: value.span) == record)
        #expect(Self.read("cancel-own/" + key, "no object") == CancelRecord(requestID: "a", scope: scope))
    }

    /// Compaction keeps the last record of a key.
    @Test func noCancellationHasTheKeyOfAnothersRequest() {
        let ids = ["a", #"a","source":"shop"#, #"{"id":"a","source":"shop"}"#, "own/a"]
        let names: [String?] = [nil, "shop", #"shop","tenant":"acme"#, "acme"]
        var keys: Set<[UInt8]> = []
        for id in ids {
            for source in names {
                for tenant in names {
                    keys.insert(CancelRecord(requestID: id, scope: .init(source: source, tenant: tenant)).key)
                }
            }
        }
        #expect(keys.count == ids.count * names.count * names.count)
    }

    /// With a member that is not known here it may mean fewer requests; without source and tenant it would mean everybody's.
    @Test(arguments: [
        "", "a", "{", "[]", "{}", #"{"id":"a"}"#, #"{"source":"s"}"#, #"{"id":7,"source":"s"}"#, #"{"id":"","source":"s"}"#,
        #"{"id":"a","source":7}"#, #"{"id":"a","source":7,"tenant":"t"}"#, #"{"id":"a","source":null,"tenant":"t"}"#,
        #"{"id":"a","source":"s","hub":"h"}"#, #"{"id":"a","source":"s","source":"r"}"#, #"{"source":"s","id":"a"}"#,
        #"{"id":"\#(String(repeating: "x", count: 289))","source":"s"}"#,
        #"{"id":"a","source":"\#(String(repeating: "x", count: 2048))"}"#,
    ])
    func aKeyThatMayMeanFewerCancelsNone(_ key: String) {
        #expect(Self.read("cancel-own/" + key, "{}") == nil)
    }

    @Test(
        arguments: [
            (nil, nil, [.all]), ("s", nil, [.all, .init(source: "s")]), (nil, "t", [.all, .init(tenant: "t")]),
            ("s", "t", [.all, .init(source: "s"), .init(tenant: "t"), .init(source: "s", tenant: "t")]),
        ] as [(String?, String?, [CancelRecord.Scope])])
    func aRequestIsInTheScopesThatAskNoMoreThanItHas(_ source: String?, _ tenant: String?, _ scopes: [CancelRecord.Scope]) {
        #expect(RequestName(id: "a", source: source, tenant: tenant).scopes == scopes)
    }

    @Test(arguments: ["", "{", "null", "[]", "{}", #"{"reason":1}"#, #"{"reason":null}"#, "\u{0}"])
    func aValueThatGivesNoReasonCancelsAsWell(_ value: String) {
        #expect(Self.read("cancel/a", value) == CancelRecord(requestID: "a"))
    }
}
