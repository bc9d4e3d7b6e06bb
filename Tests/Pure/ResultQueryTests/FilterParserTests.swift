import Testing

@testable import ResultQuery

@Suite struct FilterParserTests {
    @Test(arguments: [
        ("", ""), ("  \t ", ""), ("state:failed", "state:failed"), ("state:failed,partial", "state:failed,partial"),
        ("  state:failed   hub:shop ", "state:failed hub:shop"), ("-hub:test", "-hub:test"),
        ("hub:\"a b\"", "hub:\"a b\""), ("hub:\"shop\"", "hub:shop"), ("hub:\"\"", "hub:\"\""),
        ("hub:\"a\\\"b\\\\c\"", "hub:\"a\\\"b\\\\c\""), ("hub:a,\"b,c\",d", "hub:a,\"b,c\",d"),
        ("request:push.requests.v1:0:17", "request:push.requests.v1:0:17"), ("error:hub_*", "error:hub_*"),
        ("hub:\"a*\"", "hub:\"a*\""), ("hub:*", "hub:*"), ("attempts:3", "attempts:3"), ("attempts:=3", "attempts:3"),
        ("attempts:>2", "attempts:>2"), ("attempts:>=2,<=0", "attempts:>=2,<=0"), ("status:<500", "status:<500"),
        ("took:>1m30s", "took:>90000ms"), ("queued:0s", "queued:0ms"), ("platform:apns,fcm,wns", "platform:apple,fcmv1,windows"),
        ("platform:template", "platform:template"), ("label.campaign:mlb", "label.campaign:mlb"),
        ("state:\"paused\"", "state:\"paused\""), ("safety:duplicate_risk", "safety:duplicate_risk"),
        ("since:1h", "since:2026-11-21T11:00:00.000Z"), ("until:now", "until:2026-11-21T12:00:00.000Z"),
        ("until:2026-11-21T10:00Z", "until:2026-11-21T10:00:00.000Z"), ("since:2026-11-21", "since:2026-11-21T00:00:00.000Z"),
        ("since:2026-11-21T10:00+01:00", "since:2026-11-21T09:00:00.000Z"),
        ("since:\"2026-11-21T10:00:00.5Z\"", "since:2026-11-21T10:00:00.500Z"),
        ("since:2h since:1h since:3h", "since:2026-11-21T11:00:00.000Z"),
        ("until:1h until:2h", "until:2026-11-21T10:00:00.000Z"),
        ("since:1h hub:a until:now hub:b", "hub:a hub:b since:2026-11-21T11:00:00.000Z until:2026-11-21T12:00:00.000Z"),
        ("kind:outcome", "kind:outcome"), ("hub_state:NoTargetFound", "hub_state:NoTargetFound"), ("hub:größe", "hub:größe"),
    ])
    func aFilterReads(text: String, canonical: String) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.description == canonical)
        #expect(try ResultFilter(canonical, now: 0) == filter, "the canonical text means the same at any time")
    }

    @Test(arguments: [
        ("-", 1, "-", "is no term"), (",", 1, ",", "is no term"), (",-*", 1, ",-*", "is no term"),
        ("\"\",user:*", 1, "\"\",user:*", "is no term"), ("hub:a -,\"\"", 7, "-,\"\"", "is no term"),
        ("\"hub\":a", 6, ":", "cannot stand here"), ("alice\"b\"", 6, "\"", "cannot stand here"),
        ("hub:a  stat:failed", 8, "stat", "is no field"), ("users:alice", 1, "users", "is no field"),
        ("State:failed", 1, "State", "is no field"), ("LABEL.a:b", 1, "LABEL.a", "is no field"),
        ("colour:\"a b\"", 1, "colour", "is no field"),
        ("to:nobody", 4, "nobody", "is no kind of audience"),
        ("-stat:failed", 2, "stat", "is no field"),
        ("label:a", 1, "label", "is no field"),
        ("label.:a", 1, "label.", "is no label"),
        ("label.Größe:a", 1, "label.Größe", "is no label"), ("state:", 7, "", "is no value"),
        ("state: hub:a", 7, " ", "is no value"),
        ("state:,failed", 7, ",", "is no value"), ("state:failed,", 14, "", "is no value"),
        ("state:faild", 7, "faild", "is no state"),
        ("state:failed,sent,Failed", 19, "Failed", "is no state"), ("error:timeout", 7, "timeout", "is no error"),
        ("platform:nokia", 10, "nokia", "is no platform"), ("hub:\"a", 5, "\"a", "has no closing quote"),
        ("hub:\"a\\", 5, "\"a", "has no closing quote"), ("hub:a\"b\"", 6, "\"", "cannot stand here"),
        ("hub:\"a\"b", 8, "b", "cannot stand here"), ("attempts:many", 10, "many", "is no number"),
        ("attempts:>", 10, ">", "is no number"), ("attempts:-1", 10, "-1", "is no number"),
        ("attempts:+1", 10, "+1", "is no number"),
        ("attempts:=>1", 10, "=>1", "is no number"), ("attempts:1.5", 10, "1.5", "is no number"),
        ("attempts:9223372036854775808", 10, "9223372036854775808", "is no number"), ("took:5", 6, "5", "is no length"),
        ("since:tomorrow", 7, "tomorrow", "is no time"), ("since:2026-13-01", 7, "2026-13-01", "is no time"),
        ("since:1h,2h", 10, "2h", "one moment too many"),
        ("-since:1h", 1, "-since", "write until instead"), ("hub:a -until:1h", 7, "-until", "write since instead"),
    ])
    func whatIsNoFilterIsPointedAt(text: String, position: Int, word: String, reason: String) {
        let error = #expect(throws: FilterError.self) { try ResultFilter(text, now: noon) }
        #expect(error?.position == position)
        #expect(error?.word == word)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [
        ("alice", "alice"), ("alice  bob", "alice bob"), ("-alice", "-alice"), ("\"new year\"", "\"new year\""),
        ("alice,bob", "alice,bob"), ("Hello, world", "Hello world"), ("a,b:c", "a,\"b:c\""), (":a", "\":a\""), ("-:a", "-\":a\""),
        ("--", "-\"-\""), ("push.requests.v1:3:17", "\"push.requests.v1:3:17\""), ("foo:bar", "\"foo:bar\""),
        ("mailto:ann@example.org", "\"mailto:ann@example.org\""), ("foo..bar", "foo..bar"), ("größe 🙂", "größe 🙂"),
        ("01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37"),
        ("user:alice", "user:alice"), ("-user:alice,Bob", "-user:alice,Bob"), ("device:\"a b\"", "device:\"a b\""),
        ("title:sale*", "title:sale*"), ("to:tags,all", "to:tags,all"), ("to:\"other\"", "to:\"other\""), ("to:t*", "to:t*"),
        ("a*", "a*"), ("\"a*\"", "\"a*\""), ("\"user:alice\"", "\"user:alice\""), ("user:user:alice", "user:user:alice"),
        ("\"today\"", "\"today\""), ("\"14:05\"", "\"14:05\""), ("-\"14:05\"", "-\"14:05\""), ("now", "now"), ("1h", "1h"),
        ("alice state:failed", "state:failed alice"), ("state:waiting", "state:published,delayed,held"),
        ("-state:running,sent", "-state:in_work,in_parts,sent"), ("state:\"waiting\"", "state:\"waiting\""),
        ("state:dead_letter,failed", "state:dead_letter,failed"),
    ])
    func wordsAreSoughtInTheRequest(text: String, canonical: String) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.description == canonical)
        #expect(try ResultFilter(canonical, now: 0) == filter, "the canonical text means the same at any time")
    }

    @Test func wordsKeepTheirSubjects() throws {
        let filter = try ResultFilter("alice* -user:\"b*\",c hub:shop", now: noon)
        #expect(
            filter.sought == [
                Sought(.anything, values: [Sought.Value("alice*", hasPattern: true)]),
                Sought(.user, isNegated: true, values: [Sought.Value("b*"), Sought.Value("c")]),
            ])
        #expect(filter.terms.map(\.description) == ["hub:shop"])
    }

    /// Results alone answer some filters, requests without a result others.
    @Test(arguments: [
        ("", false, false, false), ("alice", true, false, false), ("to:all", true, false, false),
        ("state:failed", false, false, true),
        ("-state:sent", false, false, true), ("state:d*", false, false, true), ("state:waiting", false, true, false),
        ("state:failed,held", false, true, false), ("-state:held", false, false, false), ("error:hub_*", false, false, true),
        ("worker:a", false, false, true), ("took:>1s", false, false, true), ("hub:a source:b tenant:c", false, false, false),
        ("request:a label.b:c topic:d partition:1", false, false, false), ("job:a actor:b generation:1", false, false, false),
        ("state:running error:internal", false, true, true), ("alice hub_state:a", true, false, true),
    ])
    func aFilterSaysWhoAnswersIt(text: String, isAboutRequests: Bool, asksForOpen: Bool, asksOfResults: Bool) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.isAboutRequests == isAboutRequests)
        #expect(filter.asksForOpen == asksForOpen)
        #expect(filter.asksOfResults == asksOfResults)
    }

    @Test func faultsNameWhatIsAllowed() {
        let field = #expect(throws: FilterError.self) { try ResultFilter("stat:failed", now: noon) }
        #expect(field?.allowed.contains("state") == true)
        for name in FilterParser.names { #expect(field?.reason.contains(name) == true) }
        let state = #expect(throws: FilterError.self) { try ResultFilter("state:faild", now: noon) }
        for word in OpenState.words { #expect(state?.allowed.contains(word) == true, "\(word)") }
        #expect(state?.allowed.contains("failed") == true)
        #expect(state?.description.hasPrefix("position 7: 'faild' is no state; there are scheduled, ") == true)
    }

    @Test func aFilterHasALimit() throws {
        let fits = "hub:" + String(repeating: "a", count: FilterParser.maximumLength - 4)
        #expect(try ResultFilter(fits, now: noon).terms.count == 1)
        let error = #expect(throws: FilterError.self) { try ResultFilter(fits + "a", now: noon) }
        #expect(error?.position == FilterParser.maximumLength + 1)
    }

    /// Questions to each record are bounded, whatever the length of the text allows.
    @Test(
        arguments: [
            ("hub:a ", FilterParser.maximumTerms, "terms", "is one term too many; a filter has at most 64"),
            ("alice ", FilterParser.maximumTerms, "words", "is one term too many; a filter has at most 64"),
            ("u", FilterParser.maximumValues, "sought", "is one value too many; a filter has at most 1024"),
            ("u*", FilterParser.maximumPatterns, "sought", "is one value with * too many; a filter has at most 64"),
            ("", FilterParser.maximumValues, "values", "is one value too many; a filter has at most 1024"),
            ("*", FilterParser.maximumPatterns, "patterns", "is one value with * too many; a filter has at most 64"),
        ] as [(String, Int, String, String)])
    func theWorkOfAFilterHasALimit(piece: String, limit: Int, what: String, reason: String) throws {
        func text(_ count: Int) -> String {
            switch what {
            case "terms", "words": String(repeating: piece, count: count) + "since:1h since:2h until:now 11:59"
            case "sought": (0..<count).map { "\(piece)\($0)" }.joined(separator: ",")
            default: "request:" + (0..<count).map { "\(piece)\($0)" }.joined(separator: ",")
            }
        }
        #expect(try ResultFilter(text(limit), now: noon).since != nil || !["terms", "words"].contains(what))
        let error = #expect(throws: FilterError.self) { try ResultFilter(text(limit + 1), now: noon) }
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func aFilterAddsToWhatIsCountedOverAllTerms() {
        let values = (0..<FilterParser.maximumValues).map { "\($0)" }.joined(separator: ",")
        #expect(throws: FilterError.self) { try ResultFilter("partition:\(values) partition:1", now: noon) }
    }

    @Test func filtersAddUp() throws {
        var filter = try ResultFilter("hub:a since:2h until:now", now: noon)
        filter.add(try ResultFilter("-state:sent since:1h until:30m", now: noon))
        filter.require(.kind, among: ["final", "outcome"])
        #expect(
            filter.description
                == "hub:a -state:sent kind:final,outcome since:2026-11-21T11:00:00.000Z until:2026-11-21T11:30:00.000Z")
        #expect(filter.mentions(.state) && filter.mentions(.kind) && !filter.mentions(.outcome))
    }
}
