@testable import GatewayAPI
@testable import AppAPI
import Foundation
import HTTPServing
import TestSupport
import Testing

@testable import Gateway

@Suite(.tags(.threads)) struct ServingTests {
    /// Lets every call fall.
    private struct ForgettingEndpoints: Endpoints {
        func answer(_ call: APICall) {}
    }

    @Test func theFirstPageNeedsNobody() throws {
        let gateway = try TestGateway(demo: true)
        let page = try gateway.ask(request("GET", "/"))
        #expect(page.status == 200)
        #expect(page.head.contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(page.body.count { $0 == UInt8(ascii: "\n") } == 2)
        let client = try RawClient(port: gateway.port)
        client.send(request("HEAD", "/"))
        #expect(client.answer(toHEAD: true).status == 200)
    }

    static let routes: [(method: String, path: String, match: Route.Match)] = [
        ("GET", "/", .route(Route(.open(.welcome)))), ("HEAD", "/", .route(Route(.open(.welcome)))),
        ("POST", "/api/register", .route(Route(.app(.newRegistration)))),
        ("PUT", "/api/register/4f1c-a", .route(Route(.app(.putRegistration), id: "4f1c-a"))),
        ("PUT", "/api/register/a%2Fb%20c", .route(Route(.app(.putRegistration), id: "a/b c"))),
        ("DELETE", "/api/register/4f1c-a", .route(Route(.app(.deleteRegistration), id: "4f1c-a"))),
        ("POST", "/api/notifications", .route(Route(.app(.notify)))), ("POST", "/", .otherMethods(["GET", "HEAD"])),
        ("GET", "/api/register", .otherMethods(["POST"])), ("post", "/api/register", .otherMethods(["POST"])),
        ("POST", "/api/register/x", .otherMethods(["PUT", "DELETE"])), ("OPTIONS", "/api/notifications", .otherMethods(["POST"])),
        ("PUT", "/api/register/", .otherMethods(["POST"])), ("PUT", "/api/register/a/b", .nowhere), ("GET", "/api", .nowhere),
        ("GET", "//", .nowhere), ("POST", "/api/register?x", .nowhere), ("GET", "", .nowhere), ("OPTIONS", "*", .nowhere),
        ("GET", "/v1/openapi.json", .route(Route(.open(.openAPI)))), ("HEAD", "/v1/openapi.json", .route(Route(.open(.openAPI)))),
        ("POST", "/v1/requests", .route(Route(.publish(.publish)))),
        ("PUT", "/v1/requests", .otherMethods(["POST", "GET", "HEAD"])),
        ("POST", "/v1/requests:batch", .route(Route(.publish(.publishBatch)))),
        ("POST", "/v1/requests:explain", .route(Route(.publish(.explain)))),
        ("GET", "/v1/requests:batch", .otherMethods(["POST"])), ("POST", "/v1/requests:other", .nowhere),
        ("POST", "/v1/requests/", .nowhere), ("POST", "/v1", .nowhere), ("GET", "/api/notifications/", .otherMethods(["POST"])),
        ("GET", "/api/notifications/a-_B", .route(Route(.app(.secureText), id: "a-_B"))),
        ("HEAD", "/api/notifications/a-_B", .route(Route(.app(.secureText), id: "a-_B"))),
        ("HEAD", "/api/register", .otherMethods(["POST"])),
        ("POST", "/api/notifications/a", .otherMethods(["GET", "HEAD"])),
        ("HEAD", "/ui/session", .route(Route(.page(.showSession)))),
        ("PUT", "/ui/session", .otherMethods(["GET", "HEAD", "POST", "DELETE"])),
        ("HEAD", "/v1/status", .route(Route(.operate(.showStatus)))),
        ("GET", "/api/notifications/a/b", .nowhere),
    ]

    /// ASP.NET's routing: names in any case and with escapes, one slash behind them. Other routes are exact.
    static let alike: [(method: String, path: String, match: Route.Match)] = [
        ("POST", "/API/Register/", .route(Route(.app(.newRegistration)))),
        ("POST", "/api/register/", .route(Route(.app(.newRegistration)))),
        ("POST", "/Api/Notifications", .route(Route(.app(.notify)))),
        ("POST", "/api/notifications/", .route(Route(.app(.notify)))),
        ("POST", "/%61pi/%72egiste%52", .route(Route(.app(.newRegistration)))),
        ("GET", "/api/REGISTER/", .otherMethods(["POST"])),
        ("PUT", "/API/REGISTER/4F1c/", .route(Route(.app(.putRegistration), id: "4F1c"))),
        ("DELETE", "/api/Register/a%2F/", .route(Route(.app(.deleteRegistration), id: "a/"))),
        ("GET", "/api/Notifications/A-b/", .route(Route(.app(.secureText), id: "A-b"))), ("PUT", "/api/register//", .nowhere),
        ("POST", "/api//register", .nowhere), ("POST", "//api/register", .nowhere), ("POST", "/api/register//", .nowhere),
        ("PUT", "/api/register/a//", .nowhere), ("POST", "/api%2Fregister", .nowhere), ("POST", "/api/", .nowhere),
        ("POST", "/api/registers", .nowhere), ("POST", "/ap\u{130}/register", .nowhere), ("POST", "api/register", .nowhere),
        ("POST", "/V1/requests", .nowhere), ("POST", "/v1/Requests", .nowhere), ("POST", "/v1/requests%3Abatch", .nowhere),
    ]

    @Test(arguments: alike) func routesOfAppsMatchAsTheirTutorialsDo(_ row: (method: String, path: String, match: Route.Match)) {
        #expect(Route.match(row.method, path: row.path[...]) == row.match)
    }

    @Test func aRouteHasOneLabelHoweverItIsWritten() throws {
        let gateway = try TestGateway(demo: true)
        for path in ["/api/register", "/API/Register/", "/api/%72egister?Handle=x"] {
            #expect(try gateway.ask(request("POST", path)).status == 401)
        }
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"register.new\",status=\"401\"} 3\n") })
    }

    @Test(arguments: routes) func methodAndPathLeadToARoute(_ row: (method: String, path: String, match: Route.Match)) {
        #expect(Route.match(row.method, path: row.path[...]) == row.match)
    }

    @Test(
        arguments: [
            ("GET", "/nothing", 404, nil), ("GET", "/api/register", 405, "POST"), ("GET", "/api/register?handle=x", 405, "POST"),
            ("POST", "/api/register/x", 405, "PUT, DELETE"), ("DELETE", "/", 405, "GET, HEAD"),
        ] as [(String, String, Int, String?)])
    func whatThereIsNotIsToldWithoutSigningIn(method: String, path: String, status: Int, allow: String?) throws {
        let gateway = try TestGateway(demo: true)
        let answer = try gateway.ask(request(method, path))
        #expect(answer.status == status)
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(answer.head.contains("Allow: \(allow ?? "")\r\n") == (allow != nil))
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"none\",status=\"\(status)\"} 1\n") })
    }

    @Test(
        arguments: [
            ("POST", "/v1/request", "`POST /v1/requests`"), ("POST", "/v1/requests/", "`POST /v1/requests`"),
            ("POST", "/requests", "`POST /v1/requests`"), ("PUT", "/v1/requests", "`POST /v1/requests`"),
            ("GET", "/v1/requests:batch", "`POST /v1/requests:batch`"),
            ("POST", "/v1/requests/batch", "`POST /v1/requests:batch`"),
            ("POST", "/v1/request:explain", "`POST /v1/requests:explain`"),
            ("GET", "/v1/request/a-long-id-of-a-request-0123456789", "`GET /v1/requests/{id}`"),
            ("GET", "/v1/requests/a/event", "`GET /v1/requests/{id}/events`"),
            ("POST", "/v1/requests/a:b:cancle", "`POST /v1/requests/{id}:cancel`"),
            ("DELETE", "/v1/requests/a:b", "`GET /v1/requests/{id}`"), ("GET", "/v1/openapi.jsn", "`GET /v1/openapi.json`"),
            ("GET", "/v1/requests/a:cancel", "`POST /v1/requests/{id}:cancel`"),
            ("POST", "/api/notification", "`POST /api/notifications`"), ("PATCH", "/api/register/x", "`PUT /api/register/{id}`"),
            ("GET", "/nothing", nil), ("GET", "/x", nil), ("POST", "", nil), ("GET", "/metrics", nil), ("GET", "/v1", nil),
            ("GET", "/v1/requests" + String(repeating: "/", count: 6000), nil),
        ] as [(String, String, String?)])
    func theRouteThatWasMeantIsNamed(method: String, path: String, route: String?) {
        #expect(APIOperation.nearest(to: method, at: path[...]) == route)
    }

    @Test func a404AndA405NameTheRouteThatWasMeantAndNothingOfTheCall() throws {
        let gateway = try TestGateway(demo: true)
        for (method, path, words) in [
            ("POST", "/v1/requets", "There is no such path. Was `POST /v1/requests` meant?"),
            ("GET", "/v1/CANARY", "There is no such path. GET /v1/openapi.json has the routes."),
            ("GET", "/v1/requests:batch", "This path takes POST and no other method. Was `POST /v1/requests:batch` meant?"),
            (
                "DELETE", "/v1/requests/CANARY",
                "This path takes GET, HEAD and no other method. Was `GET /v1/requests/{id}` meant?"
            ),
        ] {
            let text = String(decoding: try gateway.ask(request(method, path)).body, as: UTF8.self)
            #expect(text.contains(#""detail":"\#(words)""#) && !text.contains("CANARY"), "\(text)")
        }
    }

    @Test(
        arguments: [
            (["Content-Length: 3", "Transfer-Encoding: chunked"], 400, "invalid_request"),
            (["Content-Length: 5000000"], 413, "body_too_large"),
            (["X-A: " + String(repeating: "a", count: 10_000)], 431, "header_too_large"),
        ] as [([String], Int, String)])
    func whatTheServerRefusesIsAProblemToo(fields: [String], status: Int, code: String) throws {
        let gateway = try TestGateway(demo: true)
        let answer = try gateway.ask(request("POST", "/api/register", fields))
        #expect(answer.status == status)
        #expect(answer.head.contains("Content-Type: application/problem+json\r\n"))
        #expect(answer.head.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        let problem = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(problem["status"] as? Int == status)
        #expect(problem["code"] as? String == code)
        #expect((problem["detail"] as? String)?.isEmpty == false)
    }

    @Test func aCallThatNobodyAnswersEndsWith500() throws {
        let gateway = try TestGateway(demo: true, endpoints: ForgettingEndpoints())
        let answer = try gateway.ask(request("POST", "/api/notifications", [basic("alice", "alice")]))
        #expect(answer.status == 500)
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"internal""#))
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"notify\",status=\"500\"} 1\n") })
    }

    @Test func endpointsGetTheRouteTheRequestAndTheCaller() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let client = try RawClient(port: gateway.port)
        client.send(
            request("PUT", "/api/register/i%2D1?a=b+c", [basic("alice", "alice"), "X-A: b"], body: #"{"Platform":"apns"}"#))
        let call = try held.next()
        #expect(call.operation == .putRegistration && call.id == "i-1" && call.caller == Caller(name: "alice"))
        #expect(call.request.percentDecodedQuery.first?.value == "b+c")
        #expect(String(decoding: call.request.body, as: UTF8.self) == #"{"Platform":"apns"}"#)
        #expect(gateway.services.metrics.contains("pushfan_gateway_waiting_requests 1\n"))
        call.reply.answer(.text("done"))
        // Only the first answer counts.
        call.reply.answer(.text("again"))
        #expect(String(decoding: client.answer().body, as: UTF8.self) == "done")
        #expect(gateway.services.metrics.contains("requests_total{route=\"register.put\",status=\"200\"} 1\n"))
    }

    @Test func settingsWithWhichItCannotWorkAreNamed() throws {
        let services = TestServices()
        let hub = TestGateway.hubThatIsAway
        var configuration = try TestGateway.configuration(nil, demo: true, hub: hub)
        configuration.usersFile = "/no/such/file"
        let missing = #expect(throws: GatewayFailure.self) { try GatewayService(configuration, services: services.services) }
        #expect(missing == .configuration("gateway.users_file: '/no/such/file' does not exist"))
        let gateway = try TestGateway(demo: true)
        configuration = try TestGateway.configuration(nil, demo: true, hub: hub)
        configuration.listen = "127.0.0.1:\(gateway.port)"
        let second = try GatewayService(configuration, services: TestServices().services)
        let taken = #expect(throws: GatewayFailure.self) { try second.start() }
        guard case .configuration(let reason)? = taken else {
            Issue.record("\(String(describing: taken))")
            return
        }
        #expect(reason.hasPrefix("gateway.listen: cannot listen on \(configuration.listen): Address already in use by "))
        #expect(reason.hasSuffix(" (pid \(getpid()))"))
    }
}
