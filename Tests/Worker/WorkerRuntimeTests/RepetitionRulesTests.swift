import Delivery
import PushModel
import Testing

@testable import WorkerRuntime

/// The names that requests are compared by.
struct RepetitionRulesTests {
    private static let rules = RepetitionRules(.init())

    private static func names(_ members: String) -> [RequestIdentity?] {
        let origin = RecordOrigin(topic: "r", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 0))
        let json = Array(#"{"audience":{"users":["u"]},"message":{"title":"T"}\#(members)}"#.utf8)
        var request = PushRequest()
        _ = RequestReader().read(json.span, headers: RecordHeaders(), origin: origin, into: &request)
        let names = rules.names(of: request)
        return [names.key?.identity, names.id?.identity]
    }

    private static let named = #","id":"a","source":"s","dedupe":{"key":"k"}"#

    @Test(arguments: [
        (#","hub":"x""#, #","hub":"x""#, true), (#","hub":"x""#, #","hub":"y""#, false), (#","hub":"x""#, "", false),
        (#","tenant":"x""#, "", false), (#","tenant":"x""#, #","hub":"x""#, false), ("", #","labels":{"n":"1"}"#, true),
        (#","hub":"h","tenant":"x""#, #","hub":"h","tenant":"x""#, true),
        (#","hub":"h","tenant":"x""#, #","hub":"h","tenant":"y""#, false),
        (#","hub":"h","tenant":"x""#, #","hub":"h""#, false), (#","tenant":"x""#, #","tenant":"y""#, false),
    ])
    func aRequestForAnotherHubOrOfAnotherTenantIsAnotherOne(first: String, second: String, isSame: Bool) {
        let names = zip(Self.names(Self.named + first), Self.names(Self.named + second))
        for (first, second) in names { #expect(first != nil && (first == second) == isSame) }
    }

    /// The hub of one request is not taken for the id of another.
    @Test func namesAndHubsAreNotMixedUp() {
        let idOfOne = Self.names(#","id":"b","source":"a""#)[1]
        let idOfOther = Self.names(#","id":"a","hub":"b""#)[1]
        #expect(idOfOne != nil && idOfOther != nil && idOfOne != idOfOther)
        #expect(
            Self.names(#","tenant":"t","hub":"h","dedupe":{"key":"k"}"#)[0] != Self.names(#","hub":"k","dedupe":{"key":"t"}"#)[0])
    }
}
