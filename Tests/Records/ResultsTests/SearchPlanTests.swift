import Publishing
import PushModel
import ResultQuery
import Testing

@testable import Results

/// A filter says which records a search reads, and in which order.
@Suite struct SearchPlanTests {
    /// A filter by its parts, and its plan.
    struct Row: Sendable {
        let plan: SearchPlan
        let text: String
        let states: [[String]]
        let sought: Bool

        init(_ plan: SearchPlan, _ text: String = "", states: [String]..., sought: Bool = false) {
            (self.plan, self.text, self.states, self.sought) = (plan, text, states, sought)
        }

        func filter() throws -> ResultFilter {
            var filter = try ResultFilter(text, now: 0)
            for words in states { filter.require(.state, among: words) }
            if sought { filter.add(Sought(.user, values: [.init("alice")])) }
            return filter
        }
    }

    static let rows: [Row] = [
        Row(.requests), Row(.requests, "since:1h"), Row(.requests, "tenant:a source:b label.c:d hub:north topic:t"),
        Row(.requests, "request:r job:j"), Row(.requests, sought: true),
        Row(.results, "state:failed"), Row(.results, "-state:sent tenant:a"), Row(.results, "outcome:transient"),
        Row(.results, "error:duplicate"), Row(.results, "attempts:>2"), Row(.results, "kind:final"),
        Row(.results, "platform:apple"),
        Row(.requests, "state:failed", sought: true), Row(.requests, "took:>1s", sought: true),
        Row(.requests, states: ["failed", "held"]), Row(.requests, "outcome:transient", states: ["sent", "published"]),
        Row(.open([.held]), states: ["held"]),
        Row(.open([.published, .delayed, .held]), states: ["published", "delayed", "held"]),
        Row(.open([.inWork, .inParts]), states: ["in_work", "in_parts"], sought: true),
        Row(.open([.held]), states: ["held", "delayed"], ["held", "published"]),
        Row(.open([.held]), states: ["held"], ["held", "sent"]),
        Row(.open([]), states: ["held"], ["published"]),
        Row(.requests, states: ["done"]), Row(.requests, states: ["held", "dead_letter"]),
        Row(.deadLetters, states: ["dead_letter"]),
        Row(.deadLetters, "tenant:a", states: ["dead_letter"], sought: true),
    ]

    @Test(arguments: rows) func aFilterSaysWhatIsRead(row: Row) throws {
        #expect(SearchPlan(try row.filter()) == row.plan)
    }

    /// A cursor of a list by results is none of a list by publication, and the other way round.
    @Test(arguments: [
        ("request:a source:b tenant:c topic:d partition:1 label.x:y job:j generation:1", false), ("hub:north", true),
        ("-state:sent", true), ("platform:apple", true), ("", false),
    ])
    func aRequestAloneDecidesItsOwnTerms(text: String, asksResults: Bool) throws {
        #expect(try ResultFilter(text, now: 0).asksResults == asksResults)
    }

    @Test func anIdIsNamedByItsTermOrByAWord() throws {
        var word = ResultFilter()
        word.add(Sought(.anything, values: [.init("Order-7.0")]))
        var other = ResultFilter()
        other.add(Sought(.title, values: [.init("order-7.0")]))
        #expect(word.namesRequest("order-7.0") && !word.namesRequest("order-7.1") && !other.namesRequest("order-7.0"))
        #expect(try ResultFilter("request:order-7.0", now: 0).namesRequest("order-7.0"))
        #expect(try !ResultFilter("-request:order-7.0", now: 0).namesRequest("order-7.0"))
    }

    @Test(arguments: [
        (Sought.Subject.anything, false, "ALICE", true), (.user, false, "alice", true), (.user, false, "bob", false),
        (.anything, true, "alice", false), (.anything, true, "bob", true), (.audience, false, "alice", false),
        (.title, false, "al*zz", false), (.title, false, "al*ce", true),
    ])
    func theBytesOfAValueThatIsNoRequestAreSearched(subject: Sought.Subject, isNegated: Bool, text: String, isFound: Bool) {
        let value = Sought.Value(text, hasPattern: text.contains("*"))
        let matcher = ByteMatcher([Sought(subject, isNegated: isNegated, values: [value])])
        #expect(matcher.matches(Array(#"{"audience":{"users":["Alice"]"#.utf8)) == isFound)
        #expect(ByteMatcher([]).matches([]))
    }

    /// The filter, the place, the requests of an index that reaches back an hour and knows the filter, and true for a short search.
    @Test(
        arguments: [
            ("since:59m alice", nil, 1, true), ("since:61m alice", nil, 1, false), ("alice", nil, 1_000_000, false),
            ("since:59m alice", .requests(SearchCursor(time: 7, place: nil)), 1, true),
            ("alice", .requests(SearchCursor(time: 7, place: nil)), 1, false),
            ("", nil, 9_999, false), ("", nil, 10_000, true), ("", .requests(SearchCursor(time: 7, place: nil)), 10_000, false),
            ("until:1h", nil, 10_000, false), ("state:failed", nil, 1, true),
            ("state:failed until:59m", nil, 1, true), ("state:failed until:1h", nil, 1, false),
            ("state:failed", .results(ResultCursor(time: 4_000_000, partition: 0, offset: 0)), 1, true),
            ("state:failed", .results(ResultCursor(time: 3_000_000, partition: 0, offset: 0)), 1, false),
        ] as [(String, SearchPage.Next?, Int, Bool)])
    func aSearchIsShortWhereIndexesReach(line: String, next: SearchPage.Next?, count: Int, isShort: Bool) throws {
        let (now, hour) = (7_200_000 as Int64, 3_600_000 as Int64)
        let filter = try ResultFilter(line, now: now)
        let isCheap = RequestSearch.isCheap(filter, after: next, count: count, since: now - hour, isDecided: true)
        #expect(isCheap == isShort)
        let isElsewhere =
            filter.isAboutRequests
            && RequestSearch.isCheap(filter, after: next, count: count, since: now - hour, isDecided: false)
        #expect(!isElsewhere, "no index knows it")
    }
}
