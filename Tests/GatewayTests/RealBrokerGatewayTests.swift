import HubEmulator
import TestSupport
import Testing

/// What needs a broker outside the process: several gateways, and ends of gateways and workers while sends wait.
@Suite(
    .enabled(if: RealStage.brokers != nil, "PUSHFAN_TEST_KAFKA names no broker: gateways were not tested on a real one"),
    .serialized, .tags(.threads, .c))
struct RealBrokerGatewayTests {
    private static let token = [UInt8](0..<32)

    @Test func whatOneGatewayRegistersTheOtherReaches() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let (one, other) = (try stage.startGateway(), try stage.startGateway())
        try stage.startWorker()
        let phone = IOSApp(one.port, token: Self.token)
        try phone.logIn("bob", "bob")
        // Both read all results, and each answers its own.
        let clients = [try one.begin("one", to: "bob"), try other.begin("other", to: "bob")]
        #expect(clients.map { $0.answer().status } == [200, 200])
        #expect(stage.alerts(of: "bob") == ["From sender: one", "From sender: other"])
        let installedAgain = IOSApp(other.port, token: Self.token)
        try installedAgain.logIn("bob", "bob")
        #expect(installedAgain.registrationID == phone.registrationID)
        #expect(stage.hub.devices(handle: phone.handle).map(\.registrationCount) == [1])
    }

    @Test func aGatewayThatIsStartedAgainGoesOn() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let first = try stage.startGateway()
        let phone = IOSApp(first.port, token: Self.token)
        try phone.logIn("bob", "bob")
        let client = try first.begin("before", to: "bob")
        #expect(eventually { first.writtenCount == 1 })
        first.stop()
        let answer = client.answer()
        #expect(answer.status == 503)
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"stopping""#))
        let second = try stage.startGateway()
        let installedAgain = IOSApp(second.port, token: Self.token)
        try installedAgain.logIn("bob", "bob")
        #expect(installedAgain.registrationID == phone.registrationID)
        try stage.startWorker()
        #expect(try installedAgain.send("after", to: "bob", on: ["apns"]) == [200])
        // What the first one has written is sent all the same.
        #expect(eventually { stage.alerts(of: "bob") == ["From bob: after", "From sender: before"] })
    }

    @Test func aWorkerThatIsReplacedCostsNobodyTheAnswer() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let gateway = try stage.startGateway()
        let users = (0..<50).map { "user\($0)" }
        for user in users { try stage.register(user) }
        // Some get through; to the others the hub gives no answer, and rings nobody.
        stage.hub.arm([try Fault(parsing: "hang=before,after=5,path=/messages")])
        try stage.startWorker()
        let clients = try users.map { try gateway.begin("Hi", to: $0) }
        #expect(eventually { gateway.writtenCount == users.count && stage.hub.calls().contains { $0.fault != nil } })
        try stage.stopWorker()
        #expect(users.count { stage.alerts(of: $0).isEmpty } == 45)
        stage.hub.arm([])
        try stage.startWorker()
        for (user, client) in zip(users, clients) {
            let status = client.answer().status
            let alerts = stage.alerts(of: user)
            #expect(status == 200 && alerts == ["From sender: Hi"], "\(user): \(status), \(alerts)")
        }
        #expect(gateway.services.metrics.contains("pushfan_gateway_waiting_sends 0\n"))
    }
}
