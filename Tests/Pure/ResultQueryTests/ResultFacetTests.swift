import PushModel
import Testing

@testable import ResultQuery

@Suite struct ResultFacetTests {
    private static func part(_ facet: ResultFacet, _ json: String) throws -> String {
        var writer = ByteWriter()
        facet.write(of: try #require(Records.members(json)), to: &writer)
        return writer.text
    }

    @Test func aPartHoldsWhatManyResultsHaveAlike() throws {
        #expect(
            try Self.part(.ending, Records.partial)
                == #"{"state":"partial","outcome":"throttled","kind":"final","hub":"prod-shop","hub_state":"Enqueued","#
                + #""replay_safety":"safe","error":{"code":"hub_throttled","http_status":429},"sends":["#
                + #"{"platform":"apple","outcome":"success","http_status":201},"#
                + #"{"platform":"fcmv1","outcome":"throttled","http_status":429}]}"#)
        #expect(
            try Self.part(.sender, Records.partial)
                == #"{"source":"/orders","origin":{"topic":"push.requests.v1"},"#
                + #""labels":{"campaign":"new year, 2027","plain":"mlb"}}"#)
        #expect(
            try Self.part(.handling, Records.partial)
                == #"{"worker":{"id":"w-3"},"replay":{"job_id":"j-1","actor":"ann","generation":2}}"#)
        for facet in ResultFacet.allCases { #expect(try Self.part(facet, Records.least) == "{}") }
    }

    @Test func equalCallsAreToldOnce() throws {
        let call = #"{"platform":"apple","outcome":"success","http_status":201,"index":"#
        let json = #"{"request_id":"a","sends":[\#(call)0},\#(call)1},{},7,{"platform":"apple"},\#(call)2}]}"#
        #expect(
            try Self.part(.ending, json)
                == #"{"sends":[{"platform":"apple","outcome":"success","http_status":201},{},{"platform":"apple"}]}"#)
    }

    @Test(arguments: [
        #"{"request_id":"a","state":"\u0022\u0000\n","state":"b","hub":null,"kind":[],"error":{"code":{},"http_status":1.5}}"#,
        #"{"request_id":"a","state":{"x":1},"state":"b","error":[],"sends":{},"labels":7,"worker":null,"origin":"x"}"#,
        #"{"request_id":"a","labels":{"a":"1","a":"2","b":{"c":[]}},"sends":[],"replay":{}}"#,
    ])
    func partsOfStrangeResultsAreJSON(json: String) throws {
        for facet in ResultFacet.allCases {
            let part = try Self.part(facet, json)
            var document = JSONDocument()
            #expect(throws: Never.self, "\(part)") { try document.read(Array(part.utf8).span) }
        }
        #expect(try Self.part(.sender, json).contains(#""labels":{"a":"1","a":"2","b":{"c":[]}}"#) == json.contains("b\":{"))
    }

    /// Every field is decided by exactly one part or by its own value.
    @Test(arguments: ResultField.allCases) func everyFieldIsDecidedSomewhere(field: ResultField) throws {
        let values: [String: String] = [
            "request": "p-1", "state": "partial", "outcome": "throttled", "error": "hub_throttled", "status": "201",
            "safety": "safe", "hub": "prod-shop", "platform": "fcmv1", "attempts": "4", "took": "91100ms", "queued": "200ms",
            "kind": "final", "hub_state": "Enqueued", "worker": "w-3", "source": "/orders", "tenant": "*",
            "topic": "push.requests.v1", "partition": "7", "root": "root-1", "parent": "parent-1", "job": "j-1",
            "actor": "ann", "generation": "2",
        ]
        let json = Records.partial.replacing("\"source\"", with: #""tenant":"t","source""#)
        let result = try #require(Records.members(json))
        let filter = try ResultFilter("\(field.rawValue):\(try #require(values[field.rawValue]))", now: noon)
        #expect(filter.finds(json))
        if let facet = field.facet {
            var part = JSONDocument()
            try part.read(Array(try Self.part(facet, json).utf8).span)
            #expect(filter.asks(about: facet))
            #expect(filter.matches(part, as: facet))
            #expect(filter.singularTerms.isEmpty)
            for other in ResultFacet.allCases where other != facet { #expect(!filter.asks(about: other)) }
            try part.read(Array("{}".utf8).span)
            #expect(!filter.matches(part, as: facet))
        } else {
            #expect(ResultField.singular.contains(field))
            #expect(filter.singularTerms.map(\.field) == [field])
            #expect(result.value(ofSingular: try #require(ResultField.singular.firstIndex(of: field))) != nil)
            #expect(!ResultFacet.allCases.contains(where: filter.asks))
        }
    }
}
