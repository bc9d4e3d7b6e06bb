import DoorStage
@testable import PublishAPI
@testable import Page
@testable import OperatorAPI
@testable import GatewayAPI
@testable import AppAPI
import EventLoop
import HTTPServing
import Keys
import TestSupport
import Testing

@testable import Gateway

/// A gateway with the page, whose calls of `/v1` are answered with their publisher, but for those that follow events. Its clocks stand until a test moves them.
final class PageStage {
    /// Answers whose key it was, and what that may do.
    private struct KeyEndpoints: Endpoints {
        let streams: EventStreams

        func answer(_ call: APICall) { call.reply.answer(.text(call.caller.name)) }
        func publish(_ call: PublishCall) { call.reply.answer(.text(call.publisher.keyID)) }
        func answerLookup(_ call: LookupCall) { call.answer(APIAnswer(status: 200, body: Array(call.asker.keyID.utf8))) }
        func operate(_ call: OperatorCall) {
            do throws(APIProblem) {
                try call.checkRights()
                if call.operation == .followStatus { return streams.begin(EventStreams.fleet, for: call) }
                call.answer(APIAnswer(status: 200, body: Array(call.publisher.keyID.utf8)))
            } catch {
                call.refuse(error)
            }
        }
    }

    let keys: KeysOnDisk
    let services = TestServices()
    let sessions: SessionKeeper
    let streams = EventStreams(limit: 10)
    /// The present by which keys expire, in milliseconds since 1970.
    let wall = Milliseconds(1_500_000)
    private let service: GatewayService
    let port: Int

    /// Starts it. It is the second 1500.
    init(_ keys: [NewKey], proxies: [String] = []) throws {
        self.keys = try KeysOnDisk()
        try self.keys.put(keys.map(\.key))
        let source = try KeySource(self.keys.path, now: services.clock.now) { _ in }
        let signIn = KeySignIn(source, services: services.services, wallClock: { [wall] in wall.value / 1000 })
        sessions = SessionKeeper(signIn, services: services.services)
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        configuration.trustedProxies = proxies
        service = try GatewayService(
            configuration, services: services.services, checkKey: { signIn.check($0, from: $1) },
            recheckKey: { signIn.isRight($0, for: $1) }, checkBatch: { signIn.check($0, of: $1) },
            page: WebPage(sessions, version: "0.1.0", proxies: TrustedProxies(proxies))
        ) { [streams] _, _ in KeyEndpoints(streams: streams) }
        port = try service.start().port
    }

    deinit { service.stop(within: .zero) }

    /// Sends one request on a connection of its own and waits for its answer.
    func ask(_ request: String) throws -> (status: Int, head: String, body: [UInt8]) {
        let client = try RawClient(port: port)
        client.send(request)
        return client.answer()
    }

    /// Sends a request as the page does, and waits for its answer.
    func askAsPage(
        _ method: String, _ path: String, cookie: String? = nil, fields: [String] = ["Sec-Fetch-Site: same-origin"],
        body: String = ""
    ) throws -> (status: Int, head: String, text: String) {
        let cookies = cookie.map { ["Cookie: \($0)"] } ?? []
        let types = body.isEmpty ? [] : ["Content-Type: application/json"]
        let answer = try ask(request(method, path, fields + cookies + types, body: body))
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// Signs in, and gives the cookie as a browser sends it.
    func signIn(_ key: NewKey) throws -> String {
        let answer = try askAsPage("POST", "/ui/session", body: #"{"key":"\#(key.text)"}"#)
        try #require(answer.status == 200)
        return String(try #require(field("Set-Cookie", of: answer.head)).prefix { $0 != ";" })
    }
}

/// The value of a header field of an answer.
func field(_ name: String, of head: String) -> String? {
    head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
}
