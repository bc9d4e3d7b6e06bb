import PushModel
import Testing

@testable import ResultQuery

@Suite struct FilterMatchingTests {
    @Test(arguments: [
        ("", true), ("state:partial", true), ("state:failed", false), ("state:failed,partial", true), ("-state:partial", false),
        ("-state:failed", true), ("state:par*", true), ("state:*al", true), ("state:p*r*l", true), ("state:*x*", false),
        ("state:\"partial\"", true), ("state:\"part*\"", false), ("outcome:throttled", true), ("error:hub_throttled", true),
        ("error:hub_*", true), ("error:*", true), ("-error:*", false), ("error:hub_timeout", false), ("status:429", true),
        ("status:201", true), ("status:500", false), ("status:>=400", true), ("status:>429", false), ("safety:safe", true),
        ("hub:prod-shop", true), ("hub:prod", false), ("hub:prod*", true), ("platform:apple", true), ("platform:fcm", true),
        ("platform:windows", false), ("-platform:windows", true), ("-platform:apple", false), ("attempts:4", true),
        ("attempts:>4", false), ("attempts:>=4", true), ("attempts:<4", false), ("attempts:<=4", true), ("attempts:1,>3", true),
        ("took:>1m", true), ("took:<1m31s", false), ("took:<=1m31s100ms", true), ("queued:>200ms", false), ("queued:200ms", true),
        ("kind:final", true), ("hub_state:Enqueued", true), ("worker:w-3", true), ("source:/orders", true), ("tenant:a", false),
        ("-tenant:a", true), ("topic:push.requests.v1", true), ("partition:7", true), ("root:root-1", true),
        ("parent:parent-1", true), ("job:j-1", true), ("actor:ann", true), ("generation:>1", true), ("request:p-1", true),
        ("request:P-1", false), ("label.plain:mlb", true), ("label.plain:ml", false), ("label.other:*", false),
        ("-label.other:*", true), ("label.campaign:\"new year, 2027\"", true), ("label.campaign:new*2027", true),
        ("state:partial hub:prod-shop -platform:windows", true), ("state:partial hub:other", false),
    ])
    func aTermMeans(text: String, isMatch: Bool) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.matches(try #require(Records.read(Records.partial))) == isMatch)
        #expect(filter.finds(Records.partial) == isMatch)
    }

    @Test(arguments: ResultField.allCases)
    func whatARecordLacksIsOnlyExcludedByNothing(field: ResultField) throws {
        guard field != .request else { return }
        let value =
            switch field.values {
            case .words(let words): words[0]
            case .text: "*"
            case .number: ">=0"
            case .duration: ">=0s"
            }
        let least = try #require(Records.read(Records.least))
        #expect(try !ResultFilter("\(field.rawValue):\(value)", now: noon).matches(least))
        #expect(try ResultFilter("-\(field.rawValue):\(value)", now: noon).matches(least))
    }

    @Test(arguments: ResultField.allCases)
    func aFieldOfAnotherTypeMatchesNothing(field: ResultField) throws {
        let record =
            #"{"request_id":"x","state":7,"outcome":null,"hub":["a"],"kind":{},"error":"hub_throttled","attempt_count":"4","#
            + #""sends":{"platform":"apple"},"labels":[],"timings":7,"replay":[{"job_id":"j"}],"origin":"o","worker":null}"#
        let document = try #require(Records.read(record))
        guard field != .request else { return }
        for value in ["*", "0", ">=0", "0s"] {
            guard let filter = try? ResultFilter("\(field.rawValue):\(value)", now: noon) else { continue }
            #expect(!filter.matches(document), "\(filter)")
        }
    }

    /// A plan takes the parts of a large request that it names, and not what only looks like one.
    @Test(arguments: [
        (#"{"request_id":"news.3","state":"failed","parent":{"id":"news","chunk":3}}"#, true),
        (#"{"request_id":"news","state":"partial","parts":{"count":4}}"#, true),
        (#"{"request_id":"news.3","state":"failed"}"#, false), (#"{"request_id":"new.3","parent":{"id":"new"}}"#, false),
        (#"{"request_id":"x","parent":{"id":"news"}}"#, false), (#"{"request_id":"news.3","parent":"news"}"#, false),
    ])
    func theIDOfAWholeStandsForItsParts(_ json: String, isMatch: Bool) throws {
        let filter = try ResultFilter("request:news", now: noon)
        #expect(filter.withParts.finds(json) == isMatch && filter.withParts.includesParts && !filter.includesParts)
        #expect(filter.finds(json) == (isMatch && json.contains(#""request_id":"news","#)))
        let others = try ResultFilter("-request:news", now: noon)
        #expect(others.withParts.finds(json) == others.finds(json), "what is left out is named as it is")
    }

    @Test func timesAreBoundedBelowAndBeforeTheEnd() throws {
        let filter = try ResultFilter("since:2h until:1h", now: noon)
        let hour: Int64 = 3_600_000
        #expect(filter.covers(noon - 2 * hour))
        #expect(!filter.covers(noon - 2 * hour - 1))
        #expect(filter.covers(noon - hour - 1))
        #expect(!filter.covers(noon - hour))
        #expect(filter.finds(Records.least, at: noon - 2 * hour))
        #expect(!filter.finds(Records.least))
    }

    @Test(arguments: [
        "", "7", "null", "[]", "{}", #"{"request_id":7}"#, "{", "\u{0}", #"{"request_id":"a""#, #"{"a":"request_id"}"#,
    ])
    func whatIsNoResultNeverMatches(json: String) throws {
        for text in ["", "state:failed", "-state:failed"] {
            #expect(try !ResultFilter(text, now: noon).finds(json))
        }
    }
}
