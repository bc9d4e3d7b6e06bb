import HubAuth
import Testing

struct HubEndpointTests {
    @Test(arguments: [
        ("sb://h.example", "https://h.example/", 443), ("sb://h.example/", "https://h.example/", 443),
        ("SB://H.Example///", "https://h.example/", 443), ("https://h.example:8443", "https://h.example:8443/", 8443),
        ("https://h.example/a/B", "https://h.example/a/B/", 443), ("https://h.example:443/a/", "https://h.example:443/a/", 443),
        ("https://10.0.0.1/", "https://10.0.0.1/", 443), ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x/", 8443),
        ("http://localhost", "http://localhost/", 80), ("http://LOCALHOST:8800/", "http://localhost:8800/", 8800),
        ("http://127.0.0.1:8800", "http://127.0.0.1:8800/", 8800), ("http://127.255.0.9", "http://127.255.0.9/", 80),
        ("http://[::1]:8800/p", "http://[::1]:8800/p/", 8800), ("https://h.example/a@b", "https://h.example/a@b/", 443),
    ])
    func endpointsBecomeBaseURLs(_ text: String, baseURL: String, port: Int) throws {
        let endpoint = try HubEndpoint(parsing: text)
        #expect(endpoint.baseURL == baseURL)
        #expect(endpoint.effectivePort == port)
    }

    @Test(
        arguments: [
            ("", .scheme), ("h.example", .scheme), ("//h.example", .scheme), ("ftp://h.example", .scheme), ("sb:h", .scheme),
            ("sb:/h", .scheme), ("amqps://h", .scheme), ("sb://", .noHost), ("sb:///a", .noHost), ("sb://:443", .noHost),
            ("http://h.example", .plainHTTP), ("http://127.0.0.1.example.org", .plainHTTP), ("http://127.0.0.256", .plainHTTP),
            ("http://127.1", .plainHTTP), ("http://1127.0.0.1", .plainHTTP), ("http://128.0.0.1", .plainHTTP),
            ("http://localhost.example", .plainHTTP), ("http://[::2]", .plainHTTP), ("http://127.0.0.0001", .plainHTTP),
            ("sb://user:CANARY@h.example", .userInfo), ("sb://CANARY@h.example", .userInfo), ("http://localhost@evil", .userInfo),
            ("sb://h.example/?x=CANARY", .query), ("sb://h.example?x", .query), ("sb://h.example/#CANARY", .fragment),
            ("sb://h example", .character), ("sb://h.example/\u{1}", .character), ("sb://h.example\r\nX: y", .character),
            ("sb://h\\evil", .character), ("sb://bücher.example", .character), ("sb://h.example/<a>", .character),
            ("sb://h.example:0", .port), ("sb://h.example:65536", .port), ("sb://h.example:", .port),
            ("sb://h.example:8a", .port),
            ("sb://h.example:-1", .port), ("sb://h.example:99999999999999999999", .port), ("sb://a:1:2", .port),
            ("sb://h..example", .host), ("sb://.h", .host), ("sb://h.", .host), ("sb://h%41", .host), ("sb://h,i", .host),
            ("sb://[::1", .host), ("sb://[]", .host), ("sb://[::1]x", .host), ("sb://[zz::1]", .host), ("sb://[1234]", .host),
            ("sb://\(String(repeating: "a", count: 64))", .host), ("sb://h/a//b", .path), ("sb://h/../b", .path),
            ("sb://h/./", .path),
        ] as [(String, HubAuthError.EndpointProblem)])
    func everythingElseIsRefusedWithTheProblem(_ text: String, problem: HubAuthError.EndpointProblem) {
        #expect(throws: HubAuthError.endpoint(problem)) { try HubEndpoint(parsing: text) }
        #expect(!"\(HubAuthError.endpoint(problem))".contains("CANARY"))
    }

    @Test func theAudienceIsTheHubsInDotNetsForm() throws {
        let endpoint = try HubEndpoint(parsing: "https://Contoso.example:8443/Pre/")
        #expect(endpoint.audience(of: try HubName("NewsHub")) == "http://contoso.example/pre/newshub/")
        #expect(endpoint.authority == "contoso.example:8443")
    }

    @Test(arguments: ["n", "newshub", "News.Hub-1_x", String(repeating: "h", count: 260)])
    func hubNamesOfAzureAreTaken(_ text: String) throws {
        #expect(try HubName(text).text == text)
    }

    @Test(arguments: [
        "", "a/b", "a?b", "a#b", "a b", "a\r\nb", "a\0", "..", ".", "-a", "a-", "a%2fb", "hüb",
        String(repeating: "h", count: 261),
    ])
    func otherHubNamesAreRefused(_ text: String) {
        #expect(throws: HubAuthError.hubName) { try HubName(text) }
    }
}
