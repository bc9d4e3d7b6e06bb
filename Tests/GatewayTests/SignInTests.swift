import Foundation
import HTTPServing
import TestSupport
import Testing
import Users

@testable import Gateway

@Suite(.tags(.threads, .c)) struct SignInTests {
    private static let call = "POST"
    private static let path = "/api/register"

    @Test(
        arguments: [
            [], ["Authorization: Basic"], ["Authorization: Bearer abc"], ["Authorization: Basic !!!!"],
            ["Authorization: Basic YWxpY2U="], [basic("alice", "two")], [basic("alice", "")], [basic("alice", "alice")],
            [basic("Alice", "one")], [basic("carol", "one")], [basic("", "")], [basic("alice", "one"), basic("alice", "one")],
        ] as [[String]])
    func badCredentialsAreAnsweredWithTheChallenge(fields: [String]) throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]))
        let answer = try gateway.ask(request(Self.call, Self.path, fields))
        #expect(answer.status == 401)
        #expect(answer.head.contains("WWW-Authenticate: Basic realm=\"pushfan\", charset=\"UTF-8\"\r\n"))
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"unauthorized""#))
    }

    @Test func everyRouteOfTheAPIAsksForCredentials() throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]))
        let routes = [
            ("POST", "/api/register"), ("PUT", "/api/register/a"), ("DELETE", "/api/register/a"), ("POST", "/api/notifications"),
            ("GET", "/api/notifications/a"),
        ]
        let wrong = [
            [], ["Authorization: Bearer abc"], ["Authorization: Basic !!!!"], [basic("alice", "two")], [basic("alice", "alice")],
            [basic("carol", "one")],
        ]
        for (method, path) in routes {
            for fields in wrong {
                let answer = try gateway.ask(request(method, path, fields))
                let isChallenge = answer.head.contains("WWW-Authenticate: Basic realm=\"pushfan\"")
                #expect(answer.status == 401 && isChallenge, "\(method) \(path)")
            }
            let answer = try gateway.ask(request(method, path, [basic("alice", "one")]))
            #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "alice", "\(method) \(path)")
        }
    }

    @Test(arguments: [("alice", "one"), ("Bob Miller", "a:b"), ("Zoë", "pässword")])
    func theRightPasswordSignsInAndIsRemembered(name: String, password: String) throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one"), ("Bob Miller", "a:b"), ("Zoë", "pässword")]))
        for _ in 0..<3 {
            let answer = try gateway.ask(request(Self.call, Self.path, [basic(name, password)]))
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == name)
        }
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"verified\"} 1\n"))
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"remembered\"} 2\n"))
    }

    @Test(
        arguments: [("alice", "alice", 200), ("Bob Miller", "Bob Miller", 200), ("alice", "Alice", 401), ("", "", 401)]
            as [(String, String, Int)])
    func aDemonstrationAsksForTheNameAsPassword(name: String, password: String, status: Int) throws {
        let gateway = try TestGateway(demo: true)
        #expect(try gateway.ask(request(Self.call, Self.path, [basic(name, password)])).status == status)
        #expect(gateway.services.log.text.contains("gateway.demo_auth"))
    }

    @Test func nobodySignsInByNameWithoutTheRuleOfDemonstrations() throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]))
        #expect(try gateway.ask(request(Self.call, Self.path, [basic("bob", "bob")])).status == 401)
        #expect(!gateway.services.log.text.contains("gateway.demo_auth"))
    }

    @Test func aNewPasswordCountsTwoSecondsLater() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let gateway = try TestGateway(users: users)
        func status(_ password: String) throws -> Int {
            try gateway.ask(request(Self.call, Self.path, [basic("alice", password)])).status
        }
        #expect(try status("one") == 200)
        try users.put([("alice", "two")])
        #expect(try status("one") == 200)
        gateway.services.clock.advance(seconds: 2)
        #expect(try status("one") == 401)
        #expect(try status("two") == 200)
        #expect(gateway.services.log.text.contains("the users file was read again"))
    }

    /// The thread that checks passwords is not started before the bound is reached, so that nothing goes by its pace.
    @Test func aStormOfPasswordsIsBounded() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let test = TestServices()
        let source = try UsersSource(users.path, now: test.clock.now) { _ in }
        let signIn = try SignIn(source, allowsDemo: false, test.services)
        let routes = Routes(signIn: signIn, endpoints: NamingEndpoints(), services: test.services)
        let server = HTTPServer { request, responder in routes.answer(request, responder) }
        let port = try server.start().port
        let text = request(Self.call, Self.path, [basic("alice", "one")])
        let clients = try (0..<CheckAdmission.limit).map { _ in try RawClient(port: port) }
        for client in clients { client.send(text) }
        #expect(eventually { server.waitingCount == clients.count })
        let late = try RawClient(port: port)
        late.send(text)
        let refused = late.answer()
        #expect(refused.status == 503)
        #expect(refused.head.contains("Retry-After: 1\r\n"))
        #expect(String(decoding: refused.body, as: UTF8.self).contains(#""code":"overloaded""#))
        // Bad credentials need no check.
        late.send(request(Self.call, Self.path))
        #expect(late.answer().status == 401)
        signIn.start()
        #expect(clients.allSatisfy { $0.answer().status == 200 })
        late.send(text)
        #expect(late.answer().status == 200)
        // One of them was checked; the others had the same header.
        #expect(test.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"verified\"} 1\n"))
        server.stop(within: .zero)
        signIn.stop()
    }

    @Test func afterAStopNoPasswordIsChecked() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let test = TestServices()
        let source = try UsersSource(users.path, now: test.clock.now) { _ in }
        let signIn = try SignIn(source, allowsDemo: false, test.services)
        signIn.start()
        signIn.stop()
        let outcomes = Outcomes()
        signIn.check(String(basic("alice", "one").dropFirst("Authorization: ".count))) { outcomes.add($0) }
        #expect(outcomes.all == [.overloaded])
    }

    @Test func noNameAndNoPasswordIsToldToLogsMetricsOrOthers() throws {
        let users = try UsersOnDisk([("CANARYname", "CANARYpassword")])
        let gateway = try TestGateway(users: users, endpoints: SilentEndpoints())
        let fields = [
            basic("CANARYname", "CANARYpassword"), basic("CANARYname", "CANARYwrong"), basic("CANARYother", "CANARYpassword"),
        ]
        var said = ""
        for field in fields {
            let answer = try gateway.ask(request(Self.call, Self.path, [field]))
            said += answer.head + String(decoding: answer.body, as: UTF8.self)
        }
        try Data("CANARYname:CANARYpassword\n".utf8).write(to: URL(fileURLWithPath: users.path), options: .atomic)
        gateway.services.clock.advance(seconds: 2)
        #expect(try gateway.ask(request(Self.call, Self.path, [fields[0]])).status == 200, "a broken file keeps the users")
        let log = gateway.services.log.text
        #expect(log.contains("the users file cannot be used"))
        let metrics = gateway.services.metrics
        #expect(metrics.contains("pushfan_gateway_sign_ins_total"))
        var dumped = ""
        dump(Caller(name: "CANARYname"), to: &dumped)
        for text in [said, log, metrics, "\(Caller(name: "CANARYname"))", dumped] {
            #expect(!text.contains("CANARY"))
            for field in fields { #expect(!text.contains(field.dropFirst("Authorization: Basic ".count))) }
        }
    }
}
