import EventLoop
import Foundation
import HubEmulator
import Keys
import PushModel
import TestSupport
import Testing

/// Finding, repairing and watching over HTTP, by processes on a real broker.
@Suite(.needsKafka, .serialized)
struct RealOperatorTests {
    @Test func whatFailedIsFoundPlannedAndRunAsACommandDoesIt() throws {
        let house = try House()
        defer { house.stage.stop() }
        for number in 1...5 { try house.publish(Self.good(number)) }
        for number in 1...3 { try house.stage.write(Self.bad(number), key: "k") }
        try house.waitForResults(8)

        let found = try house.get("/v1/requests?filter=state:rejected&limit=2")
        #expect(house.ids(found).count == 2 && house.member("searched", found)?["by"] as? String == "index")
        let cursor = try #require(found["next"] as? String)
        let rest = try house.get("/v1/requests?filter=state:rejected&limit=2&cursor=\(cursor)")
        #expect((house.ids(found) + house.ids(rest)).sorted() == ["bad-1", "bad-2", "bad-3"])
        #expect(rest["next"] == nil)
        let listed = try house.stage.run(["results", "list", "state:rejected", "--newest", "first", "-o", "ndjson"])
        for id in ["bad-1", "bad-2", "bad-3"] { #expect(listed.said.contains("\"request_id\":\"\(id)\"")) }
        #expect(try house.status("/v1/requests?filter=state:sent&cursor=\(cursor)") == 400)

        // A filter longer than a head goes on by the same cursor.
        let long = "state:rejected request:" + [Int](0...1000).map { "bad-\($0)" }.joined(separator: ",")
        let searched = try house.post("/v1/requests:search", #"{"filter":"\#(long)","limit":2}"#)
        #expect(searched.status == 200 && house.ids(searched.json) == house.ids(found), "\(searched.body)")
        let further = try #require(searched.json["next"] as? String)
        let others = try house.post("/v1/requests:search", #"{"filter":"\#(long)","limit":2,"cursor":"\#(further)"}"#)
        #expect(house.ids(others.json) == house.ids(rest), "\(others.body)")
        #expect(try house.post("/v1/failures:search", #"{"filter":"\#(long)"}"#).json["open"] as? Int == 3)

        let failures = try house.get("/v1/failures")
        let group = try #require((failures["items"] as? [[String: Any]])?.first)
        #expect(group["code"] as? String == "unknown_hub" && group["open"] as? Int == 3 && group["remedy"] is String)

        // Without the edit nothing could help them.
        let plan = try house.post("/v1/replays", #"{"filter":"error:unknown_hub","reason":"wrong hub","set":["hub=demo"]}"#)
        #expect(plan.status == 201, "\(plan.body)")
        let id = try #require(plan.json["id"] as? String)
        #expect(plan.json["requests"] as? Int == 3 && house.member("eligible", plan.json)?["safe"] as? Int == 3)
        #expect((plan.json["samples"] as? [Any])?.count == 3 && plan.json["seconds"] is Int)
        try house.stage.write(Self.bad(4), key: "k")
        #expect(try house.post("/v1/replays/\(id):run", "").status == 428)
        #expect(try house.post("/v1/replays/\(id):run", "", ["If-Match: \"x\""]).status == 412)
        #expect(try house.post("/v1/replays/\(id):run", "", ["If-Match: W/\(plan.tag)"]).status == 412)
        #expect(try house.post("/v1/replays/\(id):run", "", ["If-Match: *"]).status == 428)
        let run = try house.post(
            "/v1/replays/\(id):run", #"{"rate":1000}"#, ["If-Match: \"x\"", "If-Match: \"y, z\", \(plan.tag)"])
        #expect(run.status == 202, "\(run.body)")
        #expect(try eventually { try house.get("/v1/replays/\(id)?results=true")["state"] as? String == "done" })
        #expect(try eventually { house.member("results", try house.get("/v1/replays/\(id)?results=true"))?["sent"] as? Int == 3 })
        #expect(house.ids(try house.get("/v1/replays/\(id)/leftovers")).isEmpty)
        #expect(try house.post("/v1/replays/\(id):run", "", ["If-Match: \(plan.tag)"]).status == 409)
        #expect(try house.delete("/v1/replays/\(id)") == 409)
        let other = try house.post("/v1/replays", #"{"filter":"error:unknown_hub","reason":"never run"}"#)
        let unused = try #require(other.json["id"] as? String)
        #expect(try house.delete("/v1/replays/\(unused)") == 204 && house.status("/v1/replays/\(unused)") == 404)
        #expect(try house.delete("/v1/replays/\(unused)") == 404)
        let listing = try house.stage.run(["replay", "list", "-o", "json"])
        #expect(listing.said.contains(id) && listing.said.contains("shop (key "))

        // What failed after the plan was made was not replayed.
        let open = try house.get("/v1/failures")
        #expect(open["open"] as? Int == 1 && open["repaired"] as? Int == 3)
        let life = try house.get("/v1/requests/bad-1?life=true")
        #expect(life["state"] as? String == "rejected")
        #expect((house.member("life", life)?["replays"] as? [[String: Any]])?.first?["state"] as? String == "sent")
        #expect(house.member("request", try house.get("/v1/requests/bad-1?payload=true"))?["hub"] as? String == "nowhere")
    }

    @Test func aDeadLetterIsMendedAndPublishedAgain() throws {
        let house = try House()
        defer { house.stage.stop() }
        try house.stage.write(#"{"id":"torn","hub":"demo","#, key: "k")
        #expect(try eventually { (try house.get("/v1/deadletters")["items"] as? [Any])?.count == 1 })
        let letter = try #require((try house.get("/v1/deadletters?payload=true")["items"] as? [[String: Any]])?.first)
        let place = try #require(letter["id"] as? String)
        #expect(letter["value"] as? String == #"{"id":"torn","hub":"demo","#)
        let one = try house.get("/v1/deadletters?payload=true&id=\(place)")["items"] as? [[String: Any]]
        #expect(one?.count == 1 && one?.first?["value"] as? String == letter["value"] as? String)
        let other = place.replacing(":0@", with: ":1@")
        #expect((try house.get("/v1/deadletters?id=\(other)")["items"] as? [Any])?.isEmpty == true)
        let body =
            #"{"source":"deadletter","places":["\#(place)"],"reason":"mended","value":{"id":"torn","hub":"demo","audience":{"users":["bob"]},"message":{"title":"Hi"}}}"#
        let plan = try house.post("/v1/replays", body)
        #expect(plan.status == 201 && plan.json["requests"] as? Int == 1, "\(plan.body)")
        let id = try #require(plan.json["id"] as? String)
        #expect(try house.post("/v1/replays/\(id):run", "", ["If-Match: \(plan.tag)"]).status == 202)
        #expect(try eventually { try house.get("/v1/requests/torn")["state"] as? String == "sent" })
        #expect(house.member("life", try house.get("/v1/requests/torn?life=true")) != nil)
    }

    @Test func aRunOfAKilledGatewayIsTakenOverByTheCommandAndOneOfTheCommandByAGateway() throws {
        let house = try House()
        defer { house.stage.stop() }
        for number in 1...30 { try house.stage.write(Self.bad(number), key: "k") }
        try house.waitForResults(30)
        let plan = try house.post("/v1/replays", #"{"filter":"error:unknown_hub","reason":"wrong hub","set":["hub=demo"]}"#)
        let id = try #require(plan.json["id"] as? String)
        #expect(try house.post("/v1/replays/\(id):run", #"{"rate":5}"#, ["If-Match: \(plan.tag)"]).status == 202)
        #expect(try eventually { (try house.get("/v1/replays/\(id)")["next"] as? Int ?? 0) > 0 })
        house.gateway.kill()
        let command = try house.stage.run(["replay", "run", house.folder.path("state/replay-\(id).ndjson"), "--rate", "1000"])
        #expect(command.status == 0, "\(command.said)")

        // The other way round: a plan of the command is put into the folder of another gateway.
        let file = house.folder.path("state/replay-0a1b2c3d.ndjson")
        _ = try house.stage.run(["replay", "plan", "error:unknown_hub", "--reason", "again", "--set", "hub=demo", "--file", file])
        let other = try house.startGateway()
        let listed = try house.get("/v1/replays", at: other)
        #expect(
            (listed["items"] as? [[String: Any]])?.contains { $0["id"] as? String == id && $0["state"] as? String == "done" }
                == true)
        #expect(try house.get("/v1/replays/\(id)", at: other)["next"] as? Int == 30)
    }

    @Test func workersReportThemselvesAndTheHourSurvivesARestart() throws {
        let house = try House()
        defer { house.stage.stop() }
        for number in 1...4 { try house.publish(Self.good(number)) }
        try house.waitForResults(4)
        #expect(try eventually { (try house.get("/v1/status")["workers"] as? [Any])?.count == 1 })
        let status = try house.stage.run(["status", "-o", "json"])
        #expect(status.said.contains("\"workers\":[{"), "\(status.said)")
        #expect(try house.get("/v1/history?minutes=60")["items"] is [Any])
        try house.stage.stopWorker()
        #expect(try eventually { (try house.get("/v1/status")["workers"] as? [Any])?.isEmpty ?? true })
    }

    @Test func aGatewayWithoutStateSearchesTheTopicAndPlansNothing() throws {
        let house = try House(hasState: false)
        defer { house.stage.stop() }
        for number in 1...3 { try house.publish(Self.good(number)) }
        try house.waitForResults(3)
        let page = try house.get("/v1/requests?limit=2&filter=state:sent")
        let searched = house.member("searched", page)
        #expect(house.ids(page).count == 2 && searched?["by"] as? String == "scan" && searched?["complete"] as? Bool == true)
        #expect(try house.post("/v1/replays", #"{"filter":"state:failed","reason":"x"}"#).status == 501)
        #expect(try house.get("/v1/requests/good-1?life=true")["state"] as? String == "sent")
    }

    private static func good(_ number: Int) -> String {
        #"{"id":"good-\#(number)","hub":"demo","audience":{"users":["bob"]},"message":{"title":"Hi"}}"#
    }

    private static func bad(_ number: Int) -> String {
        #"{"id":"bad-\#(number)","hub":"nowhere","audience":{"users":["bob"]},"message":{"title":"Hi"}}"#
    }
}

/// A worker, a gateway with a key that may do everything, and a folder for its state.
final class House {
    let stage: RealStage
    let folder: TemporaryFolder
    let gateway: RealGateway
    private let key: String
    private let environment: [String: String]

    init(hasState: Bool = true) throws {
        folder = try TemporaryFolder()
        stage = try RealStage()
        var terms = KeyTerms(Set(Scope.allCases))
        terms.source = "shop"
        let new = try NewKey(terms, at: Int64(Date().timeIntervalSince1970))
        key = new.text
        let keys = folder.path("keys")
        try KeysStore(keys).change { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        environment =
            ["PUSHFAN_GATEWAY_KEYS_FILE": keys].merging(hasState ? ["PUSHFAN_GATEWAY_STATE_DIR": folder.path("state")] : [:]) {
                $1
            }
        try stage.register("bob")
        _ = try stage.startProbedWorker()
        gateway = try stage.startGateway(with: environment)
        guard hasState else { return }
        let isCurrent = try eventually { member("index", try get("/v1/status"))?["state"] as? String == "current" }
        #expect(isCurrent)
    }

    func startGateway() throws -> RealGateway { try stage.startGateway(with: environment) }

    func publish(_ body: String) throws { #expect(try post("/v1/requests", body).status == 202) }

    func waitForResults(_ count: Int) throws {
        #expect(try eventually { ids(try get("/v1/requests?filter=kind:final&limit=500")).count >= count })
    }

    func get(_ target: String, at other: RealGateway? = nil) throws -> [String: Any] {
        let answer = try AppSession(port: (other ?? gateway).port).call("GET", target, ["Authorization: Bearer \(key)"])
        return (try? JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]) ?? [:]
    }

    func status(_ target: String) throws -> Int {
        try AppSession(port: gateway.port).call("GET", target, ["Authorization: Bearer \(key)"]).status
    }

    func delete(_ target: String) throws -> Int {
        try AppSession(port: gateway.port).call("DELETE", target, ["Authorization: Bearer \(key)"]).status
    }

    /// What a stream of events brings until its end.
    func events(_ target: String, at other: RealGateway) throws -> String {
        let client = try RawClient(port: other.port)
        client.send(request("GET", target, ["Authorization: Bearer \(key)"]))
        _ = client.answer()
        return String(decoding: client.chunks().bytes, as: UTF8.self)
    }

    func post(
        _ target: String, _ body: String, _ fields: [String] = [], at other: RealGateway? = nil
    ) throws -> (status: Int, body: String, json: [String: Any], tag: String) {
        let answer = try AppSession(port: (other ?? gateway).port).call(
            "POST", target, ["Authorization: Bearer \(key)", "Content-Type: application/json"] + fields, body)
        let json = (try? JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]) ?? [:]
        let tag = answer.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }.map { String($0.dropFirst(6)) } ?? ""
        return (answer.status, answer.body, json, tag)
    }

    func ids(_ json: [String: Any]) -> [String] { (json["items"] as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? [] }

    func member(_ name: String, _ json: [String: Any]) -> [String: Any]? { json[name] as? [String: Any] }
}
