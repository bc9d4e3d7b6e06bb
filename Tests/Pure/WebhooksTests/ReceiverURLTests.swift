import TestSupport
import Testing
import Webhooks

/// Addresses of receivers, and texts that try to be some.
struct ReceiverURLTests {
    @Test(
        arguments: [
            ("https://example.com/hooks", "https://example.com", "/hooks"), ("https://example.com", "https://example.com", "/"),
            ("HTTPS://Example.COM:443/", "https://example.com", "/"),
            ("https://example.com:8443?a=b", "https://example.com:8443", "/?a=b"),
            ("http://example.com:443/x", "http://example.com:443", "/x"), ("http://example.com:80", "http://example.com", "/"),
            ("http://10.1.2.3:8080/a/b?c=d/e?f", "http://10.1.2.3:8080", "/a/b?c=d/e?f"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]", "/x"), ("https://[::1]:1", "https://[::1]:1", "/"),
            ("https://[::ffff:10.0.0.1]:65535/", "https://[::ffff:10.0.0.1]:65535", "/"),
            ("https://xn--bcher-kva.example/%C3%BC", "https://xn--bcher-kva.example", "/%C3%BC"),
            ("https://a.b-c.d1/:@!$&'()*+,;=~._-//..", "https://a.b-c.d1", "/:@!$&'()*+,;=~._-//.."),
            ("https://1.example/", "https://1.example", "/"),
            ("https://localhost/", "https://localhost", "/"), ("https://a/?x=http://user@b", "https://a", "/?x=http://user@b"),
        ] as [(String, String, String)])
    func anAddressIsRead(_ text: String, _ shown: String, _ target: String) throws {
        let url = try #require(ReceiverURL(text))
        #expect("\(url)" == shown)
        #expect(url.target == target)
        #expect(ReceiverURL(shown + target) == url)
    }

    @Test func anIPv6HostHasItsBracketsInTheAuthorityAlone() throws {
        let url = try #require(ReceiverURL("https://[2001:db8::1]:8443/"))
        #expect(url.host == "2001:db8::1")
        #expect(url.port == 8443)
        #expect(url.authority == "[2001:db8::1]:8443")
    }

    @Test(arguments: [
        // Schemes
        "", "example.com", "//example.com", "://example.com", "ftp://example.com", "file:///etc/passwd", "httpss://example.com",
        " https://example.com", "https:/example.com", "https:example.com", "javascript://example.com/",
        "https\u{0}://example.com",
        // Users and fragments
        "https://user@example.com", "https://user:word@example.com/", "https://@example.com", "https://example.com#x",
        "https://example.com/#", "https://example.com/a#b", "https://good.example@evil.example/", "https://a:b@[::1]/",
        // Hosts
        "https://", "https:///path", "https://?x", "https://:443", "https://example..com", "https://.example.com",
        "https://example.com.", "https://-a.example", "https://a-.example", "https://a_b.example", "https://exa mple.com",
        "https://bücher.example", "https://ｅxample.com", "https://example.com\\@evil.example", "https://example.com\\x",
        "https://example%2ecom", "https://example.com\r\nHost: evil", "https://example.com\u{200B}", "https://\u{202E}moc",
        // Numbers that a resolver takes for addresses
        "https://127.1", "https://2130706433", "https://0x7f000001", "https://0x7f.0.0.1", "https://0177.0.0.1",
        "https://10.0.0.256",
        "https://1.2.3.4.5", "https://1.2.3", "https://example.1", "https://127.0.0.01/", "https://127.0.0.0X1",
        // Brackets
        "https://[]", "https://[::1", "https://::1]", "https://[10.0.0.1]", "https://[fe80::1%25eth0]", "https://[example.com]",
        "https://[::1]x", "https://[::1]:", "https://[v1.a]", "https://::1", "https://[[::1]]", "https://[:::]",
        // Ports
        "https://example.com:", "https://example.com:0", "https://example.com:65536", "https://example.com:+1",
        "https://example.com:-1", "https://example.com:080", "https://example.com:4 4", "https://example.com:１",
        "https://example.com:80:80", "https://example.com:99999999999999999999",
        // Targets
        "https://example.com/a b", "https://example.com/\t", "https://example.com/a\nb", "https://example.com/ä",
        "https://example.com/%", "https://example.com/%4", "https://example.com/%zz", "https://example.com/<x>",
        "https://example.com/\"", "https://example.com/[x]", "https://example.com/{x}", "https://example.com/a|b",
        "https://example.com/\u{7F}", "https://example.com/\u{0}", "https://example.com/^", "https://example.com/`",
    ])
    func anotherTextIsNoAddress(_ text: String) {
        #expect(ReceiverURL(text) == nil)
    }

    @Test func lengthsHaveLimits() {
        let path = String(repeating: "a", count: ReceiverURL.maximumByteCount - 14)
        #expect(ReceiverURL("https://a.com/" + path) != nil)
        #expect(ReceiverURL("https://a.com/a" + path) == nil)
        let label = String(repeating: "a", count: 63)
        #expect(ReceiverURL("https://\(label).com") != nil)
        #expect(ReceiverURL("https://a\(label).com") == nil)
        #expect(ReceiverURL("https://\(label).\(label).\(label).\(label)") == nil)
    }

    /// Whatever is taken can be written into the head of a request and names the same address when it is read again.
    @Test func whatIsTakenOfRandomTextsIsSafe() {
        var random = SeededRandom(69)
        let pieces = [
            "https", "http", "://", "/", "?", "#", "@", ":", "[", "]", "::1", "a.example", "10.0.0.1", ".", "-", "%41", "%", "é",
            " ", "\r\n", "\\", "443", "0", "x",
        ]
        var taken = 0
        for _ in 0..<20_000 {
            let tail = (0..<random.below(8)).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            let text = (random.below(4) > 0 ? "https://a.example" : "") + tail
            guard let url = ReceiverURL(text) else { continue }
            taken += 1
            #expect((url.authority + url.target).utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(text)")
            #expect(url.target.hasPrefix("/") && !url.target.contains("#") && !url.host.isEmpty && !url.host.contains("@"))
            #expect(ReceiverURL("\(url)" + url.target) == url, "\(text)")
        }
        #expect(taken > 1000)
    }
}
