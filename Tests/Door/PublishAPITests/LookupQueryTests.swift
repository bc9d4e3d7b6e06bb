@testable import PublishAPI
@testable import GatewayAPI
import Basics
import HTTPServing
import PushModel
import TestSupport
import Testing

/// What a lookup asks for.
@Suite struct LookupQueryTests {
    private func query(_ query: String, _ headers: HTTPFields = [:]) throws -> LookupQuery {
        try LookupQuery(
            HTTPServerRequest(method: "GET", target: "/v1/requests/a" + query, headers: headers), of: .showRequest)
    }

    @Test(arguments: [("", 0), ("?wait=0", 0), ("?wait=7", 7), ("?wait=30", 30), ("?wait=", 0)] as [(String, Int)])
    func secondsToWait(text: String, wait: Int) throws {
        let found = try query(text)
        #expect(found.wait == wait && !found.isPreferred && found.place == nil)
    }

    /// And the answer says so.
    @Test(arguments: ["31", "99", "99999999999999999999"]) func aLongerWaitIsCutAndSaid(seconds: String) throws {
        #expect(try query("?wait=\(seconds)").wait == 30 && query("?wait=\(seconds)").isPreferred)
        #expect(try query("", ["Prefer": "wait=\(seconds)"]).wait == 30)
        #expect(throws: APIProblem.self) { try query("?wait=\(seconds)&life=true") }
    }

    @Test(
        arguments: [
            ("?wait=outcome", [:], 30, .outcome, false), ("?wait=outcome&until=outcome", [:], 30, .outcome, false),
            ("?wait=7&until=outcome", [:], 7, .outcome, false), ("?wait=7&until=result", [:], 7, .result, false),
            ("?until=outcome", [:], 0, .outcome, false), ("", ["Prefer": "wait=outcome"], 30, .outcome, true),
            ("", ["Prefer": "wait=5; until=outcome"], 5, .outcome, true),
            ("", ["Prefer": "wait=5;x;Until=\"outcome\", wait=6"], 5, .outcome, true),
            ("", ["Prefer": "wait=5; until=then"], 5, .result, true), ("", ["Prefer": "wait=5, until=outcome"], 5, .result, true),
            ("?until=outcome", ["Prefer": "wait=5"], 5, .outcome, true),
        ] as [(String, HTTPFields, Int, RequestWatch.Goal, Bool)])
    func aWaitHasAGoal(text: String, headers: HTTPFields, wait: Int, goal: RequestWatch.Goal, isPreferred: Bool) throws {
        let found = try query(text, headers)
        #expect(found.wait == wait && found.goal == goal && found.isPreferred == isPreferred)
    }

    @Test(
        arguments: [
            "?wait=outcomes", "?wait=7&until=x", "?wait=outcome&until=result",
            "?wait=-1", "?wait=+1", "?wait=1.5", "?wait=x", "?wait=1&wait=2",
            "?at=t", "?at=t/1", "?at=/1/2", "?at=t/-1/2", "?at=t/1/x", "?at=t/1/2/3", "?at=t/2147483648/0",
            "?at=t/0/9223372036854775808", "?at=t/0/1&time=x", "?time=x",
            "?at=t/0/1&time=-1", "?at=t/0/1&time=9223372036854775808",
        ])
    func whatCannotBeUnderstoodIsRefused(text: String) {
        let problem = #expect(throws: APIProblem.self) { try query(text) }
        #expect(problem?.status == 400)
    }

    @Test func theLargestNumbersArePlacesAndTimes() throws {
        let found = try query("?at=t/2147483647/9223372036854775807&time=9223372036854775807&wait=9223372036854775807")
        let record = StoredPlace(topic: "t", partition: .max, offset: .max)
        #expect(found.place == RequestPlace(record: record, time: .never) && found.wait == 30)
    }

    @Test(
        arguments: [
            ("wait=10", 10), ("respond-async, wait=10", 10), ("Wait = \"5\"; x=y", 5), ("wait=600", 30), ("wait=3, wait=4", 3),
            ("for=\"a, wait=9\"; x=\"; wait=8\", wait=\"1\\0\"", 10), ("wait, wait=3", nil), ("wait=1=2", nil),
            ("wait=x", nil), ("wait", nil), ("waits=3", nil), ("", nil), ("wait=-3", nil),
        ] as [(String, Int?)])
    func aPreferenceIsRespectedOrPassedOver(text: String, wait: Int?) throws {
        let found = try query("", ["Prefer": text])
        #expect(found.wait == wait ?? 0 && found.isPreferred == (wait != nil))
        #expect(try query("?wait=2", ["Prefer": text]).wait == 2, "the query counts")
    }

