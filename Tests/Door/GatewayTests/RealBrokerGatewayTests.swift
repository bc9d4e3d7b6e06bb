import Glibc
import HubEmulator
import TestSupport
import Testing

/// What needs a broker outside the process: several gateways, and the death of gateways and workers while sends wait. Each is a process
/// of its own, so that it can be killed.
@Suite(.needsKafka, .serialized)
struct RealBrokerGatewayTests {
    private static let token = [UInt8](0..<32)

    @Test func whoIsRegisteredAtOneGatewayIsReachedAndReadsSecretsAtAnother() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let (one, other) = (try stage.startGateway(), try stage.startGateway())
        try stage.startWorker()
        let phone = IOSApp(one.port, token: Self.token)
        try phone.logIn("bob", "bob")
        let android = AndroidApp(one.port, handle: "f:APA91b_-")
        try android.logIn("bob", "bob")
        // Both read all results, and each answers its own.
        let clients = [try one.begin("one", to: "bob"), try other.begin("other", to: "bob")]
        #expect(clients.map { $0.answer().status } == [200, 200])
        #expect(stage.alerts(of: "bob") == ["From sender: one", "From sender: other"])
        let installedAgain = IOSApp(other.port, token: Self.token)
        try installedAgain.logIn("bob", "bob")
        #expect(installedAgain.registrationID == phone.registrationID)
        #expect(stage.hub.devices(handle: phone.handle).map(\.registrationCount) == [1])

        let sent = try AppSession(port: one.port).call(
            "POST", "/api/notifications?secure=true&to_tag=bob", [basic("sender", "sender"), "Content-Type: application/json"],
            #""Lunch?""#)
        #expect(sent.status == 200, "\(sent.body)")
        let id = try #require(stage.hub.devices(handle: android.handle).first?.rung.first?.data("secureId"))
        try expectText(id, at: other)
        one.kill()
        other.kill()
        try expectText(id, at: try stage.startGateway())
    }

    /// Expects that Bob can read the text at a gateway, and that its sender cannot.
    private func expectText(_ id: String, at gateway: RealGateway) throws {
        let session = AppSession(port: gateway.port)
        let answer = try session.call("GET", "/api/notifications/\(id)", [basic("bob", "bob")])
        #expect(answer.status == 200 && answer.body == #"{"Payload":"From sender: Lunch?"}"#)
        #expect(try session.call("GET", "/api/notifications/\(id)", [basic("sender", "sender")]).status == 404)
    }

    @Test func whatAKilledGatewayHasWrittenRingsOnceAndTheNextGatewayAnswers() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let first = try stage.startGateway()
        let phone = IOSApp(first.port, token: Self.token)
        try phone.logIn("bob", "bob")
        let users = (0..<50).map { "user\($0)" }
        for user in users { try stage.register(user) }
        let clients = try users.map { try first.begin("before", to: $0) }
        try first.waitUntilWritten(users.count)
        #expect(try first.metric("pushfan_gateway_waiting_sends") == users.count)
        first.kill()
        // Nobody is told anything, and nobody waits any longer.
        for client in clients {
            #expect(client.rest().isEmpty)
            #expect(client.ending == 0 || client.ending == ECONNRESET)
        }

        let second = try stage.startGateway()
        let installedAgain = IOSApp(second.port, token: Self.token)
        try installedAgain.logIn("bob", "bob")
        #expect(installedAgain.registrationID == phone.registrationID)
        try stage.startWorker()
        #expect(try installedAgain.send("after", to: "bob", on: ["apns"]) == [200])
        #expect(stage.alerts(of: "bob") == ["From bob: after"])
        let haveRung = eventually { users.allSatisfy { !stage.alerts(of: $0).isEmpty } }
        #expect(haveRung)
        try stage.stopWorker()
        for user in users { #expect(stage.alerts(of: user) == ["From sender: before"]) }
        let (requests, results) = (try stage.requestIDs(), try stage.resultIDs())
        #expect(requests.count == users.count + 1 && results == requests)
    }

    @Test func aKilledWorkerCostsNoneOf200WhoWaitTheAnswer() throws {
        let (answered, waiting) = (40, 200)
        let stage = try RealStage()
        defer { stage.stop() }
        let gateway = try stage.startGateway()
        let users = (0..<answered + waiting).map { "user\($0)" }
        for user in users { try stage.register(user) }
        // After the first calls, and the worker's question whether it is there, the hub answers none: one of two it takes and does, the
        // other it does not.
        stage.hub.arm(
            try ["hang=after,every=2", "hang=before"].map { try Fault(parsing: "\($0),after=\(answered + 1),path=/messages") })
        try stage.startWorker()
        let clients = try users.map { try gateway.begin("Hi", to: $0) }
        try gateway.waitUntilWritten(users.count)
        let isStuck = eventually { stage.hub.calls().count { $0.fault != nil } == RealStage.callsAtOnce }
        try #require(isStuck)
        // Results of the first calls may be committed, under way, or lost with the worker.
        #expect(try gateway.metric("pushfan_gateway_waiting_sends") >= waiting)
        stage.killWorker()
        let rungBefore = Set(users.filter { !stage.alerts(of: $0).isEmpty })
        #expect(rungBefore.count == answered + RealStage.callsAtOnce / 2)

        stage.hub.arm([])
        try stage.startWorker()
        for (user, client) in zip(users, clients) {
            let status = client.answer().status
            let device = try #require(stage.hub.devices(tag: "username:\(user)").first)
            // A call that the hub has done and nobody knows of is repeated, and the phone shows it once.
            #expect(status == 200 && device.visible.map(\.alert) == ["From sender: Hi"], "\(user): \(status)")
            #expect(device.rungCount == 1 || (device.rungCount == 2 && rungBefore.contains(user)), "\(user): \(device.rungCount)")
        }
        #expect(try gateway.metric("pushfan_gateway_waiting_sends") == 0)
        try stage.stopWorker()
        let (requests, results) = (try stage.requestIDs(), try stage.resultIDs())
        #expect(requests.count == users.count && results == requests)
    }
}
