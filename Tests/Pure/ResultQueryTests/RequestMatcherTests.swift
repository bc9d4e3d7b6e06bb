import PushModel
import Testing

@testable import ResultQuery

@Suite struct RequestMatcherTests {
    typealias Match = RequestMatcher.Match

    @Test(arguments: [
        (Sought.Subject.user, "alice", Match.named(asPerson: true)), (.user, "ALICE", .named(asPerson: true)),
        (.user, "zoË", .named(asPerson: true)), (.user, "ali", .none), (.user, "ali*", .named(asPerson: true)),
        (.user, "*e", .named(asPerson: true)),
        (.user, "carol", .none), (.user, "*x*", .none), (.device, "alice", .none), (.title, "order", .named(asPerson: false)),
        (.title, "shipped ORDER", .named(asPerson: false)), (.title, "ord", .none), (.title, "ord*", .named(asPerson: false)),
        (.title, "parcel today", .named(asPerson: false)), (.title, "order missing", .none), (.title, "alice", .none),
        (.title, "!", .none),
        (.anything, "alice", .named(asPerson: true)), (.anything, "r-1", .named(asPerson: false)), (.anything, "r-10", .none),
        (.anything, "new year", .named(asPerson: false)), (.anything, "new", .none),
        (.anything, "/orders", .named(asPerson: false)),
        (.anything, "42", .named(asPerson: false)), (.anything, "way, parcel", .named(asPerson: false)),
        (.anything, "mail", .named(asPerson: false)),
        (.anything, "kind=mail", .named(asPerson: false)), (.anything, "kind=post", .none),
        (.anything, "campaign", .none), (.anything, "shop", .none), (.anything, "*ail", .named(asPerson: false)),
        (.audience, "users", .named(asPerson: false)), (.audience, "USERS", .named(asPerson: false)), (.audience, "tags", .none),
    ])
    func aRequestToUsersIs(subject: Sought.Subject, text: String, match: Match) throws {
        try check(Sought(subject, is: text), RequestRecords.users, match)
    }

    @Test(arguments: [
        (RequestRecords.tags, Sought.Subject.user, "alice", Match.possible),
        (RequestRecords.tags, .anything, "news", .named(asPerson: false)),
        (RequestRecords.tags, .anything, "alice", .possible), (RequestRecords.tags, .title, "alice", .none),
        (RequestRecords.tags, .user, "news", .possible), (RequestRecords.tags, .device, "abcd", .possible),
        (RequestRecords.tags, .audience, "tags", .named(asPerson: false)),
        (RequestRecords.expression, .anything, "sport_1", .named(asPerson: false)),
        (RequestRecords.expression, .audience, "expression", .named(asPerson: false)),
        (RequestRecords.expression, .user, "alice", .possible),
        (RequestRecords.all, .user, "alice", .possible), (RequestRecords.all, .audience, "all", .named(asPerson: false)),
        (RequestRecords.devices, .device, "abcdef01", .named(asPerson: true)),
        (RequestRecords.devices, .device, "ABCD EF01", .named(asPerson: true)),
        (RequestRecords.devices, .device, "<abcd ef01>", .named(asPerson: true)),
        (RequestRecords.devices, .device, "abcd", .none),
        (RequestRecords.devices, .device, "tok:1-X", .named(asPerson: true)),
        (RequestRecords.devices, .anything, "abcdef01", .named(asPerson: true)),
        (RequestRecords.devices, .device, "abcd*", .named(asPerson: true)), (RequestRecords.devices, .user, "abcdef01", .none),
        (RequestRecords.installation, .device, "inst-1", .named(asPerson: true)),
        (RequestRecords.installation, .user, "inst-1", .none),
        (RequestRecords.installation, .anything, "INST-1", .named(asPerson: true)),
        (RequestRecords.part, .anything, "news", .named(asPerson: false)),
        (RequestRecords.part, .user, "carl", .named(asPerson: true)),
        (RequestRecords.part, .user, "dora", .named(asPerson: true)), (RequestRecords.part, .user, "emil", .none),
    ])
    func aRequestToOthersIs(json: String, subject: Sought.Subject, text: String, match: Match) throws {
        try check(Sought(subject, is: text), json, match)
    }

