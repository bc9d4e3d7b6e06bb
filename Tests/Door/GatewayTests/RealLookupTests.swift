import Testing
import TestSupport
import HubEmulator

/// What any gateway says of a request at any time, by processes on a real broker.
@Suite(.needsKafka, .serialized)
struct RealLookupTests {
    private static func good(_ id: String, members: String = "") -> String {
        #"{"id":"\#(id)","hub":"demo","audience":{"users":["bob"]},"message":{"title":"Hi"}\#(members)}"#
    }

    private static let content = #"{"hub":"demo","audience":{"users":["bob"]},"message":{"title":"Hi"}}"#

    /// The place of a request's record, as `at` has it.
    private func place(_ json: [String: Any]) throws -> String {
        let topic = try #require(json["topic"] as? String)
        let partition = try #require(json["partition"] as? Int)
        let offset = try #require(json["offset"] as? String)
        return "\(topic)/\(partition)/\(offset)"
    }

    /// The gateway that published is killed. One that starts then and one that ran beside it say the same, however they are asked.
    @Test(arguments: [true, false]) func aLookupIsFinalAfterAKillAndAtEveryGateway(hasState: Bool) throws {
        let house = try House(hasState: hasState)
        defer { house.stage.stop() }
        let beside = try house.startGateway()
        let published = try house.post("/v1/requests", Self.good("r-1"), ["Prefer: wait=30"])
        #expect(published.status == 200 && published.json["state"] as? String == "sent", "\(published.body)")
        let at = try place(published.json)
        house.gateway.kill()
        for gateway in [beside, try house.startGateway()] {
            for query in ["?at=\(at)&wait=30", "?at=\(at)", "", "?wait=30"] {
                let shown = try house.get("/v1/requests/r-1" + query, at: gateway)
                #expect(shown["state"] as? String == "sent" && shown["result"] != nil, "\(query): \(shown)")
            }
            let events = try house.events("/v1/requests/r-1/events?at=\(at)", at: gateway)
            #expect(events.contains("id: sent\n") && events.hasSuffix("event: end\nid: end\ndata: {}\n\n"), "\(events)")
        }
        // One that was asked for nothing else yet.
        let last = try house.startGateway()
        #expect(try house.events("/v1/requests/r-1/events", at: last).contains("id: sent\n"))
    }

    @Test func aRequestThatWaitsIsPublishedAtEveryGatewayAndItsResultEndsTheWait() throws {
        let house = try House(hasState: false)
        defer { house.stage.stop() }
        try house.stage.stopWorker()
        let published = try house.post("/v1/requests", Self.good("r-1"))
        let at = try place(published.json)
        let beside = try house.startGateway()
        for query in ["?at=\(at)", "?at=\(at)&wait=1"] {
            #expect(try house.get("/v1/requests/r-1" + query, at: beside)["state"] as? String == "published")
        }
        try house.stage.startWorker()
        let events = try house.events("/v1/requests/r-1/events?at=\(at)", at: beside)
        #expect(events.contains("id: sent\n") && events.contains("event: end\n"), "\(events)")
    }

    /// At the gateway that published, at one that ran beside it, and at one that starts when that was killed.
    @Test func aFollowedRequestHasItsOutcomeAtEveryGateway() throws {
        let house = try House(hasState: true)
        defer { house.stage.stop() }
        let content = String(Self.content.dropLast()) + #","options":{"track_outcome":true}}"#
        let fields = ["Idempotency-Key: order-1", "Prefer: wait=30; until=outcome"]
        let first = try house.post("/v1/requests", content, fields)
        let id = try #require(first.json["id"] as? String)
        let outcome = try #require(first.json["outcome_state"] as? String)
        #expect(first.status == 200 && outcome != "awaited", "\(first.body)")
        let at = try place(first.json)
        let beside = try house.startGateway()
        house.gateway.kill()
        for gateway in [beside, try house.startGateway()] {
            for query in ["?at=\(at)&wait=outcome", "?wait=outcome", "?life=true"] {
                let shown = try house.get("/v1/requests/\(id)" + query, at: gateway)
                #expect(
                    shown["outcome_state"] as? String == outcome && shown["state"] as? String == first.json["state"] as? String)
            }
            let again = try house.post("/v1/requests", content, fields, at: gateway)
            #expect(again.status == 200 && again.json["outcome_state"] as? String == outcome, "\(again.body)")
        }
    }

    @Test(arguments: [true, false]) func aRepetitionShowsTheFateOfTheFirst(hasState: Bool) throws {
        let house = try House(hasState: hasState)
        defer { house.stage.stop() }
        house.stage.hub.arm([try Fault(parsing: "status=400")])
        let fields = ["Idempotency-Key: order-1", "Prefer: wait=30"]
        let first = try house.post("/v1/requests", Self.content, fields)
        let id = try #require(first.json["id"] as? String)
        #expect(first.status == 200 && first.json["state"] as? String == "failed", "\(first.body)")
        // At the same gateway it waits as the first call did.
        let again = try house.post("/v1/requests", Self.content, fields)
        #expect(again.status == 200 && again.json["state"] as? String == "failed", "\(again.body)")
        let other = try house.startGateway()
        let repeated = try house.post("/v1/requests", Self.content, fields, at: other)
        #expect(repeated.status == 200 && repeated.json["state"] as? String == "failed", "\(repeated.body)")
        #expect(repeated.json["id"] as? String == id && repeated.json["repeated"] as? Bool == true, "\(repeated.body)")
        // The first record alone was sent, so it is the one that is shown.
        #expect(try place(repeated.json) == (try place(first.json)) && first.json["repeated"] == nil)
        #expect(repeated.json["accepted_at"] as? String == first.json["accepted_at"] as? String)
        for gateway in [house.gateway, other] {
            for query in ["", "?wait=10", "?life=true"] {
                let shown = try house.get("/v1/requests/\(id)" + query, at: gateway)
                #expect(shown["state"] as? String == "failed", "\(shown)")
            }
            #expect(try house.events("/v1/requests/\(id)/events", at: gateway).contains("id: failed\n"))
            let isListed = try eventually {
                let items = try house.get("/v1/requests?filter=request:\(id)", at: gateway)["items"] as? [[String: Any]]
                return items?.compactMap { $0["state"] as? String } == ["failed"]
            }
            #expect(isListed)
            let repetitions = try eventually {
                let items = try house.get("/v1/requests?filter=request:\(id)%20state:duplicate", at: gateway)["items"]
                return (items as? [Any])?.count == 1
            }
            #expect(repetitions)
        }
    }
}