    @Test func preferencesOfSeveralFieldsAreOneList() throws {
        var headers: HTTPFields = ["Prefer": "respond-async", "X-A": "wait=1"]
        headers.append("prefer", value: "handling=strict, wait=7")
        headers.append("Prefer", value: "wait=8")
        #expect(try query("", headers).wait == 7)
    }

    @Test func aPlaceIsTopicPartitionAndOffsetAndMayHaveATime() throws {
        let record = StoredPlace(topic: "push.requests.v1", partition: 3, offset: 12345)
        #expect(try query("?at=push.requests.v1/3/12345").place == RequestPlace(record: record))
        #expect(try query("?at=push.requests.v1/3/12345&time=17").place == RequestPlace(record: record, time: 17))
        #expect(try query("?at=t%2F0%2F1").place?.record == StoredPlace(topic: "t", partition: 0, offset: 1))
        #expect(try query("?time=17").place == nil)
        // The place and time of a 202 are those of its Location.
        let written = WrittenRequest(id: "a", topic: "t", partition: 3, offset: 5, acceptedAt: 17, expiresAt: nil)
        #expect(written.location == "/v1/requests/a?at=t/3/5&time=17")
    }

    @Test func bodiesHaveTagsOfTheirOwn() {
        #expect(EntityTag.of([]) == "\"cbf29ce484222325\"")
        #expect(EntityTag.of([1]) != EntityTag.of([2]))
        #expect(EntityTag.of([1]).utf8.count == 18)
    }

    @Test(
        arguments: [
            ("GET", "/v1/requests/a%2Fb", .route(Route(.lookup(.showRequest), id: "a/b"))),
            ("HEAD", "/v1/requests/a", .route(Route(.lookup(.showRequest), id: "a"))),
            ("GET", "/v1/requests/t:0:17", .route(Route(.lookup(.showRequest), id: "t:0:17"))),
            ("GET", "/v1/requests/a/events", .route(Route(.lookup(.followRequest), id: "a"))),
            ("POST", "/v1/requests/t:0:17:cancel", .route(Route(.lookup(.cancelRequest), id: "t:0:17"))),
            ("GET", "/v1/requests/a%3Acancel", .route(Route(.lookup(.showRequest), id: "a:cancel"))),
            ("GET", "/v1/requests/a:cancel", .otherMethods(["POST"])),
            ("GET", "/v1/requests/~..", .route(Route(.lookup(.showRequest), id: ".."))),
            ("GET", "/v1/requests/~./events", .route(Route(.lookup(.followRequest), id: "."))),
            ("POST", "/v1/requests/~..:cancel", .route(Route(.lookup(.cancelRequest), id: ".."))),
            ("GET", "/v1/requests/..", .route(Route(.lookup(.showRequest), id: ".."))),
            ("GET", "/v1/requests/~", .route(Route(.lookup(.showRequest), id: "~"))),
            ("HEAD", "/v1/requests/a/events", .route(Route(.lookup(.followRequest), id: "a"))),
            ("HEAD", "/v1/requests/a:cancel", .otherMethods(["POST"])),
            ("DELETE", "/v1/requests/a", .otherMethods(["GET", "HEAD"])),
            ("POST", "/v1/requests/:cancel", .nowhere), ("GET", "/v1/requests/", .nowhere),
            ("GET", "/v1/requests/a/calls", .nowhere),
            ("GET", "/v1/requests/a/events/", .nowhere), ("GET", "/v2/requests/a", .nowhere),
        ] as [(String, String, Route.Match)])
    func pathsLeadToOneRequest(method: String, path: String, match: Route.Match) {
        #expect(Route.match(method, path: path[...]) == match)
    }

    /// By clients, too, that drop `.` and `..` from paths before or after decoding them.
    @Test(arguments: [
        "order-1", "order-1:cancel", "a:b", ".", "..", "...", "..:cancel", "~", "~..", "~~a", "a/b", "../..", "100%", "%2E",
        "a?b#c",
        "ä ö\u{1F600}", "\u{0}\n", "+",
    ])
    func anyIDComesBackFromItsPath(id: String) {
        let path = RequestLocation.of(id)
        let segments = path.split(separator: "/").map { PercentEncoding.decoded(String($0)) }
        #expect(segments.count == 3 && !segments.contains(".") && !segments.contains(".."))
        #expect(Route.match("GET", path: path[...]) == .route(Route(.lookup(.showRequest), id: id)))
        #expect(Route.match("GET", path: (path + "/events")[...]) == .route(Route(.lookup(.followRequest), id: id)))
        #expect(Route.match("POST", path: (path + ":cancel")[...]) == .route(Route(.lookup(.cancelRequest), id: id)))
    }
}
