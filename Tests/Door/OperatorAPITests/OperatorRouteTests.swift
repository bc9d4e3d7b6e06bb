import DoorStage
@testable import PublishAPI
@testable import OperatorAPI
@testable import GatewayAPI
import HTTPServing
import Keys
import PushModel
import Testing

/// Where calls lead that find, repair and show, and who may make them.
@Suite struct OperatorRouteTests {
    @Test(
        arguments: [
            ("GET", "/v1/requests", .listRequests, ""), ("HEAD", "/v1/requests", .listRequests, ""),
            ("POST", "/v1/requests:search", .searchRequests, ""), ("POST", "/v1/failures:search", .searchFailures, ""),
            ("GET", "/v1/failures", .listFailures, ""), ("GET", "/v1/deadletters", .listDeadLetters, ""),
            ("GET", "/v1/status", .showStatus, ""),
            ("GET", "/v1/status/events", .followStatus, ""), ("GET", "/v1/history", .showHistory, ""),
            ("GET", "/v1/incidents", .listIncidents, ""),
            ("GET", "/v1/replays", .listReplays, ""),
            ("POST", "/v1/replays", .planReplay, ""), ("GET", "/v1/replays/a%2Fb", .showReplay, "a/b"),
            ("GET", "/v1/replays/~..", .showReplay, ".."), ("DELETE", "/v1/replays/a", .deletePlan, "a"),
            ("GET", "/v1/replays/a/events", .followReplay, "a"), ("GET", "/v1/replays/a/leftovers", .listLeftovers, "a"),
            ("POST", "/v1/replays/a:run", .runReplay, "a"), ("POST", "/v1/replays/a:b:stop", .stopReplay, "a:b"),
            ("POST", "/v1/replays/a:pause", .pauseReplay, "a"), ("POST", "/v1/replays/a:resume", .resumeReplay, "a"),
            ("GET", "/v1/holds", .listHolds, ""), ("POST", "/v1/holds", .giveHold, ""),
            ("POST", "/v1/holds/h-1:release", .releaseHold, "h-1"),
            ("POST", "/v1/requests:cancel", .cancelScope, ""),
        ] as [(String, String, APIOperation.Operate, String)])
    func aPathLeadsThere(method: String, path: String, operation: APIOperation.Operate, id: String) {
        #expect(Route.match(method, path: path[...]) == .route(Route(.operate(operation), id: id)))
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
        let every: [(APIOperation.Operate, Scope)] = [
            (.listRequests, .read), (.searchRequests, .read), (.listFailures, .read), (.searchFailures, .read),
            (.listDeadLetters, .read),
            (.showStatus, .read), (.showHistory, .read), (.listIncidents, .read), (.listReplays, .read),
            (.listReplays, .replay), (.showReplay, .replay), (.listLeftovers, .read), (.planReplay, .replay),
            (.deletePlan, .replay),
            (.listHolds, .read), (.listHolds, .operate), (.giveHold, .operate), (.releaseHold, .operate),
            (.cancelScope, .operate),
            (.runReplay, .replay), (.stopReplay, .replay),
        ]
        for (operation, scope) in every {
            #expect(throws: Never.self) { try call(operation, scopes: [scope]).checkRights() }
            #expect(throws: APIProblem.forbiddenScope(first(operation))) { try call(operation, scopes: [.publish]).checkRights() }
        }
        #expect(throws: APIProblem.forbiddenScope(.replay)) { try call(.planReplay, scopes: [.read]).checkRights() }
    }

    /// The scope that a 403 names.
    private func first(_ operation: APIOperation.Operate) -> Scope {
        if case .key(let scopes, _) = operation.row.access { scopes[0] } else { .publish }
    }

    @Test(arguments: [APIOperation.Operate.listDeadLetters, .showStatus, .followStatus, .showHistory, .listIncidents])
    func whatIsNotDividedByTenantsIsForKeysWithoutOne(operation: APIOperation.Operate) {
        #expect(throws: APIProblem.notForTenants) { try call(operation, scopes: [.read], tenant: "acme").checkRights() }
    }

    @Test func aQueryIsReadStrictly() throws {
        #expect(try call("/x?limit=3&payload").query() == ["limit": "3", "payload": ""])
        for query in ["limit=1&limit=2", "limt=1"] {
            #expect(throws: APIProblem.self) { try call("/x?\(query)").query() }
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
        #expect(try search(body).query() == ["filter": long, "limit": "20"])
        #expect(try search("").query().isEmpty)
    }

    @Test(arguments: [
        #"{"filter":1}"#, #"{"limit":"2"}"#, #"{"limit":1.5}"#, #"{"filtre":""}"#, #"{"filter":"","filter":""}"#, "[]", "{",
    ])
    func aBodyIsReadStrictly(body: String) {
        #expect(throws: APIProblem.self) { try search(body).query() }
    }

    /// Who goes on by a cursor in the address would get the first page again.
    @Test func aSearchHasNoQuery() {
        #expect(throws: APIProblem.self) { try search("{}", target: "/v1/requests:search?cursor=a").query() }
    }

    @Test func aLinkLongerThanAHeadNamesTheSearch() {
        #expect(
            ResultDesk.link(to: "c", filter: "state:failed", limit: 3)
                == #"</v1/requests?filter=state%3Afailed&limit=3&cursor=c>; rel="next""#)
        let long = String(repeating: ":", count: 3000)
        #expect(ResultDesk.link(to: "c", filter: long, limit: 3) == #"</v1/requests:search>; rel="next""#)
    }

    private func search(_ body: String, target: String = "/v1/requests:search") -> OperatorCall {
        call(.searchRequests, scopes: [.read], method: "POST", target: target, body: body)
    }
}

private func call(_ target: String) -> OperatorCall { call(.listDeadLetters, scopes: [.read], target: target) }
