@testable import GatewayAPI
import Basics
import HTTPServing
import Testing

@Suite struct TrustedProxiesTests {
    static let trusted = ["127.0.0.1", "10.1.0.0/16", "fd00::/8", "::ffff:192.0.2.0/120", "2001:db8::1"]

    /// The peer, its `X-Forwarded-For`, and the client.
    static let rows: [(peer: String, fields: [String], client: String?)] = [
        ("127.0.0.1:5000", [], "127.0.0.1"), ("127.0.0.1:5000", ["203.0.113.9"], "203.0.113.9"),
        // Only what trusted proxies wrote counts.
        ("203.0.113.1:5000", ["198.51.100.1"], "203.0.113.1"), ("[2001:db8::2]:5000", ["198.51.100.1"], "2001:db8::2"),
        ("127.0.0.1:1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1:1", ["198.51.100.1,203.0.113.9,10.1.2.3"], "203.0.113.9"),
        ("127.0.0.1:1", ["198.51.100.1", "203.0.113.9", "10.1.2.3, 192.0.2.7"], "203.0.113.9"),
        ("10.1.255.255:1", ["203.0.113.9"], "203.0.113.9"), ("10.2.0.0:1", ["203.0.113.9"], "10.2.0.0"),
        ("[fdff::1]:1", ["2001:db8::9"], "2001:db8::9"), ("[2001:db8::1]:1", ["203.0.113.9"], "203.0.113.9"),
        ("[::ffff:127.0.0.1]:1", ["::ffff:203.0.113.9"], "203.0.113.9"), ("192.0.3.1:1", ["203.0.113.9"], "192.0.3.1"),
        // All are trusted: the first of them is the client.
        ("127.0.0.1:1", ["10.1.0.1, 10.1.0.2"], "10.1.0.1"),
        // A mark in front of a comma is one character with it, and a mark behind it, too.
        ("127.0.0.1:1", ["198.51.100.1\u{600}, 203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1:1", ["198.51.100.1\u{600}", "203.0.113.9"], "203.0.113.9"),
        ("127.0.0.1:1", ["203.0.113.9,\u{301}, 10.1.0.7"], "10.1.0.7"),
        // Ports and blanks.
        ("127.0.0.1:1", ["203.0.113.9:4711"], "203.0.113.9"), ("127.0.0.1:1", ["[2001:db8::9]:4711"], "2001:db8::9"),
        ("127.0.0.1:1", ["[2001:db8::9]"], "2001:db8::9"), ("127.0.0.1:1", ["x, \t 203.0.113.9 \t"], "203.0.113.9"),
        // What is no address is nobody's: who wrote it counts.
        ("127.0.0.1:1", [""], "127.0.0.1"), ("127.0.0.1:1", ["unknown"], "127.0.0.1"),
        ("127.0.0.1:1", ["203.0.113.9,"], "127.0.0.1"),
        ("127.0.0.1:1", ["203.0.113.9, _hidden"], "127.0.0.1"), ("127.0.0.1:1", ["203.0.113.9, x, 10.1.0.7"], "10.1.0.7"),
        ("127.0.0.1:1", ["203.0.113.9:99999"], "127.0.0.1"), ("127.0.0.1:1", ["203.0.113.9:"], "127.0.0.1"),
        ("127.0.0.1:1", ["203.0.113.9:+1"], "127.0.0.1"), ("127.0.0.1:1", ["[203.0.113.9]:1"], "127.0.0.1"),
        ("127.0.0.1:1", ["[2001:db8::9"], "127.0.0.1"), ("127.0.0.1:1", ["[2001:db8::9]x"], "127.0.0.1"),
        ("127.0.0.1:1", ["fe80::1%eth0"], "127.0.0.1"), ("127.0.0.1:1", ["\"203.0.113.9\""], "127.0.0.1"),
        ("127.0.0.1:1", ["203.0.113.09"], "127.0.0.1"), ("127.0.0.1:1", ["for=203.0.113.9"], "127.0.0.1"),
        (":0", ["203.0.113.9"], nil), ("", [], nil),
    ]

    @Test(arguments: rows) func theClientIsTheLastOneThatIsNotTrusted(peer: String, fields: [String], client: String?) throws {
        var headers = HTTPFields()
        for (index, value) in fields.enumerated() {
            headers.append(index == 0 ? "X-Forwarded-For" : "x-forwarded-for", value: value)
        }
        headers.append("Forwarded", value: "for=198.51.100.77")
        let request = HTTPServerRequest(method: "GET", target: "/", headers: headers, remoteAddress: peer)
        #expect(try TrustedProxies(Self.trusted).client(of: request) == client.flatMap { NumericAddress($0) })
        let expected = NumericAddress(peer.split(separator: ":").first ?? "")
        if let expected { #expect(TrustedProxies().client(of: request) == expected, "nobody is trusted") }
    }

    @Test(arguments: ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/+8", "", "::/129"])
    func whatIsNoAddressIsNamed(text: String) {
        #expect(throws: GatewayFailure.configuration("gateway.trust_proxy: '\(text)' is no address and no range of them")) {
            try TrustedProxies(["10.0.0.1", text])
        }
    }
}
