import Testing

@testable import CurlHTTP

@Suite struct ProxyExemptionsTests {
    static let lists: [(list: String, host: String, isExempt: Bool)] = [
        // Names, and what is below them.
        ("a.example", "a.example", true), ("A.Example", "a.eXAMPLE", true), (".a.example", "a.example", true),
        ("a.example", "x.a.example", true), (".a.example", "x.a.example", true), ("a.example", "xa.example", false),
        ("x.a.example", "a.example", false), ("a.example.", "a.example", true), ("a.example", "a.example.", true),
        ("..a.example", "x.a.example", false), (".", "a.example", false), ("localhost", "localhost", true),
        // A port is no part of a name, and a star no part of a list.
        ("a.example:80", "a.example", false), ("a.example:443", "a.example", false), ("*", "a.example", true),
        ("*", "10.0.0.1", true), ("*,b", "a.example", false), (" *", "a.example", false), ("b,*", "a.example", false),
        ("*.example", "a.example", false),
        // Lists.
        ("", "a.example", false), ("b,a.example", "a.example", true), ("b a.example", "a.example", true),
        ("b , a.example", "a.example", true), (",,a.example", "a.example", true), ("b\ta.example", "a.example", true),
        ("b;a.example", "a.example", false), ("b\na.example", "a.example", false),
        // Addresses and ranges of IPv4.
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("10.0.0.1:80", "10.0.0.1", false),
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false), ("10.0.0.0/9", "10.127.2.3", true),
        ("10.0.0.0/9", "10.128.2.3", false), ("10.1.2.3/32", "10.1.2.3", true), ("10.1.2.3/32", "10.1.2.2", false),
        ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/-1", "10.0.0.0", false), ("0.0.0.0/0", "10.1.2.3", false),
        ("10.1.2.3/0", "10.1.2.3", true), ("b,192.168.0.0/16", "192.168.255.1", true), ("0.0.1", "10.0.0.1", false),
        (".0.0.1", "10.0.0.1", false), ("010.0.0.1", "10.0.0.1", false), ("10.0.0.0/8", "a.example", false),
        ("10.0.0.0/8", "10.1.2.3.", false), ("::ffff:10.0.0.1", "10.0.0.1", false),
        // Addresses of IPv6, written in one way.
        ("::1", "::1", true), ("b,fd00::5", "fd00::5", true), ("fd00::5", "fd00::6", false), ("[::1]", "::1", false),
        ("10.0.0.0/8", "::ffff:10.0.0.1", false),
    ]

    /// libcurl 7.88 compares addresses of IPv6 as texts, against its own pages.
    static let longRanges: [(list: String, host: String, isExempt: Bool)] = [
        ("0:0:0:0:0:0:0:1", "::1", true), ("FD00::5", "fd00::5", true), ("fd00::/8", "fd12:3::1", true),
        ("fd00::/8", "fc12:3::1", false), ("fd00::/7", "fc12:3::1", true), ("fd10::/12", "fd1f::1", true),
        ("fd10::/12", "fd2f::1", false), ("fd02::1/128", "fd02::1", true), ("fd02::1/128", "fd02::2", false),
        ("fd02::1/127", "fd02::", true), ("fd02::1/129", "fd02::1", false), ("fd02::1/0", "fd02::2", false),
        ("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", true), ("::/1", "7fff::", true), ("::/1", "8000::", false),
    ]

    @Test(arguments: lists + longRanges) func aListExemptsNamesAddressesAndRanges(list: String, host: String, isExempt: Bool) {
        #expect(ProxyExemptions(list).contain(host) == isExempt)
    }

    @Test(arguments: lists) func libcurlExemptsTheSame(list: String, host: String, isExempt: Bool) throws {
        let bare = host.contains(":") ? "[\(host)]" : host
        let used = try CurlCommand.proxy(for: "http://\(bare)/", ["http_proxy": "nosuch://p", "no_proxy": list])
        #expect((used == nil) == isExempt)
    }
}