    private func check(_ sought: Sought, _ json: String, _ match: Match) throws {
        let matcher = RequestMatcher(try ResultFilter([sought]))
        #expect(matcher.match(json) == match)
        if match != .none { #expect(!matcher.rulesOut(bytesOf: json, headers: RecordHeaders())) }
        // The opposite holds for exactly those that do not name it.
        let opposite = Sought(sought.subject, is: sought.values[0].text, isNegated: true)
        let isNamed = if case .named = match { true } else { false }
        #expect(RequestMatcher(try ResultFilter([opposite])).match(json) == (isNamed ? .none : .named(asPerson: false)))
    }

    @Test func allConditionsHold() throws {
        let (alice, order) = (Sought(.user, is: "alice"), Sought(.title, is: "order"))
        let (goal, bob) = (Sought(.title, is: "goal"), Sought(.anything, is: "bob"))
        #expect(RequestMatcher(try ResultFilter([alice, order])).match(RequestRecords.users) == .named(asPerson: true))
        #expect(RequestMatcher(try ResultFilter([alice, goal])).match(RequestRecords.users) == .none)
        #expect(RequestMatcher(try ResultFilter([alice, bob])).match(RequestRecords.users) == .named(asPerson: true))
        #expect(RequestMatcher(try ResultFilter([alice, goal])).match(RequestRecords.tags) == .possible)
        #expect(RequestMatcher(try ResultFilter([alice, order])).match(RequestRecords.tags) == .none)
        let noMail = Sought(.anything, is: "mail", isNegated: true)
        #expect(RequestMatcher(try ResultFilter([alice, noMail])).match(RequestRecords.tags) == .none)
        #expect(RequestMatcher(try ResultFilter([alice, noMail])).match(RequestRecords.all) == .possible)
        #expect(RequestMatcher(try ResultFilter([alice], terms: "label.kind:mail")).match(RequestRecords.tags) == .possible)
        #expect(RequestMatcher(try ResultFilter([alice], terms: "label.kind:mail")).match(RequestRecords.all) == .none)
    }

    @Test func oneOfTheValuesIsEnough() throws {
        let either = Sought(.user, values: [.init("carol"), .init("BOB")])
        #expect(RequestMatcher(try ResultFilter([either])).match(RequestRecords.users) == .named(asPerson: true))
        let neither = Sought(.user, isNegated: true, values: [.init("carol"), .init("BOB")])
        #expect(RequestMatcher(try ResultFilter([neither])).match(RequestRecords.users) == .none)
    }

    @Test func titlesAreNotReadForThoseWhoMayNotSeeThem() throws {
        let filter = try ResultFilter([Sought(.anything, is: "order")])
        #expect(RequestMatcher(filter).match(RequestRecords.users) == .named(asPerson: false))
        #expect(RequestMatcher(filter, readingTitles: false).match(RequestRecords.users) == .none)
        #expect(
            RequestQuery(filter, readingTitles: false)?.match(RequestTokens(of: RequestRecords.read(RequestRecords.users)))
                == RequestMatcher.Match.none)
    }

