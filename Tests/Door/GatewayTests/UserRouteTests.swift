import GatewayAPI
import HTTPServing
import HubEmulator
import Keys
import PublishAPI
import TestSupport
import Testing

/// `/v1/users` over HTTP, against a hub.
@Suite(.tags(.threads)) struct UserRouteTests {
    private static let token = String(repeating: "ab", count: 32)
    private static let other = String(repeating: "cd", count: 32)
    /// By their ids, which say what they may do.
    private static let keys: [String: Publisher] = [
        "backend0": publisher([.register]), "handes00": publisher([.register, .handles]), "sender00": publisher([.publish]),
        "tenant00": publisher([.register], tenant: "shop"),
    ]

    private static func publisher(_ scopes: Set<Scope>, tenant: String? = nil) -> Publisher {
        Publisher(keyID: "canary00", tenant: tenant, source: "/shop", scopes: scopes)
    }

    private func served(connections: Int? = nil) throws -> ServedGateway {
        let checkKey: KeyCheck = { authorization, _ in
            let parts = (authorization ?? "").split(separator: "_")
            guard parts.count == 3, let publisher = Self.keys[String(parts[1])] else { return .refused }
            return .signedIn(publisher)
        }
        return try ServedGateway(hasKafka: false, runsByItself: true, connections: connections, checkKey: checkKey)
    }

    private func ask(
        _ method: String, _ path: String, _ key: String = "backend0", _ fields: [String] = [], at gateway: ServedGateway
    ) throws -> (status: Int, head: String, text: String) {
        let client = try RawClient(port: gateway.port)
        let key = "Authorization: Bearer pf_\(key)_CANARYkey0123456789abcdefghijklmnopqrstuvwx"
        client.send(request(method, path, [key] + fields))
        let answer = client.answer()
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    private func register(_ id: String, _ handle: String, of user: String, at gateway: ServedGateway) throws {
        let body = #"{"Platform":"apns","Handle":"\#(handle)","Tags":["news"]}"#
        try #require(try gateway.ask("PUT", "/api/register/\(id)", as: user, body: body).status == 200)
    }

    @Test func aUsersDevicesAreListedAndThenErased() throws {
        let gateway = try served()
        defer { gateway.stop() }
        try register("a", Self.token, of: "alice", at: gateway)
        try register("b", Self.other, of: "bob", at: gateway)
        let list = try ask("GET", "/v1/users/Alice/installations", at: gateway)
        #expect(list.status == 200 && list.text.contains(#""id":"a","platform":"apns","handle_sha256":""#), "\(list)")
        #expect(list.text.contains(#""tags":["news"]"#) && !list.text.contains(Self.token.uppercased()))
        #expect(try ask("GET", "/v1/users/alice/installations", "handes00", at: gateway).text.contains(Self.token.uppercased()))
        #expect(try ask("GET", "/v1/users/alice/erasure", at: gateway).status == 404)
        let erased = try ask("DELETE", "/v1/users/alice", "backend0", ["Prefer: wait=30"], at: gateway)
        #expect(erased.status == 202 && erased.text.contains(#""state":"done","found":1,"removed":1,"left":0"#), "\(erased)")
        #expect(erased.head.contains("Location: /v1/users/alice/erasure\r\n"))
        #expect(erased.head.contains("Preference-Applied: wait=30\r\n"))
        #expect(gateway.handles(of: "alice").isEmpty && gateway.handles(of: "bob") == [Self.other.uppercased()])
        let report = try ask("GET", "/v1/users/ALICE/erasure", at: gateway)
        #expect(report.status == 200 && report.text == erased.text)
        #expect(try ask("GET", "/v1/users/alice/installations", at: gateway).text == #"{"items":[],"next":null}"# + "\n")
    }

    @Test func anAnswerThatDoesNotWaitSaysWhereToLook() throws {
        let gateway = try served()
        defer { gateway.stop() }
        try register("a", Self.token, of: "J. Müller/1", at: gateway)
        let path = "/v1/users/J.%20M%C3%BCller%2F1"
        let begun = try ask("DELETE", path, at: gateway)
        #expect(begun.status == 202 && begun.text.contains(#""state":"running""#))
        #expect(begun.head.contains("Location: \(path)/erasure\r\n"))
        #expect(eventually { (try? ask("GET", "\(path)/erasure", at: gateway))?.text.contains(#""state":"done""#) == true })
        #expect(gateway.hub.devices().allSatisfy { $0.registrationCount == 0 })
    }

    /// The gateway has no connection that may be kept waiting.
    @Test func anErasureThatCannotBeWaitedForBeginsAllTheSame() throws {
        let gateway = try served(connections: 1)
        defer { gateway.stop() }
        try register("a", Self.token, of: "alice", at: gateway)
        let begun = try ask("DELETE", "/v1/users/alice", "backend0", ["Prefer: wait=30"], at: gateway)
        #expect(begun.status == 202 && !begun.head.contains("Preference-Applied"), "\(begun)")
        #expect(eventually { gateway.handles(of: "alice").isEmpty })
    }

    @Test func thousandsOfDevicesAreListedInPages() throws {
        let gateway = try served()
        defer { gateway.stop() }
        for number in 0..<620 {
            let device = EmulatedDevice(
                id: "i-\(number)", platform: "fcmV1", handle: "h-\(number)", userID: "alice", tags: ["username:alice"])
            try gateway.hub.register(device)
        }
        let first = try ask("GET", "/v1/users/alice/installations", at: gateway).text
        let next = try #require(first.firstMatch(of: /"next":"([^"]*)"/)).1
        let second = try ask("GET", "/v1/users/alice/installations?cursor=\(next)", at: gateway).text
        let ids = (first + second).matches(of: /"id":"(i-[0-9]*)"/).map { String($0.1) }
        #expect(ids.count == 620 && Set(ids).count == 620 && second.contains(#""next":null"#))
    }

    @Test(arguments: [
        ("GET", "/v1/users/alice/installations", "sender00", 403), ("DELETE", "/v1/users/alice", "sender00", 403),
        ("GET", "/v1/users/alice/erasure", "sender00", 403), ("DELETE", "/v1/users/alice", "absent00", 401),
        // The hub of the tenant is everybody's.
        ("DELETE", "/v1/users/alice", "tenant00", 403), ("GET", "/v1/users/alice/installations", "tenant00", 403),
        ("GET", "/v1/users/alice/installations?hub=nowhere", "backend0", 404),
        ("GET", "/v1/users/alice/installations?cursor=0", "backend0", 400),
        ("DELETE", "/v1/users/alice?all=true", "backend0", 400), ("GET", "/v1/users/alice", "backend0", 405),
    ])
    func othersAreRefusedAndNothingIsRemoved(method: String, path: String, key: String, status: Int) throws {
        let gateway = try served()
        defer { gateway.stop() }
        try register("a", Self.token, of: "alice", at: gateway)
        #expect(try ask(method, path, key, at: gateway).status == status)
        #expect(gateway.handles(of: "alice") == [Self.token.uppercased()])
    }

    /// A user signs in with a name and a password, and may not ask about users.
    @Test func usersAreRefused() throws {
        let gateway = try served()
        defer { gateway.stop() }
        #expect(try gateway.ask("DELETE", "/v1/users/alice", as: "alice").status == 401)
    }
}
