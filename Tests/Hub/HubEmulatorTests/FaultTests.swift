import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

struct FaultTests {
    @Test(arguments: [
        ("", FaultError.empty), ("boom", .unknownField("boom")),
        ("status=99", .badValue(field: "status", value: "99", expected: "200 to 599")),
        ("status=500,status=400", .repeatedField("status")), ("status=500,truncate", .conflictingEffects("status", "truncate")),
        ("tags=a", .noEffect), ("retry-after=2,reset=before", .needsStatus("retry-after")),
        ("reset=now", .badValue(field: "reset", value: "now", expected: "before or after")),
        ("delay=5", .badValue(field: "delay", value: "5", expected: "a duration such as 200ms, 10s or 2m, at most a day")),
        (
            "delay=99999999999999999999s",
            .badValue(
                field: "delay", value: "99999999999999999999s", expected: "a duration such as 200ms, 10s or 2m, at most a day")
        ),
        ("drip=5", .badValue(field: "drip", value: "5", expected: "bytes and interval, such as 1/50ms")),
        ("status=500,every=0", .badValue(field: "every", value: "0", expected: "1 to 1000000000")),
        ("truncate=yes", .badValue(field: "truncate", value: "yes", expected: "no value")),
        ("hang,chance=0", .badValue(field: "chance", value: "0", expected: "a share such as 0.05, over 0 and at most 1")),
        ("hang,chance=2", .badValue(field: "chance", value: "2", expected: "a share such as 0.05, over 0 and at most 1")),
        ("hang,chance=nan", .badValue(field: "chance", value: "nan", expected: "a share such as 0.05, over 0 and at most 1")),
        ("hang,chance=0.5,seed=-1", .badValue(field: "seed", value: "-1", expected: "a whole number")),
        ("hang,seed=1", .needsChance),
        ("status=500,body=x", .badValue(field: "body", value: "x", expected: "error, empty, html or json")),
    ])
    func aFaultyFaultIsNamed(_ text: String, _ expected: FaultError) {
        #expect(throws: expected) { try Fault(parsing: text) }
        #expect(!expected.description.isEmpty)
    }

    @Test(arguments: [
        ("status=429,retry-after=2,count=3", "1:429 2:429 3:429 4:201 5:201 6:201"),
        ("status=500,every=3", "1:201 2:201 3:500 4:201 5:201 6:500"),
        ("status=503,after=2,count=1", "1:201 2:201 3:503 4:201 5:201 6:201"),
        ("status=500,tags=username:bob", "1:500 2:201 3:500 4:201 5:500 6:201"),
        ("status=500,tags=other", "1:201 2:500 3:201 4:500 5:201 6:500"),
        ("status=500,format=gcm", "1:201 2:201 3:201 4:201 5:201 6:201"),
        ("status=500,method=post,path=Messages,count=1", "1:500 2:201 3:201 4:201 5:201 6:201"),
    ])
    func faultsStrikeTheCallsTheyAreFor(_ text: String, _ expected: String) throws {
        let hub = try TestHub()
        hub.hub.arm([try Fault(parsing: text)])
        var seen: [String] = []
        for ordinal in 1...6 {
            let tags = ordinal % 2 == 1 ? "World && username:bob" : "Sports || other"
            seen.append("\(ordinal):\(try hub.send("apple", to: tags).status)")
        }
        #expect(seen.joined(separator: " ") == expected)
        let accepted = hub.hub.calls().map(\.isAccepted)
        #expect(accepted == seen.map { $0.hasSuffix(":201") })
    }

