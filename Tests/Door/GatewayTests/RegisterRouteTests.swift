@testable import DeviceHubs
import DoorStage
@testable import AppAPI
import FanOut
import Foundation
import GatewayAPI
import HubEmulator
import TestSupport
import Testing

/// `/api/register` over HTTP, against a hub.
@Suite(.tags(.threads)) struct RegisterRouteTests {
    private static let token = String(repeating: "ab", count: 32)
    private static let other = String(repeating: "cd", count: 32)

    private func body(_ handle: String, _ platform: String = "apns", tags: String = "[]") -> String {
        #"{"Platform":"\#(platform)","Handle":"\#(handle)","Tags":\#(tags)}"#
    }

    /// Signs a device in as the apps do it: an id, then the registration.
    private func signIn(
        _ user: String, _ handle: String, at gateway: ServedGateway, tags: String = "[]"
    ) throws -> String {
        let answer = try gateway.ask("POST", "/api/register?handle=\(handle)", as: user)
        try #require(answer.status == 200)
        // As the apps do it.
        let id = String(answer.text.dropFirst().dropLast())
        let put = try gateway.ask("PUT", "/api/register/\(id)", as: user, body: body(handle, tags: tags))
        try #require(put.status == 200 && put.text.isEmpty, "\(put)")
        return id
    }

    @Test func theFirstLoginRegistersTheDevice() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let answer = try gateway.ask("POST", "/api/register?handle=\(Self.token)", as: "alice")
        #expect(answer.status == 200 && answer.head.contains("Content-Type: application/json; charset=utf-8\r\n"))
        #expect(answer.text.hasPrefix("\"") && answer.text.hasSuffix("\"") && answer.text.count == 38)
        #expect(UUID(uuidString: String(answer.text.dropFirst().dropLast())) != nil)
        let id = try signIn("alice", Self.token, at: gateway, tags: #"["news"]"#)
        let devices = gateway.hub.devices(tag: "username:alice")
        #expect(devices.map(\.handle) == [Self.token.uppercased()])
        #expect(devices.first?.installations == [id])
        #expect(devices.first?.tags.contains("news") == true)
    }

    @Test func anUnchangedDeviceCostsTwoCallsAndWritesNothing() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let id = try signIn("alice", Self.token, at: gateway)
        let mark = gateway.lastCall
        for handle in [Self.token, Self.token.uppercased(), "<\(Self.token)>"] {
            #expect(try gateway.ask("PUT", "/api/register/\(id)", as: "alice", body: body(handle)).status == 200)
        }
        let unchanged = ["installation.get", "registration.list"]
        #expect(gateway.calls(after: mark) == unchanged + unchanged + unchanged)
        #expect(try gateway.ask("PUT", "/api/register/\(id)", as: "alice", body: body(Self.token, tags: #"["a"]"#)).status == 200)
        #expect(gateway.calls(after: mark).filter { $0 == "installation.put" }.count == 1)
    }

    @Test func aNewTokenTakesThePlaceOfTheOld() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let id = try signIn("alice", Self.token, at: gateway)
        #expect(try gateway.ask("PUT", "/api/register/\(id)", as: "alice", body: body(Self.other)).status == 200)
        #expect(gateway.handles(of: "alice") == [Self.other.uppercased()])
    }

    @Test func whoHoldsTheDeviceTakesItOver() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let id = try signIn("alice", Self.token, at: gateway)
        #expect(try gateway.ask("PUT", "/api/register/\(id)", as: "bob", body: body(Self.other)).status == 404)
        #expect(gateway.handles(of: "alice") == [Self.token.uppercased()])
        #expect(try signIn("bob", Self.token, at: gateway) == id)
        #expect(gateway.handles(of: "alice").isEmpty)
        #expect(gateway.handles(of: "bob") == [Self.token.uppercased()])
    }

    @Test func anIDThatTheHubForgotHeals() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        for id in ["4f1c2a7e-0000-4000-8000-000000000000", "2847239873-1234567-1"] {
            #expect(try gateway.ask("PUT", "/api/register/\(id)", as: "alice", body: body(Self.token)).status == 200)
            #expect(gateway.hub.devices(tag: "username:alice").first?.installations == [id])
        }
    }

    @Test(arguments: ["", "?handle=", "?handle", "?other=x"]) func withoutAHandleNoHubIsAsked(query: String) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let mark = gateway.lastCall
        let ids = try (0..<2).map { _ in try gateway.ask("POST", "/api/register\(query)", as: "alice") }
        #expect(ids.allSatisfy { $0.status == 200 && $0.text.count == 38 } && ids[0].text != ids[1].text)
        #expect(gateway.calls(after: mark).isEmpty)
    }

    @Test func onlyTheOwnerRemovesADeviceAndMayDoItTwice() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let id = try signIn("alice", Self.token, at: gateway)
        #expect(try gateway.ask("DELETE", "/api/register/\(id)", as: "bob").status == 404)
        #expect(gateway.handles(of: "alice") == [Self.token.uppercased()])
        for _ in 0..<2 {
            let answer = try gateway.ask("DELETE", "/api/register/\(id)", as: "alice")
            #expect(answer.status == 200 && answer.text.isEmpty)
        }
        #expect(gateway.handles(of: "alice").isEmpty)
    }

    @Test(
        arguments: [
            (#"{"Platform":"mpns","Handle":"a"}"#, 400, "/Platform"), (#"{"Platform":"apns","Handle":"xyz"}"#, 400, "/Handle"),
            (#"{"Platform":"apns","Handle":"ab","Tags":["username:bob"]}"#, 400, "/Tags/0"),
            (#"{"Platform":"apns","Handle":"ab","Tags":["Staff"]}"#, 400, "/Tags/0"), ("[", 400, "invalid_request"),
        ] as [(String, Int, String)])
    func whatIsWrongIsPointedOut(body: String, status: Int, word: String) throws {
        let gateway = try ServedGateway(hasKafka: false) { $0.reservedTags = ["staff"] }
        defer { gateway.stop() }
        let mark = gateway.lastCall
        let answer = try gateway.ask("PUT", "/api/register/a", as: "alice", body: body)
        #expect(answer.status == status && answer.text.contains(word), "\(answer.text)")
        #expect(gateway.calls(after: mark).isEmpty)
    }

    @Test(
        arguments: [
            ("status=500", 502, nil), ("status=403", 502, nil), ("status=401", 502, nil), ("reset=before", 502, nil),
            ("status=429,retry-after=7", 503, "7"), ("status=503,retry-after=3", 503, "3"), ("status=429", 503, "5"),
        ] as [(String, Int, String?)])
    func whatTheHubDoesNotDoIsTold(fault: String, status: Int, wait: String?) throws {
        let calls = [
            ("POST", "/api/register?handle=\(Self.token)"), ("PUT", "/api/register/a"), ("DELETE", "/api/register/a"),
        ]
        for (method, path) in calls {
            // Another gateway for each, because one that is told to wait does not ask again.
            let gateway = try ServedGateway(hasKafka: false)
            defer { gateway.stop() }
            gateway.hub.arm([try Fault(parsing: fault)])
            let answer = try gateway.ask(method, path, as: "alice", body: method == "PUT" ? body(Self.token) : "")
            #expect(answer.status == status, "\(method): \(answer.text)")
            #expect(answer.head.contains("Retry-After: \(wait ?? "")\r\n") == (wait != nil), "\(answer.head)")
            #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        }
    }

    @Test func aHubThatWantsRestIsNotAsked() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        gateway.hub.arm([try Fault(parsing: "status=429,retry-after=60,count=1")])
        #expect(try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(Self.token)).status == 503)
        let mark = gateway.lastCall
        let held = try gateway.ask("PUT", "/api/register/b", as: "bob", body: body(Self.other))
        #expect(held.status == 503 && held.head.contains("Retry-After: ") && held.text.contains("hub_throttled"))
        #expect(gateway.calls(after: mark).isEmpty)
        // Nothing was heard from the hub, so that nothing is known against it.
        #expect(!gateway.services.readiness.contains("failing hub"))
    }

    /// The tutorials' back end answered 500 for the hub's 410, and 200 for everything else that a write met.
    @Test(
        arguments: [("status=410", 502), ("status=404", 502), ("status=400", 400), ("status=500", 502), ("status=429", 503)]
            as [(String, Int)])
    func aWriteThatTheHubRefusesIsToldAndNeverAs410(fault: String, status: Int) throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        gateway.hub.arm([try Fault(parsing: "\(fault),method=PUT")])
        let refused = try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(Self.token))
        #expect(refused.status == status && gateway.handles(of: "alice").isEmpty, "\(refused.text)")
        gateway.hub.arm([])
        #expect(try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(Self.token)).status == 200)
        #expect(gateway.handles(of: "alice") == [Self.token.uppercased()])
    }

    @Test func aHubThatIsAwayIs502() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        gateway.hub.stop(within: .zero)
        let answer = try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(Self.token))
        #expect(answer.status == 502 && answer.text.contains(#""retry":"safe""#), "\(answer.text)")
        #expect(eventually { gateway.services.readiness.contains("failing hub") })
    }

    /// The lanes' threads do not run, so that nothing goes by their pace.
    @Test func aFullLaneIs503() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let people = try People()
        let configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        let hubs = try DeviceHubs(configuration, laneLimit: 1, services: gateway.services.services)
        let route = RegisterRoute(users: UserTags(people.users), rules: people.rules, hubs: hubs)
        let clients = try (0..<2).map { _ in try RawClient(port: gateway.port) }
        for client in clients {
            client.send(request("DELETE", "/api/register/a", [basic("alice", "alice")]))
            route.answer(try held.next())
        }
        let late = clients[1].answer()
        #expect(late.status == 503 && late.head.contains("Retry-After: 1\r\n"))
        #expect(String(decoding: late.body, as: UTF8.self).contains(#""code":"overloaded""#))
    }

    @Test func noHandleIsToldToAnybody() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        let handle = "CANARYhandle"
        var said = ""
        for fault in [nil, "status=400", "status=500,body=html", "reset=before"] {
            gateway.hub.arm(try fault.map { [try Fault(parsing: $0)] } ?? [])
            let post = try gateway.ask("POST", "/api/register?handle=\(handle)", as: "alice")
            let put = try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(handle, "fcm"))
            let wrong = try gateway.ask("PUT", "/api/register/a", as: "alice", body: body(handle + " x", "fcm"))
            said += post.head + post.text + put.head + put.text + wrong.head + wrong.text
        }
        #expect(gateway.handles(of: "alice") == [handle])
        for text in [said, gateway.services.log.text, gateway.services.metrics, gateway.services.readiness] {
            #expect(!text.contains("CANARY"))
        }
        #expect(gateway.services.metrics.contains("hub_calls_total{operation=\"registration.list\",code=\"400\"}"))
    }
}
