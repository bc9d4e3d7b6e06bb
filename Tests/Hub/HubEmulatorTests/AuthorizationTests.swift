import HTTPServing
import HubAuth
import Testing

@testable import HubEmulator
@testable import HubServer

struct AuthorizationTests {
    private static let key = "bXkta2V5LWlzLW5vdC1kZWNvZGVkLWZyb20tYmFzZTY0ISE="
    private static let host = "contoso-push.servicebus.windows.net"

    /// V1 to V5: the tokens of five clients, as text, valid until 2026-01-01T00:00:00Z.
    static let tokens = [
        ("http%3a%2f%2f\(host)%2fnewshub%2fmessages%2f", "zGZoZ6JXuWmfiJMo0FuKqu%2brxV0WP0KWRaiogw6oBAM%3d"),
        ("https%3a%2f%2f\(host)%2fnewshub%2fmessages%3fapi-version%3d2020-06", "QptvP90220AO0s224pvoIMGPmTE8F7oTeXkvjVpzrWA%3D"),
        ("https%3A%2F%2F\(host)%2F", "uy9cG41zuMVuDI69HT8A2FwYs6MSI3epfrETvfW35HY%3D"),
        ("https%3A%2F%2F\(host)", "sRvODXAkOqocwf6vyADguh8d9Q5E53Xnb%2BBpj5hdV5Q%3D"),
        ("https%3a%2f%2f\(host)%2fnewshub", "scB8TS5i4WB8SmB%2BWmsYQRrc8Rtw732xEVDRZ6K61E8%3D"),
    ]

    private func send(_ authorization: String?, checksHost: Bool = false, hostHeader: String = host, secondsLeft: Int64 = 60)
        throws -> HTTPServerResponse
    {
        var configuration = HubEmulatorConfiguration()
        configuration.hubName = "newshub"
        configuration.checksHost = checksHost
        configuration.policies = [
            HubPolicy(name: HubEmulatorConfiguration.defaultPolicy.name, key: Self.key, rights: .all)
        ]
        let hub = try EmulatedHub(configuration, clock: { TestHub.start - secondsLeft * 1000 })
        var headers: HTTPFields = ["Host": hostHeader, "ServiceBusNotification-Format": "apple"]
        if let authorization { headers.append("Authorization", value: authorization) }
        let target = "/newshub/messages?api-version=2020-06"
        return hub.handle(HTTPServerRequest(method: "POST", target: target, headers: headers, body: Array("{}".utf8)))
    }

    private static func header(_ token: (String, String)) -> String {
        "SharedAccessSignature sr=\(token.0)&sig=\(token.1)&se=1767225600&skn=DefaultFullSharedAccessSignature"
    }

    @Test(arguments: tokens)
    func everyClientsTokenIsAccepted(_ scope: String, _ signature: String) throws {
        let header = Self.header((scope, signature))
        #expect(try send(header).status == 201)
        #expect(try send(header, checksHost: true).status == 201)
        #expect(try send(header, hostHeader: "127.0.0.1:8800").status == 201)
        #expect(try send(header, checksHost: true, hostHeader: "127.0.0.1:8800").status == 401)
        #expect(try send(header, secondsLeft: 0).status == 401)
    }

    @Test func aForgedTokenHasTheServicesWords() throws {
        let response = try send(Self.header((Self.tokens[0].0, Self.tokens[1].1)))
        #expect(response.status == 401)
        #expect(response.detail == "InvalidSignature: The token has an invalid signature.")
        #expect(try send(nil).status == 401)
        #expect(try send("Basic abc").status == 401)
    }

    @Test(arguments: [
        ("Listen", "POST", "messages", 403), ("Listen", "GET", "installations/x", 404), ("Listen", "PUT", "installations/x", 400),
        ("Listen", "POST", "registrationids", 201), ("Listen", "GET", "registrations?$filter=ChannelUri+eq+%27x%27", 200),
        ("Listen", "GET", "registrations", 401), ("Listen", "GET", "tags/a/registrations", 401),
        ("Send", "POST", "messages", 400), ("Send", "POST", "registrations", 403), ("Send", "DELETE", "installations/x", 403),
        ("Manage", "GET", "tags/a/registrations", 200), ("Manage", "GET", "registrations", 200),
        ("Manage", "POST", "messages", 403),
    ])
    func aPolicyMayDoWhatItsRightsSay(_ rights: String, _ method: String, _ path: String, _ status: Int) throws {
        let policy = try #require(HubPolicy(parsing: "p=k==:\(rights)"))
        let hub = try TestHub { $0.policies = [policy] }
        let response = try hub.call(method, path)
        #expect(response.status == status)
        if status == 403 { #expect(response.body.isEmpty) }
    }

    @Test func aReusedDecisionStillEndsWithTheToken() throws {
        let hub = try TestHub()
        let token = try hub.token()
        let request = HTTPServerRequest(
            method: "GET", target: "/newshub/registrations?api-version=2020-06", headers: ["Authorization": token])
        #expect(hub.hub.handle(request).status == 200)
        #expect(hub.hub.handle(request).status == 200)
        hub.advance(seconds: 3601)
        #expect(hub.hub.handle(request).status == 401)
    }

    @Test(arguments: [("", 400), ("2020-6", 400), ("latest", 400), ("2020-13", 400), ("2014-09", 200), ("2031-01", 200)])
    func theApiVersionIsAYearAndAMonth(_ version: String, _ status: Int) throws {
        #expect(try TestHub().call("GET", "registrations?api-version=\(version)").status == status)
    }

    @Test(
        arguments: [
            ("a=b:Listen", "a", "b", SASRights.listen), ("a=b==:Send,Manage", "a", "b==", [.send, .manage]),
            ("a=b", "a", "b", .all),
        ] as [(String, String, String, SASRights)])
    func policiesAreReadFromTheCommandLine(_ text: String, _ name: String, _ key: String, _ rights: SASRights) throws {
        let policy = try #require(HubPolicy(parsing: text))
        #expect(policy.name == name && policy.key == key && policy.rights == rights)
        #expect(!"\(policy)".contains(key + "="))
    }

    @Test(arguments: ["", "a", "=b", "a=", "a=:Listen", "a=b:Fly"])
    func whatIsNoPolicyIsRefused(_ text: String) {
        #expect(HubPolicy(parsing: text) == nil)
    }
}
