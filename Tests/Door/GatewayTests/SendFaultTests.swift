import GatewayAPI
import HubEmulator
import TestSupport
import Testing

/// Sends that fail, last or must not reach somebody: what the caller is told, and what rings.
@Suite(.tags(.threads)) struct SendFaultTests {
    private static let fields = ["Content-Type: application/json"]

    private static func target(_ user: String) -> String { "/api/notifications?pns=apns&to_tag=\(user)" }

    /// The hub of the other stage, because a worker waits for one that refuses its key or throttles.
    @Test func whatTheHubRefusesIsAFailureThatTheCallerSees() throws {
        let stage = try AppStage.other.get()
        let session = AppSession(port: stage.port)
        let table: [(fault: String?, status: Int, says: String)] = [
            ("status=401", 500, #""code":"hub_unauthorized""#), (nil, 200, #""state":"sent""#),
            ("status=403", 500, #""code":"hub_forbidden""#), (nil, 200, #""state":"sent""#),
            ("status=429", 500, #""code":"hub_throttled""#), (nil, 200, #""state":"sent""#),
        ]
        for row in table {
            let user = stage.word("bob")
            let phone = try stage.phone(of: user)
            if let fault = row.fault {
                stage.hub.arm([try Fault(parsing: "\(fault),tags=username:\(user)")], replacing: false)
            }
            let answer = try session.call("POST", Self.target(user), [basic(user, user)] + Self.fields, #""Hi""#)
            #expect(answer.status == row.status && answer.body.contains(row.says), "\(row): \(answer.body)")
            #expect(stage.rungCount(phone.handle) == (row.fault == nil ? 1 : 0), "\(row)")
        }
    }

    @Test func aSendThatLastsIs504AndRingsAllTheSame() throws {
        let stage = try AppStage.shared.get()
        let gateway = try stage.startGateway { $0.sendWait = .zero }
        defer { gateway.stop() }
        let user = stage.word("bob")
        let phone = try stage.phone(of: user)
        // No result before the caller is answered.
        stage.hub.arm([try Fault(parsing: "delay=3s,tags=username:\(user)")], replacing: false)
        let answer = try AppSession(port: gateway.port).call(
            "POST", Self.target(user), [basic(user, user)] + Self.fields, #""Hi""#)
        #expect(answer.status == 504 && answer.body.contains(#""retry":"ambiguous""#), "\(answer.body)")
        #expect(eventually { stage.rung(phone.handle).map(\.alert) == ["From \(user): Hi"] })
    }

    /// The tutorials' back end sent to an array of two tags, which is OR at the hub.
    @Test func whoeverHasATagOfTheSenderDoesNotRing() throws {
        let stage = try AppStage.shared.get()
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let (sender, phone) = (try stage.phone(of: alice), try stage.phone(of: bob))
        let listener = IOSApp(stage.port, token: stage.token()).handle
        try stage.hub.register(
            EmulatedDevice(id: stage.word("listener"), platform: "apns", handle: listener, tags: ["from:\(alice)"]))
        #expect(try sender.send("Hi", to: bob, on: ["apns"]) == [200])
        #expect([phone.handle, sender.handle, listener].map { stage.rungCount($0) } == [1, 0, 0])
    }

    /// Two threads serve, so with a hundred that wait none of them can be a thread's.
    @Test func sendsThatWaitHoldNobodyUp() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let clients = try (0..<100).map { _ in try gateway.begin("POST", Self.target("bob"), as: "alice", body: #""Hi""#) }
        let ids = try clients.map { _ in try worker.next().id }
        #expect(eventually { gateway.services.metrics.contains("pushfan_gateway_waiting_sends 100\n") })
        #expect(try gateway.ask("GET", "/", as: "alice").status == 200)
        #expect(try gateway.ask("POST", "/api/register?handle=ab", as: "alice").status == 200)
        let body = #"{"Platform":"apns","Handle":"ab"}"#
        #expect(try gateway.ask("PUT", "/api/register/a", as: "alice", body: body).status == 200)
        for id in ids { try worker.write(#""kind":"final","state":"sent","targets":{"accepted":1}"#, of: id) }
        #expect(clients.allSatisfy { $0.answer().status == 200 })
    }
}