    @Test(arguments: [1, 7]) func aFaultByChanceMeetsItsShareAndTheSameCallsAgain(_ seed: Int) throws {
        func statuses(_ seed: Int) throws -> [Int] {
            let hub = try TestHub()
            // A quarter of the four fifths that the first one leaves: a fifth of all.
            hub.hub.arm([
                try Fault(parsing: "status=500,chance=0.2,seed=\(seed)"),
                try Fault(parsing: "status=503,chance=0.25,seed=\(seed)"),
            ])
            return try (1...1000).map { _ in try hub.send("apple").status }
        }
        let first = try statuses(seed)
        for status in [500, 503] { #expect((150...250).contains(first.count { $0 == status }), "\(status)") }
        #expect(try statuses(seed) == first)
        #expect(try statuses(seed + 1) != first)
    }

    @Test func madeAnswersLookLikeTheHubs() throws {
        let hub = try TestHub()
        hub.hub.arm([
            try Fault(parsing: "status=503,retry-after-date=90,body=html,count=1"),
            try Fault(parsing: "status=500,body=empty,count=1"),
            try Fault(parsing: "throttle,count=2"), try Fault(parsing: "status=403,count=1"),
        ])
        let html = try hub.send("apple")
        #expect(
            html.status == 503 && html.headers["Retry-After"] == "Thu, 01 Jan 2026 00:01:30 GMT" && html.text.contains("<html>"))
        #expect(try hub.send("apple").body.isEmpty)
        let throttled = try hub.send("apple", query: "?api-version=2020-06")
        #expect(throttled.status == 429 && throttled.headers["Retry-After"] == "10")
        #expect(try hub.send("apple", query: "?api-version=2015-01").status == 403)
        #expect(try hub.send("apple").headers["Retry-After"] == nil)
        #expect(hub.hub.rungCount == 0)
        #expect(hub.hub.calls().map { $0.fault != nil } == [true, true, true, true, true])
    }

    @Test(arguments: [
        ("reset=before", HTTPServerResponse.Delivery.reset, false), ("reset=after", .reset, true), ("hang", .hang, false),
        ("hang=after", .hang, true), ("truncate", .truncated(keeping: 0), true),
        ("drip=1/5ms", .dripped(byteCount: 1, every: .milliseconds(5)), true),
    ])
    func lostAnswersSayWhetherTheHubDidItsWork(_ text: String, _ delivery: HTTPServerResponse.Delivery, _ isAccepted: Bool) throws
    {
        let hub = try TestHub()
        try hub.register("d", "apns")
        hub.hub.arm([try Fault(parsing: text)])
        #expect(try hub.send("apple").delivery == delivery)
        #expect(hub.hub.rungCount == (isAccepted ? 1 : 0))
        let call = try #require(hub.hub.calls().last)
        #expect(call.isAccepted == isAccepted && call.fault == text)
        #expect((call.notificationID != nil) == isAccepted)
        let isLost = delivery == .reset || delivery == .hang
        #expect(call.status == (isLost ? 0 : 201))
    }

    @Test func anOutageEndsWithItsTime() throws {
        let hub = try TestHub()
        hub.hub.arm([try Fault(parsing: "outage=10s,after=1"), try Fault(parsing: "delay=200ms")])
        let first = try hub.send("apple")
        #expect(first.status == 201 && first.delay == .milliseconds(200))
        #expect(try hub.send("apple").delivery == .reset)
        hub.advance(seconds: 9)
        #expect(try hub.call("GET", "registrations").delivery == .reset)
        hub.advance(seconds: 1)
        #expect(try hub.send("apple").status == 201)
        hub.hub.arm([try Fault(parsing: "outage=1s,status=503")])
        #expect(try hub.send("apple").status == 503)
    }

    @Test func connectionsCloseAfterSoManyAnswers() throws {
        let hub = try TestHub()
        hub.hub.arm([try Fault(parsing: "close-after=3")])
        let closed = try (1...6).map { ordinal in
            hub.hub.handle(
                HTTPServerRequest(
                    method: "GET", target: "/newshub/registrations?api-version=2020-06",
                    headers: ["Authorization": try hub.token()],
                    ordinalOnConnection: ordinal)
            ).closesConnection
        }
        #expect(closed == [false, false, true, false, false, true])
    }

    @Test func faultsAreScriptedAtRunTime() throws {
        let hub = try TestHub()
        func admin(_ method: String, _ body: String = "") -> HTTPServerResponse {
            hub.hub.handle(HTTPServerRequest(method: method, target: "/faults", body: Array(body.utf8)))
        }
        #expect(admin("PUT", "status=500,count=1\n\n status=503 \n").status == 200)
        #expect(try hub.send("apple").status == 500)
        #expect(
            admin("GET").text.contains(
                #"{"fault":"status=500,count=1","met":1,"struck":1},{"fault":"status=503","met":0,"struck":0}"#))
        #expect(admin("POST", #"["delay=1s"]"#).text.contains("delay=1s"))
        #expect(admin("PUT", "status=1").status == 400)
        #expect(admin("PUT", #"["#).status == 400)
        #expect(try hub.send("apple").status == 503)
        #expect(admin("DELETE").status == 204)
        #expect(try hub.send("apple").status == 201)
        #expect(admin("PATCH").status == 405)
    }
}
