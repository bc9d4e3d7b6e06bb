@testable import GatewayAPI
@testable import AppAPI
import Basics
import EventLoop
import Foundation
import HTTPServing
import TestSupport
import Testing
import Users

@Suite(.tags(.threads)) struct SignInTests {
    private static let call = "POST"
    private static let path = "/api/register"

    @Test(
        arguments: [
            [], ["Authorization: Basic"], ["Authorization: Bearer abc"], ["Authorization: Basic !!!!"],
            ["Authorization: Basic YWxpY2U="], [basic("alice", "two")], [basic("alice", "")], [basic("alice", "alice")],
            [basic("Alice", "one")], [basic("carol", "one")], [basic("", "")],
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
            // The failures of the route before count no more.
            gateway.services.clock.advance(seconds: 3600)
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

    @Test func aUserWhoWasJustSetSignsInAtOnceWithTheNewPassword() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let gateway = try TestGateway(users: users)
        func status(_ name: String, _ password: String) throws -> Int {
            try gateway.ask(request(Self.call, Self.path, [basic(name, password)])).status
        }
        #expect(try status("bob", "two") == 401)
        try users.put([("alice", "three"), ("bob", "two")])
        gateway.services.clock.advance(seconds: 1)
        #expect(try (status("bob", "two"), status("alice", "three")) == (200, 200))
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"refused\"} 1\n"))
    }

    /// A sign-in whose thread is not started, so that nothing goes by its pace.
    private func signIn(_ users: UsersOnDisk, _ test: TestServices) throws -> SignIn {
        try SignIn(try UsersSource(users.path, now: test.clock.now) { _ in }, allowsDemo: false, services: test.services)
    }

    @Test func oneAddressHoldsHalfOfThePlacesAndTheOthersAreBoundedToo() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let test = TestServices()
        let signIn = try signIn(users, test)
        let outcomes = Outcomes()
        let limit = CheckTurns<Int>.limit(of: .expected)
        for _ in 0...(limit / 2) { signIn.check(value("alice", "one"), from: NumericAddress("10.0.0.1")) { outcomes.add($0) } }
        #expect(outcomes.all == [.held(1000)])
        for host in 0...(limit / 2) {
            signIn.check(value("alice", "one"), from: NumericAddress("10.0.1.\(host)")) { outcomes.add($0) }
        }
        #expect(outcomes.all == [.held(1000), .overloaded])
        // Bad credentials need no check.
        signIn.check("Basic", from: nil) { outcomes.add($0) }
        #expect(outcomes.all.last == .refused)
        signIn.start()
        #expect(eventually { outcomes.all.count == limit + 3 })
        #expect(outcomes.all.count { $0 == .signedIn(Caller(name: "alice")) } == limit)
        // One of them was checked; the others had the same header.
        #expect(test.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"verified\"} 1\n"))
        #expect(test.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"held\"} 1\n"))
        signIn.stop()
    }

    @Test func afterAStopNoPasswordIsChecked() throws {
        let users = try UsersOnDisk([("alice", "one")])
        let signIn = try signIn(users, TestServices())
        signIn.start()
        signIn.stop()
        let outcomes = Outcomes()
        signIn.check(value("alice", "one"), from: nil) { outcomes.add($0) }
        #expect(outcomes.all == [.overloaded])
    }

    /// A check takes some 50 ms, so 24 of them take 1.2 s.
    @Test(arguments: [1, 64], [true, false])
    func beside64StrangersTwentyUsersAreAmongTheFirst24Checks(addresses: Int, areUsersAmongThem: Bool) throws {
        let users = try UsersOnDisk((1...20).map { ("user\($0)", "user\($0)-password") })
        let signIn = try signIn(users, TestServices())
        let outcomes = Outcomes()
        for number in 0..<640 {
            let address = NumericAddress("10.0.0.\(number % addresses)")
            signIn.check(value("stranger\(number)", "x"), from: address) { if $0 == .refused { outcomes.add($0) } }
        }
        for number in 1...20 {
            let address = NumericAddress(areUsersAmongThem ? "10.0.0.0" : "192.0.2.\(number)")
            signIn.check(value("user\(number)", "user\(number)-password"), from: address) { outcomes.add($0) }
        }
        signIn.start()
        #expect(eventually { outcomes.all.count { $0 != .refused } == 20 })
        let first = outcomes.all.prefix(24)
        #expect((1...20).allSatisfy { first.contains(.signedIn(Caller(name: "user\($0)"))) })
        signIn.stop()
    }

    @Test func whoFailsTooOftenIsHeldAndThePasswordIsNotChecked() throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]))
        func answer(_ name: String, _ password: String = "x") throws -> (status: Int, head: String, body: [UInt8]) {
            try gateway.ask(request(Self.call, Self.path, [basic(name, password)]))
        }
        for number in 0..<4 { #expect(try answer("name\(number)").status == 401) }
        let held = try answer("name5")
        #expect(held.status == 429 && held.head.contains("Retry-After: 1\r\n"))
        #expect(held.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(String(decoding: held.body, as: UTF8.self).contains(#""code":"too_many_sign_ins""#))
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"refused\"} 4\n"))
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"held\"} 1\n"))
        // A user of the same address gets in all the same.
        #expect(try answer("alice", "one").status == 200)
        gateway.services.clock.advance(seconds: 1)
        #expect(try answer("name6").status == 401)
        #expect(try answer("name6").head.contains("Retry-After: 2\r\n"))
    }

    @Test(
        arguments: [
            ("POST", "/api/register"), ("PUT", "/api/register/a"), ("DELETE", "/api/register/a"), ("POST", "/api/notifications"),
            ("GET", "/api/notifications/a"),
        ])
    func whoIsHeldIsHeldOnEveryRoute(method: String, path: String) throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]))
        for _ in 0..<4 { #expect(try gateway.ask(request(method, path, [basic("bob", "x")])).status == 401) }
        #expect(try gateway.ask(request(method, path, [basic("bob", "x")])).status == 429)
    }

    @Test func failuresAreThoseOfTheAddressThatATrustedProxyNames() throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]), proxies: ["127.0.0.1"])
        func status(_ name: String, _ password: String, from forwarded: String) throws -> Int {
            try gateway.ask(request(Self.call, Self.path, [basic(name, password), "X-Forwarded-For: \(forwarded)"])).status
        }
        for host in 0..<4 { #expect(try status("alice", "x", from: "10.9.9.\(host), 203.0.113.1") == 401) }
        #expect(try status("alice", "one", from: "10.9.9.9, 203.0.113.1") == 429)
        // Guesses at a name do not hold its owner elsewhere, and from there the owner has a way.
        #expect(try status("alice", "one", from: "203.0.113.2") == 200)
        for _ in 0..<4 { #expect(try status("alice", "x", from: "203.0.113.1") == 429) }
    }

    @Test func whatAStrangerWritesIntoTheHeaderCountsForNothing() throws {
        let gateway = try TestGateway(users: try UsersOnDisk([("alice", "one")]), proxies: ["10.0.0.1"])
        func status(_ host: Int) throws -> Int {
            try gateway.ask(request(Self.call, Self.path, [basic("bob", "x"), "X-Forwarded-For: 203.0.113.\(host)"])).status
        }
        for host in 0..<4 { #expect(try status(host) == 401) }
        #expect(try status(4) == 429)
    }

    @Test func aPasswordIsRememberedWhileItIsUsedEachHourAndTheFileStays() throws {
        let users = try UsersOnDisk([("alice", "one"), ("bob", "two")])
        let gateway = try TestGateway(users: users)
        func status() throws -> Int { try gateway.ask(request(Self.call, Self.path, [basic("alice", "one")])).status }
        func count(_ outcome: String, _ count: Int) -> Bool {
            gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"\(outcome)\"} \(count)\n")
        }
        for _ in 0..<3 {
            #expect(try status() == 200)
            gateway.services.clock.advance(seconds: 3599)
        }
        #expect(count("verified", 1) && count("remembered", 2))
        gateway.services.clock.advance(seconds: 1)
        #expect(try status() == 200)
        #expect(count("verified", 2) && count("remembered", 2))
        try users.put([("bob", "two")])
        gateway.services.clock.advance(seconds: 2)
        #expect(try status() == 401, "a user who was removed is forgotten at once")
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

/// The value of the header of somebody who signs in.
private func value(_ name: String, _ password: String) -> String {
    String(basic(name, password).dropFirst("Authorization: ".count))
}
