public import Basics

/// The rule about addresses that no callback goes to, because they are not of the open internet: those of this machine, of networks behind
/// it, and of none at all (IANA's registries of special IPv4 and IPv6 addresses).
public struct AddressGuard: Sendable {
    private static let closedIPv4 = ranges([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
        // The metadata of most clouds is among the link-local ones. Azure's own services for a machine have an address elsewhere.
        "169.254.0.0/16", "168.63.129.16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
        "240.0.0.0/4",
    ])
    /// The range of which IPv6 addresses for the open internet are given out. Outside are loopback, unique local, link-local and multicast.
    private static let openIPv6 = ranges(["2000::/3"])
    private static let closedIPv6 = ranges(["2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"])
    /// The networks whose addresses stand for an IPv4 address behind so many bits: mapped, translated (NAT64) and tunnelled (6to4).
    private static let carriers = [("::ffff:0:0/96", 96), ("64:ff9b::/96", 96), ("2002::/16", 16)].compactMap { text, count in
        NetworkRange(text).map { (network: $0, bitCount: count) }
    }

    private let allowed: [NetworkRange]

    /// A rule with networks that may be called all the same.
    public init(allowed: [NetworkRange]) { self.allowed = allowed }

    /// Says whether no callback may go to an address.
    ///
    /// - Parameter address: Its 4 or 16 bytes, the most significant first. Any other number is refused.
    /// - Returns: True for one that is not called.
    public func refuses(_ address: [UInt8]) -> Bool {
        NumericAddress(bytes: address).map(refuses) ?? true
    }

    /// Says whether no callback may go to an address.
    public func refuses(_ address: NumericAddress) -> Bool {
        let carrier = Self.carriers.first { $0.network.contains(address) }
        let inner = carrier.flatMap { address.embedded(behind: $0.bitCount) } ?? address
        if allowed.contains(where: { $0.contains(address) || $0.contains(inner) }) { return false }
        if inner.width == 32 { return Self.closedIPv4.contains { $0.contains(inner) } }
        return !Self.openIPv6.contains { $0.contains(inner) } || Self.closedIPv6.contains { $0.contains(inner) }
    }

    private static func ranges(_ texts: [String]) -> [NetworkRange] { texts.compactMap(NetworkRange.init) }
}
