import Testing

@testable import CurlHTTP

@Suite struct ProxyAddressTests {
    @Test(
        arguments: [
            ("http://proxy.example:3128", "http://proxy.example:3128"), ("proxy.example:3128", "http://proxy.example:3128"),
            ("HTTPS://proxy.example", "https://proxy.example:443"), ("http://proxy.example", "http://proxy.example:1080"),
            ("http://proxy.example:3128/path?query#x", "http://proxy.example:3128"), ("10.0.0.5", "http://10.0.0.5:1080"),
            ("http://[fd00::1]:8080/", "http://[fd00::1]:8080"), ("[::1]", "http://[::1]:1080"),
            ("socks5h://p_1.example", "socks5h://p_1.example:1080"), ("SOCKS5://p", "socks5://p:1080"),
            ("socks4a://p:1", "socks4a://p:1"), ("socks4://p:1", "socks4://p:1"), ("socks://p:1", "socks4://p:1"),
        ] as [(String, String)])
    func aURLIsReadAsLibcurlReadsIt(text: String, url: String) throws {
        let address = try #require(ProxyAddress(text))
        #expect(address.description == url)
        #expect(address.url == url)
        #expect(address.isSecure == url.hasPrefix("https:"))
    }

    @Test(arguments: ["user:CANARY", "CANARY", ":CANARY", "u%40x:%2FCANARY%25", "user:CANARY:;$&=é"])
    func aLoginIsForLibcurlOnly(login: String) throws {
        let address = try #require(ProxyAddress("https://\(login)@proxy.example:1/"))
        #expect(address.url == "https://\(login)@proxy.example:1")
        var dumped = ""
        dump(address, to: &dumped)
        let message = address.redacting("in '\(address.url)'")
        for shown in ["\(address)", String(reflecting: address), "\([address])", dumped, message] {
            #expect(!shown.contains("CANARY"))
            #expect(shown.contains("proxy.example"))
        }
    }

    @Test func aConfigurationShowsNoLogin() {
        var configuration = ConnectionPoolConfiguration(scheme: .https, host: "hub.test")
        configuration.proxy = "http://user:CANARY@proxy.example:1"
        configuration.environment = ["all_proxy": "http://user:CANARY@proxy.example:1"]
        var dumped = ""
        dump(configuration, to: &dumped)
        for shown in ["\(configuration)", String(reflecting: configuration), "\([configuration])", dumped] {
            #expect(!shown.contains("CANARY"))
            #expect(shown.contains("https://hub.test:443"))
        }
    }

    @Test(arguments: [
        "", "http://", "ftp://p", "http2://p:1", "://p", "http:p:1", "//p:1", " http://p", "http://p ", "http://p:0",
        "http://p:65536", "http://p:x", "http://p:", "http://:1", "http://a b", "http://p%41", "http://::1", "http://[::1",
        "http://[p]:1", "http://[fe80::1%25eth0]:1", "http://u:w@", "http://u:a b@p", "http://u:w\u{1}@p", "http://u:w%0a@p",
        "http://u:w%00@p", "http://u:w%4@p", "http://u:w%zz@p", "http://u:w%@p", "http://u:a/b@p", "http://u:12/b@p",
        "http://u:1?b@p", "http://u:1#b@p", "http://u:a@b@p", "http://proxy\u{e9}.example",
    ])
    func whatIsNoneIsNot(text: String) {
        #expect(ProxyAddress(text) == nil)
    }
}