    @Test(arguments: [
        ("request:r-1", true), ("request:R-1", false), ("request:r*", true), ("source:/orders", true), ("-source:/orders", false),
        ("source:/Orders", false), ("tenant:shop", true), ("tenant:toys", false), ("-tenant:toys", true),
        ("topic:push.requests.v1", true),
        ("topic:other", false), ("partition:3", true), ("partition:>3", false), ("label.campaign:\"New Year\"", true),
        ("label.campaign:\"new year\"", false), ("-label.other:x", true), ("label.other:*", false), ("root:x", false),
        ("-root:x", true),
        ("state:failed", true), ("hub:none", true), ("took:>1h", true), ("request:r-1 tenant:toys", false),
    ])
    func termsThatARequestDecidesAreAsked(terms: String, isMatch: Bool) throws {
        let matcher = RequestMatcher(try ResultFilter([], terms: terms))
        #expect(matcher.match(RequestRecords.users) == (isMatch ? .named(asPerson: false) : .none))
        if isMatch { #expect(!matcher.rulesOut(bytesOf: RequestRecords.users, headers: RecordHeaders())) }
    }

    @Test(arguments: [
        ("request:news", true), ("request:news.3", true), ("-request:news", false), ("request:new", false), ("root:root-1", true),
        ("parent:parent-1", true), ("job:j-1", true), ("actor:ann", true), ("-actor:ann", false), ("generation:>1", true),
        ("generation:1", false),
    ])
    func partsAndReplaysAreFoundByWhereTheyAreFrom(terms: String, isMatch: Bool) throws {
        let matcher = RequestMatcher(try ResultFilter([], terms: terms))
        #expect(matcher.match(RequestRecords.part) == (isMatch ? .named(asPerson: false) : .none))
    }

    @Test func manyValuesAndManyUsersAreCompared() throws {
        let users = (0..<10_000).map { "\"user-\($0)\"" }.joined(separator: ",")
        let json = #"{"audience":{"users":["# + users + #"]},"message":{"title":"T"}}"#
        let strangers = (0..<1000).map { Sought.Value("stranger-\($0)") }
        let request = RequestRecords.read(json)
        let none = RequestMatcher(try ResultFilter([Sought(.user, values: strangers)]))
        #expect(none.match(request, from: "t", partition: 0) == .none)
        let last = RequestMatcher(try ResultFilter([Sought(.user, values: strangers + [.init("USER-9999")])]))
        #expect(last.match(request, from: "t", partition: 0) == .named(asPerson: true))
        #expect(RequestTokens(of: request).all.count { $0.kind == .user } == 10_000)
    }

    @Test(arguments: [
        (RequestRecords.users, Sought.Subject.user, "carol", true), (RequestRecords.users, .user, "a/b", true),
        (RequestRecords.users, .title, "goal", true),
        (RequestRecords.tags, .user, "carol", false), (RequestRecords.all, .user, "carol", false),
        (RequestRecords.all, .title, "carol", true),
        (RequestRecords.expression, .anything, "carol", false), (RequestRecords.users, .anything, "carol", true),
        (RequestRecords.devices, .device, "abcdef01", false), (RequestRecords.devices, .device, "zzzz", true),
        (RequestRecords.users, .device, "abcdef01", true), (RequestRecords.users, .anything, "push.requests.v1:3:17", false),
        (#"{"audience":{"users":["\u0063arol"]}}"#, .user, "carol", false),
        (#"{"audience":{"users":["b\nob"]}}"#, .user, "carol", true),
        ("{\"audience\":{\"users\":[\"\u{212A}arl\"]}}", .user, "karl", false),
        (#"{"audience":{"users":["x\/y"]}}"#, .user, "x/y", false),
        (#"{"audience" : { "users": ["dan"]}}"#, .user, "carol", true),
        (#"{"\u0061udience":{"broadcast":true}}"#, .user, "carol", false),
        (#"{"audience":{"users":["dan"]},"audience":{"broadcast":true}}"#, .user, "carol", false), ("{}", .user, "carol", false),
        ("", .user, "x", false),
        ("\u{0}\u{0}", .title, "x", true),
    ])
    func bytesRuleOut(json: String, subject: Sought.Subject, text: String, isRuledOut: Bool) throws {
        let matcher = RequestMatcher(try ResultFilter([Sought(subject, is: text)]))
        #expect(matcher.rulesOut(bytesOf: json, headers: RecordHeaders()) == isRuledOut)
    }

    @Test func headersMayHaveWhatIsSought() throws {
        let json = #"{"audience":{"users":["bob"]},"message":{"title":"T"}}"#
        for filter in [try ResultFilter([Sought(.anything, is: "order-7")]), try ResultFilter([], terms: "request:order-7")] {
            let matcher = RequestMatcher(filter)
            #expect(matcher.match(json, headers: RequestRecords.headers(id: "order-7")) == .named(asPerson: false))
            #expect(!matcher.rulesOut(bytesOf: json), "headers are not known")
            #expect(!matcher.rulesOut(bytesOf: json, headers: RequestRecords.headers(id: "order-7")))
            #expect(matcher.rulesOut(bytesOf: json, headers: RecordHeaders()))
        }
    }

    @Test func forManyValuesRecordsAreRead() throws {
        let few = Sought(.user, values: (0..<8).map { .init("stranger-\($0)") })
        let many = Sought(.user, values: (0..<9).map { .init("stranger-\($0)") })
        #expect(RequestMatcher(try ResultFilter([few])).rulesOut(bytesOf: RequestRecords.users))
        #expect(!RequestMatcher(try ResultFilter([many])).rulesOut(bytesOf: RequestRecords.users))
    }

    @Test func whatAListShowsAsTheTitleIsFound() throws {
        let alert = #""payloads":{"apple":{"body":{"aps":{"alert":"Hi there"}}}}"#
        let matcher = RequestMatcher(try ResultFilter([Sought(.title, is: "there")]))
        for message in ["", #""message":{"title":"","data":{"a":"b"}},"#, #""message":{"title":"Hello","data":{"a":"b"}},"#] {
            let json = #"{"audience":{"broadcast":true},"# + message + alert + "}"
            let isFound = matcher.match(json) != .none
            #expect(isFound == (RequestFacts(RequestRecords.read(json)).title == "Hi there"), "\(json)")
            #expect(isFound == !message.contains("Hello"))
        }
    }

    @Test func possibleRequestsAreRuledOutForThoseWhoDoNotSeekThem() throws {
        let filter = try ResultFilter([Sought(.user, is: "carol")])
        let json = RequestRecords.tags
        #expect(!RequestMatcher(filter).rulesOut(bytesOf: json))
        #expect(RequestMatcher(filter, seekingPossible: false).rulesOut(bytesOf: json))
    }
}
