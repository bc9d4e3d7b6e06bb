@testable import GatewayAPI
@testable import AppAPI
import HTTPServing
import TestSupport
import Testing
import Users

@testable import Gateway

/// What the gateway says to a head, before the body is there.
@Suite(.tags(.threads)) struct AdmissionTests {
    private static let alice = basic("alice", "alice")
    private static let text = "Content-Type: text/plain"

    @Test(
        arguments: [
            ("POST", "/nothing", [alice], 404, "not_found", "none"),
            ("POST", "/api/register/x", [alice], 405, "method_not_allowed", "none"),
            ("POST", "/api/notifications", [], 401, "unauthorized", "notify"),
            ("PUT", "/api/register/x", ["Authorization: Bearer abc"], 401, "unauthorized", "register.put"),
            ("PUT", "/api/register/x", ["Authorization: Basic !!!!"], 401, "unauthorized", "register.put"),
            ("POST", "/api/register", [alice, alice], 400, "invalid_request", "register.new"),
            ("PUT", "/api/register/x", [alice, text], 415, "unsupported_media_type", "register.put"),
            ("POST", "/api/notifications", [alice, text], 415, "unsupported_media_type", "notify"),
        ] as [(String, String, [String], Int, String, String)], [[], ["Expect: 100-continue"]])
    func aHeadIsRefusedBeforeItsBodyComes(
        call: (method: String, path: String, fields: [String], status: Int, code: String, route: String), more: [String]
    ) throws {
        let gateway = try TestGateway(demo: true)
        let client = try RawClient(port: gateway.port)
        client.send(request(call.method, call.path, call.fields + more + ["Content-Length: 100"]))
        let answer = client.answer()
        #expect(answer.status == call.status)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("\"code\":\"\(call.code)\""))
        #expect(answer.head.contains("WWW-Authenticate: Basic ") == (call.status == 401))
        #expect(answer.head.contains("Allow: PUT, DELETE\r\n") == (call.status == 405))
        #expect(client.rest().isEmpty && client.ending == 0)
        let metrics = gateway.services.metrics
        #expect(metrics.contains("requests_total{route=\"\(call.route)\",status=\"\(call.status)\"} 1\n"))
        #expect(metrics.contains("sign_ins_total{outcome=\"refused\"} 1\n") == (call.status == 401))
    }

    /// The fields that may come once, at a route that reads few of them.
    @Test(
        arguments: [
            "Authorization", "Content-Type", "Origin", "Sec-Fetch-Site", "Last-Event-ID", "ce-specversion", "ce-id",
            "ce-traceparent",
        ])
    func aFieldThatIsNoListComesOnce(name: String) throws {
        let gateway = try TestGateway(demo: true)
        for path in ["/", "/v1/requests", "/v1/openapi.json"] {
            let twice = try gateway.ask(request("GET", path, ["\(name): a", "\(name.uppercased()): a"]))
            #expect(twice.status == 400)
            #expect(String(decoding: twice.body, as: UTF8.self).contains("The header field \(name) is there more than once."))
        }
        #expect(try gateway.ask(request("GET", "/", ["\(name): a"])).status == 200)
        #expect(
            try gateway.ask(request("GET", "/", ["Accept: a", "Accept: b", "traceparent: a", "traceparent: b"])).status == 200)
    }

    @Test func aLengthOverTheLimitIsRefusedBeforeItsBodyComes() throws {
        let gateway = try TestGateway(demo: true)
        let fields = ["Content-Length: \(JSONBody.maximumByteCount + 1)", "Expect: 100-continue"]
        let answer = try gateway.ask(request("PUT", "/api/register/x", [Self.alice] + fields))
        #expect(answer.status == 413 && String(decoding: answer.body, as: UTF8.self).contains(#""code":"body_too_large""#))
    }

    /// As before: a route without a body takes any type, and a text to send may be missing.
    @Test(
        arguments: [
            ("POST", "/api/register", "Content-Length: 2\r\n\r\nhi"),
            ("DELETE", "/api/register/x", "Content-Length: 2\r\n\r\nhi"),
            ("POST", "/api/notifications", "\r\n"), ("POST", "/api/notifications", "Content-Length: 0\r\n\r\n"),
            ("POST", "/api/notifications", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ])
    func aTypeMattersOnlyWhereThereIsABody(method: String, path: String, rest: String) throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let client = try RawClient(port: gateway.port)
        client.send("\(method) \(path) HTTP/1.1\r\nHost: h\r\n\(Self.alice)\r\n\(Self.text)\r\n\(rest)")
        let call = try held.next()
        #expect(call.request.body.isEmpty)
        call.reply.answer(.text("done"))
        #expect(client.answer().status == 200)
    }

    @Test func whoAsksFirstAndThenSendsItsBodyIsServed() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let client = try RawClient(port: gateway.port)
        let fields = [Self.alice, "Content-Type: application/json; charset=utf-8", "Content-Length: 4", "Expect: 100-continue"]
        client.send(request("POST", "/api/notifications", fields))
        #expect(client.answer().status == 100)
        client.send(#""Hi""#)
        let call = try held.next()
        #expect(String(decoding: call.request.body, as: UTF8.self) == #""Hi""#)
        call.reply.answer(.text("done"))
        #expect(client.answer().status == 200)
    }

    @Test func whereBodiesTakeAllTheRoomItIs503AndCounted() throws {
        let test = TestServices()
        let held = HeldCalls()
        let signIn = try SignIn(nil, allowsDemo: true, services: test.services)
        let routes = Routes(signIn: signIn, endpoints: held, services: test.services)
        var serving = GatewayService.serving("127.0.0.1:0", routes: routes)
        serving.maximumBodyByteCountInAll = 10_000
        let server = HTTPServer(serving) { request, responder in routes.answer(request, with: responder) }
        let port = try server.start().port
        defer { server.stop(within: .zero) }
        let body = String(repeating: "x", count: 14_096)
        let text = request("POST", "/api/notifications", [Self.alice], body: body)
        let first = try RawClient(port: port)
        first.send(text)
        let call = try held.next()
        let second = try RawClient(port: port)
        second.send(text)
        let answer = second.answer()
        #expect(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"))
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"overloaded""#))
        #expect(test.metrics.contains("requests_total{route=\"notify\",status=\"503\"} 1\n"))
        // What apps usually send has room all the same.
        let small = try RawClient(port: port)
        small.send(request("POST", "/api/notifications", [Self.alice], body: String(repeating: "x", count: 4096)))
        try held.next().reply.answer(.text("done"))
        #expect(small.answer().status == 200)
        call.reply.answer(.text("done"))
        #expect(first.answer().status == 200)
    }

    /// The larger part of what it may open is for connections.
    @Test func itsConnectionsFitIntoItsDescriptors() throws {
        let test = TestServices()
        let signIn = try SignIn(nil, allowsDemo: true, services: test.services)
        let routes = Routes(signIn: signIn, endpoints: SilentEndpoints(), services: test.services)
        for (available, places) in [(100_000, 8192), (8642, 8192), (8641, 8191), (1024, 574), (64, 16)] {
            let serving = GatewayService.serving("127.0.0.1:0", routes: routes, descriptors: available)
            #expect(serving.maximumConnections == places)
            #expect(serving.descriptorCount + 256 <= max(available, 300))
        }
        #expect(GatewayService.descriptorsNeeded == 8642)
    }
}
