import Basics
import Testing
import Webhooks

/// The addresses that callbacks go to, and those that they never go to.
struct AddressGuardTests {
    private static func bytes(_ text: String) throws -> [UInt8] {
        let address = try #require(NumericAddress(text))
        return stride(from: 0, to: address.width, by: 8).map { place in
            (0..<8).reduce(UInt8(0)) { byte, bit in
                // The one bit at this place, by whether the address agrees with that of its first bits.
                let isSet = address.network(ofBits: place + bit + 1) != address.network(ofBits: place + bit)
                return byte << 1 | (isSet ? 1 : 0)
            }
        }
    }

    private static let closed = [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
        "127.0.0.0",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "168.63.129.16", "172.16.0.0",
        "172.31.255.255", "192.0.0.0", "192.0.0.192", "192.0.0.255", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
        "192.168.0.0", "192.168.255.255", "192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.255",
        "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255",
        // IPv6
        "::", "::1", "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b:1::1", "64:ff9b:1::8.8.8.8", "100::",
        "100::1", "100:0:0:1::1", "200::1", "2001::", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1",
        "2001:10::1",
        "2001:20::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1",
        "4000::1",
        "5f00::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff00::1", "ff02::1",
        "ffff::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        // IPv4 within IPv6
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "64:ff9b::127.0.0.1",
        "64:ff9b::169.254.169.254", "64:ff9b::192.168.1.1", "2002:7f00:1::1", "2002:a00:1::", "2002:a9fe:a9fe::1",
        "2002:c0a8:101::c0a8:101", "2002::1",
    ]

    @Test(arguments: closed) func anAddressInsideIsRefused(_ text: String) throws {
        #expect(AddressGuard(allowed: []).refuses(try Self.bytes(text)))
    }

    private static let open = [
        "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.114.0", "223.255.255.255",
        "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2400:cb00::1", "2603:1030::1",
        "2606:4700::1111", "2a00:1450::1", "3ffe::1", "3fff:1000::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    ]

    @Test(arguments: open) func anAddressOfTheOpenInternetIsCalled(_ text: String) throws {
        #expect(!AddressGuard(allowed: []).refuses(try Self.bytes(text)))
    }

    @Test(arguments: [0, 1, 3, 5, 8, 15, 17, 32]) func aNumberOfBytesThatNoAddressHasIsRefused(_ count: Int) {
        #expect(AddressGuard(allowed: []).refuses([UInt8](repeating: 8, count: count)))
    }

    @Test(
        arguments: [
            ("10.1.0.0/16", "10.1.2.3", "10.2.0.0"), ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("10.1.0.0/16", "::ffff:10.1.2.3", "::ffff:10.2.0.0"),
            ("10.1.0.0/16", "64:ff9b::10.1.2.3", "64:ff9b::10.2.0.0"), ("::ffff:10.1.0.0/112", "::ffff:10.1.2.3", "10.1.2.3"),
            ("fd00::/8", "fd12::1", "fc00::1"), ("::1/128", "::1", "::2"), ("0.0.0.0/0", "127.0.0.1", "::1"),
            ("::/0", "fe80::1", "10.0.0.1"),
        ] as [(String, String, String)])
    func anAllowedNetworkOpensWhatIsInItAndNothingElse(_ network: String, _ inside: String, _ outside: String) throws {
        let rule = AddressGuard(allowed: [try #require(NetworkRange(network))])
        #expect(try !rule.refuses(Self.bytes(inside)))
        #expect(try rule.refuses(Self.bytes(outside)))
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
        "10.1/16",
        "10.1.2.3/16", "10.0.0.0/255.0.0.0", "::/129", "fd00::1/8", "[::1]", "fe80::1%eth0", "localhost", "example.com/8",
        "10.0.0.0/８",
        "10.0.0.0/99999999999999999999",
    ])
    func anotherTextIsNoNetwork(_ text: String) {
        #expect(NetworkRange(text) == nil)
    }

    @Test func aNetworkIsShownAsItWasWritten() throws {
        #expect("\(try #require(NetworkRange("FD00::/8")))" == "FD00::/8")
    }
}
