import CurlHTTP
import Testing

@Suite struct WebAddressTests {
    @Test(
        arguments: [
            ("https://a.example/b?c=d", "a.example", 443, "a.example", "/b?c=d"), ("http://a:81", "a", 81, "a:81", "/"),
            ("https://[::1]:8443/x#y", "::1", 8443, "[::1]:8443", "/x"),
            ("http://127.0.0.1?q", "127.0.0.1", 80, "127.0.0.1", "/?q"),
        ] as [(String, String, UInt16, String, String)])
    func anAddressIsTakenApart(uri: String, host: String, port: UInt16, authority: String, target: String) throws {
        let address = try #require(WebAddress(uri))
        #expect(address.host == host && address.port == port && address.authority == authority && address.target == target)
        #expect(address.scheme == (uri.hasPrefix("https") ? .https : .http))
    }

    @Test(arguments: [
        "", "a", "ftp://a/b", "https://", "https:///b", "https://me:secret@a/b", "https://a:0/b", "https://a:x/b",
        "https://a:99999",
    ])
    func whatIsNoneIsNot(uri: String) {
        #expect(WebAddress(uri) == nil)
    }

    @Test(
        arguments: [
            ("http://localhost:1/", true), ("http://127.1.2.3/", true), ("http://[::1]/", true), ("http://a.example/", false),
            ("http://127.example/", false), ("http://128.0.0.1/", false), ("http://[::2]/", false),
            ("http://localhost.a/", false),
        ])
    func thisMachineIsKnownByItsSpelling(uri: String, isLoopback: Bool) throws {
        #expect(try #require(WebAddress(uri)).isLoopback == isLoopback)
    }
}
