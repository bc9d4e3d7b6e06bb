@testable import AppAPI
@testable import DeviceAPI
@testable import GatewayAPI
@testable import PublishAPI
import DeviceHubs
import FanOut
import HTTPServing
import Keys
import TestSupport
import Testing
import UserTokens

@testable import Gateway

/// Users who sign in by a token, with a verifier that knows tokens by their text.
@Suite(.tags(.threads)) struct TokenSignInTests {
    private static let basicChallenge = "WWW-Authenticate: Basic realm=\"pushfan\", charset=\"UTF-8\"\r\n"
    private static let bearerChallenge = "WWW-Authenticate: Bearer realm=\"pushfan\"\r\n"
    private static let tokenChallenge = "WWW-Authenticate: Bearer realm=\"pushfan\", error=\"invalid_token\"\r\n"
    private static let key = "pf_canary00_CANARYkey0123456789abcdefghijklmnopqrstuvwx"

    private static let tokens: [String: TokenVerifier.Outcome] = [
        "CANARYany": .user(name: "alice", scopes: nil), "registers": .user(name: "alice", scopes: [.register]),
        "publishes": .user(name: "alice", scopes: [.publish]), "neither": .user(name: "alice", scopes: []),
        "away": .unavailable(1500),
    ]

    private static let checkToken: TokenCheck = { authorization in
        tokens[String(authorization?.split(separator: " ").last ?? "")] ?? .refused
    }

    private static let checkKey: KeyCheck = { authorization, _ in
        guard authorization == "Bearer \(key)" else { return .refused }
        return .signedIn(Publisher(keyID: "canary00", tenant: nil, source: "/shop", scopes: [.register]))
    }

    /// Answers who has called, and by what.
    private struct Origins: Endpoints {
        func answer(_ call: APICall) { call.reply.answer(.text(call.caller.name)) }

        func answerDevices(_ call: DeviceCall) {
            switch call.origin {
            case .user(let caller): call.reply.answer(.text("user \(caller.name)"))
            case .backEnd(let holder): call.reply.answer(.text("key \(holder.publisher.keyID)"))
            }
        }
    }

    private func gateway(_ checkToken: @escaping TokenCheck = TokenSignInTests.checkToken) throws -> TestGateway {
        try TestGateway(demo: true, checkKey: Self.checkKey, checkToken: checkToken, endpoints: Origins())
    }

    private func ask(
        _ gateway: TestGateway, _ method: String, _ path: String, _ authorization: String?
    ) throws -> (status: Int, head: String, text: String) {
        let answer = try gateway.ask(request(method, path, authorization.map { ["Authorization: \($0)"] } ?? []))
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// A subject may have what no tag and no name of the users file may have.
    @Test(arguments: [("alice", "alice"), ("auth0|5f", "x.61757468307c3566"), ("a b", "x.612062")])
    func aTokenSignsItsUserInByTheNameThatItHas(name: String, form: String) throws {
        let gateway = try gateway { _ in .user(name: name, scopes: nil) }
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let answer = try ask(gateway, "POST", "/api/register", "\(scheme) a.b.c")
            #expect(answer.status == 200 && answer.text == name)
        }
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"token\"} 3\n"))
        #expect(try UserTags(UserTag.Pattern("username:{user}")).tag(of: name).form == form)
    }

    @Test(arguments: ["Bearer forged", "Bearer", "Bearer \(key)", "bearer a b"])
    func aTokenThatDoesNotCountIs401(authorization: String) throws {
        let gateway = try gateway()
        let answer = try ask(gateway, "POST", "/api/register", authorization)
        #expect(answer.status == 401 && answer.text.contains(#""code":"unauthorized""#))
        #expect(answer.head.contains(Self.basicChallenge) && answer.head.contains(Self.tokenChallenge))
        #expect(gateway.services.metrics.contains("pushfan_gateway_sign_ins_total{outcome=\"token_refused\"} 1\n"))
    }

    @Test(arguments: [nil, "Basic !!!!", "Digest a", "Basic YWxpY2U6eA=="])
    func whereTokensCountA401SaysBothWays(authorization: String?) throws {
        let answer = try ask(try gateway(), "POST", "/api/register", authorization)
        #expect(answer.status == 401 && answer.text.contains("or with a token"))
        #expect(answer.head.contains(Self.basicChallenge) && answer.head.contains(Self.bearerChallenge))
    }

    @Test(arguments: ["Bearer CANARYany", "Bearer \(key)"]) func withoutTokensABearerIsNoWayIn(authorization: String) throws {
        let answer = try ask(try TestGateway(demo: true, checkKey: Self.checkKey), "POST", "/api/register", authorization)
        #expect(answer.status == 401 && answer.head.contains(Self.basicChallenge) && !answer.head.contains("Bearer"))
    }

    @Test func untilKeysWereReadATokenIs503AndAPasswordCounts() throws {
        let gateway = try gateway()
        let answer = try ask(gateway, "POST", "/api/register", "Bearer away")
        #expect(answer.status == 503 && answer.head.contains("Retry-After: 2\r\n") && answer.text.contains(#""retry":"safe""#))
        #expect(gateway.services.metrics.contains("outcome=\"token_unavailable\"} 1\n"))
        #expect(try gateway.ask(request("POST", "/api/register", [basic("bob", "bob")])).status == 200)
    }

    static let rights: [(token: String, method: String, path: String, lacks: String?)] = [
        ("registers", "POST", "/api/register", nil), ("publishes", "POST", "/api/register", "register"),
        ("registers", "PUT", "/api/register/a", nil), ("neither", "PUT", "/api/register/a", "register"),
        ("registers", "DELETE", "/api/register/a", nil), ("publishes", "DELETE", "/api/register/a", "register"),
        ("publishes", "POST", "/api/notifications", nil), ("registers", "POST", "/api/notifications", "publish"),
        ("neither", "GET", "/api/notifications/a", nil), ("CANARYany", "POST", "/api/notifications", nil),
        ("registers", "GET", "/v1/installations/a", nil), ("publishes", "GET", "/v1/installations/a", "register"),
        ("neither", "DELETE", "/v1/installations/a", "register"), ("CANARYany", "GET", "/v1/installations/a", nil),
    ]

    @Test(arguments: rights)
    func aTokenWithScopesMayDoWhatTheySay(call: (token: String, method: String, path: String, lacks: String?)) throws {
        let answer = try ask(try gateway(), call.method, call.path, "Bearer \(call.token)")
        guard let scope = call.lacks else { return #expect(answer.status == 200, "\(answer)") }
        #expect(answer.status == 403 && answer.text.contains(#""code":"forbidden_scope""#))
        #expect(answer.text.contains("has not the scope \(scope),"))
    }

    @Test func aDeviceIsAUsersOrAKeys() throws {
        let gateway = try gateway()
        let path = "/v1/installations/a"
        #expect(try ask(gateway, "GET", path, "Bearer CANARYany").text == "user alice")
        #expect(try ask(gateway, "GET", path, "Bearer \(Self.key)").text == "key canary00")
        let password = try gateway.ask(request("GET", path, [basic("bob", "bob")]))
        #expect(String(decoding: password.body, as: UTF8.self) == "user bob")
        let nobody = try ask(gateway, "GET", path, nil)
        #expect(nobody.status == 401 && nobody.head.contains(Self.basicChallenge) && nobody.head.contains(Self.bearerChallenge))
        let forged = try ask(gateway, "GET", path, "Bearer forged")
        #expect(forged.status == 401 && forged.head.contains(Self.tokenChallenge))
    }

    @Test(arguments: ["/v1/requests", "/v1/results", "/v1/users/alice/installations", "/v1/holds"])
    func aTokenIsNoKey(path: String) throws {
        let answer = try ask(try gateway(), "GET", path, "Bearer CANARYany")
        #expect(answer.status == 401 && answer.head.contains(Self.bearerChallenge) && !answer.head.contains("Basic"))
    }

    @Test func noTokenReachesLogsMetricsOrAnswers() throws {
        let gateway = try gateway()
        var said = ""
        for token in ["CANARYany", "CANARYforged", "CANARY.CANARY.CANARY"] {
            let answer = try ask(gateway, "POST", "/api/register", "Bearer \(token)")
            said += answer.head + answer.text
        }
        for text in [said, gateway.services.log.text, gateway.services.metrics] { #expect(!text.contains("CANARY")) }
    }

    /// Nothing listens at that port.
    @Test func aGatewayWithoutKeysIsNotReadyAndSaysWhy() throws {
        let keys = TokenVerifier.Configuration(issuer: "me", audiences: ["a"], source: .url("http://127.0.0.1:1/keys"))
        let gateway = try TestGateway(demo: true, change: { $0.tokens = keys })
        #expect(gateway.services.readiness.contains("failing tokens: no key of gateway.jwt was read yet"))
        #expect(gateway.services.metrics.contains("# TYPE pushfan_gateway_token_keys_age_seconds gauge\n"))
        let other = try TestGateway(demo: true).services
        #expect(!other.readiness.contains("tokens") && !other.metrics.contains("token_keys"))
    }

    @Test func aFileOfKeysThatIsMissingIsNamedAtTheStart() throws {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        configuration.tokens = TokenVerifier.Configuration(issuer: "me", audiences: ["a"], source: .file("/no/such/file"))
        let services = TestServices().services
        let failure = #expect(throws: GatewayFailure.self) { try TokenWatch.make(configuration, services: services) }
        #expect(failure?.description.hasPrefix("gateway.jwt.keys_file: '/no/such/file' ") == true)
    }
}
