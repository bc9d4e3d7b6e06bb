import HTTPServing
import Keys
import PushModel
import Testing

@testable import Gateway

/// Where calls lead that find, repair and show, and who may make them.
@Suite struct OperatorRouteTests {
    @Test(arguments: [
        ("GET", "/v1/requests", OperatorRoute.results), ("HEAD", "/v1/requests", .results),
        ("POST", "/v1/requests:search", .searchResults), ("POST", "/v1/failures:search", .searchFailures),
        ("GET", "/v1/failures", .failures), ("GET", "/v1/deadletters", .deadLetters), ("GET", "/v1/status", .status),
        ("GET", "/v1/status/events", .statusEvents), ("GET", "/v1/history", .history), ("GET", "/v1/incidents", .incidents),
        ("GET", "/v1/replays", .replays),
        ("POST", "/v1/replays", .plan), ("GET", "/v1/replays/a%2Fb", .replay(id: "a/b")),
        ("GET", "/v1/replays/~..", .replay(id: "..")), ("DELETE", "/v1/replays/a", .deletePlan(id: "a")),
        ("GET", "/v1/replays/a/events", .replayEvents(id: "a")), ("GET", "/v1/replays/a/leftovers", .leftovers(id: "a")),
        ("POST", "/v1/replays/a:run", .command(.run, id: "a")), ("POST", "/v1/replays/a:b:stop", .command(.stop, id: "a:b")),
        ("POST", "/v1/replays/a:pause", .command(.pause, id: "a")), ("POST", "/v1/replays/a:resume", .command(.resume, id: "a")),
        ("GET", "/v1/holds", .holds), ("POST", "/v1/holds", .hold), ("POST", "/v1/holds/h-1:release", .release(id: "h-1")),
        ("POST", "/v1/requests:cancel", .cancelScope),
    ])
    func aPathLeadsThere(method: String, path: String, route: OperatorRoute) {
        #expect(Route.match(method, path: path[...]) == .route(.operate(route)))
    }

    @Test(arguments: [
        "/v1/replays/", "/v1/replays/:run", "/v1/replays/a/b", "/v1/status/x", "/v1/failures/", "/v1/history/1",
        "/v1/incidents/1", "/v1/holds/h-1",
        "/v1/holds/:release", "/v1/holds/h-1/x",
    ])
    func otherPathsLeadNowhere(path: String) {
        #expect(Route.match("GET", path: path[...]) == .nowhere)
    }

    @Test func aKeyNeedsAScopeOfTheRoute() {
        let every: [(OperatorRoute, Scope)] = [
            (.results, .read), (.searchResults, .read), (.failures, .read), (.searchFailures, .read), (.deadLetters, .read),
            (.status, .read), (.history, .read), (.incidents, .read), (.replays, .read),
            (.replays, .replay), (.replay(id: "a"), .replay), (.leftovers(id: "a"), .read), (.plan, .replay),
            (.deletePlan(id: "a"), .replay),
            (.holds, .read), (.holds, .operate), (.hold, .operate), (.release(id: "a"), .operate), (.cancelScope, .operate),
            (.command(.run, id: "a"), .replay), (.command(.stop, id: "a"), .replay),
        ]
        for (route, scope) in every {
            #expect(throws: Never.self) { try call(route, scopes: [scope]).checkRights() }
            #expect(throws: APIProblem.forbiddenScope(route.scopes[0])) { try call(route, scopes: [.publish]).checkRights() }
        }
        #expect(throws: APIProblem.forbiddenScope(.replay)) { try call(.plan, scopes: [.read]).checkRights() }
    }

    @Test(arguments: [OperatorRoute.deadLetters, .status, .statusEvents, .history, .incidents])
    func whatIsNotDividedByTenantsIsForKeysWithoutOne(route: OperatorRoute) {
        #expect(throws: APIProblem.notForTenants) { try call(route, scopes: [.read], tenant: "acme").checkRights() }
    }

    @Test func aQueryIsReadStrictly() throws {
        let names: Set = ["limit", "payload"]
        #expect(try call("/x?limit=3&payload").query(names) == ["limit": "3", "payload": ""])
        for query in ["limit=1&limit=2", "limt=1"] {
            #expect(throws: APIProblem.self) { try call("/x?\(query)").query(names) }
        }
        for text in [
            "0", "1001", "-1", "x", "", "2147483648", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        ] {
            #expect(throws: APIProblem.self) { try ["limit": text].integer("limit", in: 1...1000, default: 100) }
        }
        #expect(try ["a": "true"].isTrue("a") && ["a": ""].isTrue("a") && ![:].isTrue("a"))
        #expect(throws: APIProblem.self) { try ["a": "1"].isTrue("a") }
    }
}

/// Bodies of strangers, wrong in as many places as they have room for.
@Suite struct FaultyBodyTests {
    private static let members = "{" + (0..<6000).map { #""a\#($0)":1"# }.joined(separator: ",") + "}"

    private func request(_ body: String) -> HTTPServerRequest {
        HTTPServerRequest(method: "POST", target: "/x", headers: [:], body: Array(body.utf8))
    }

    @Test func theFirstFaultsAreNamedAndNoMore() throws {
        let plan = try #require(throws: APIProblem.self) { try BodyReader(request(Self.members), members: ["a"]).check() }
        let cancel = try #require(throws: APIProblem.self) { try RequestCancelling.reason(in: request(Self.members)) }
        for problem in [plan, cancel] {
            #expect(problem.status == 422 && problem.faults.count == RequestFault.maximumCount)
            #expect(problem.faults.first?.pointer == "/a0" && problem.faults.last?.pointer == "/a31")
        }
        let few = try #require(throws: APIProblem.self) { try BodyReader(request(#"{"b":1,"c":2}"#), members: ["a"]).check() }
        #expect(few.faults.map(\.pointer) == ["/b", "/c"])
    }
}

/// Filters in the bodies of searches.
@Suite struct SearchTests {
    @Test func aBodyHasTheMembersOfAQuery() throws {
        let long = String(repeating: "request:a,", count: 800)
        let body = #"{"filter":"\#(long)","limit":20,"cursor":null}"#
        #expect(try search(body).query(["filter", "limit", "cursor"]) == ["filter": long, "limit": "20"])
        #expect(try search("").query(["filter"]).isEmpty)
    }

    @Test(arguments: [
        #"{"filter":1}"#, #"{"limit":"2"}"#, #"{"limit":1.5}"#, #"{"filtre":""}"#, #"{"filter":"","filter":""}"#, "[]", "{",
    ])
    func aBodyIsReadStrictly(body: String) {
        #expect(throws: APIProblem.self) { try search(body).query(["filter", "limit"]) }
    }

    /// Who goes on by a cursor in the address would get the first page again.
    @Test func aSearchHasNoQuery() {
        #expect(throws: APIProblem.self) { try search("{}", target: "/v1/requests:search?cursor=a").query(["cursor"]) }
    }

    @Test func aLinkLongerThanAHeadNamesTheSearch() {
        #expect(
            ResultDesk.link(to: "c", filter: "state:failed", limit: 3)
                == #"</v1/requests?filter=state%3Afailed&limit=3&cursor=c>; rel="next""#)
        let long = String(repeating: ":", count: 3000)
        #expect(ResultDesk.link(to: "c", filter: long, limit: 3) == #"</v1/requests:search>; rel="next""#)
    }

    private func search(_ body: String, target: String = "/v1/requests:search") -> OperatorCall {
        call(.searchResults, scopes: [.read], method: "POST", target: target, body: body)
    }
}

private func call(_ target: String) -> OperatorCall { call(.results, scopes: [.read], target: target) }
