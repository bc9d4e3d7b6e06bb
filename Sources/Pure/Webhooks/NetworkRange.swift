public import Basics

/// A network as CIDR writes it: `10.1.0.0/16`, `fd00::/8`, or one address.
public struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    /// The range as it was written.
    public let description: String
    private let network: NumericAddress
    private let bitCount: Int

    /// Reads a network. Nil for anything else, and for one with a bit behind its length.
    public init?(_ cidr: String) {
        let parts = cidr.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = NumericAddress(parts[0]) else { return nil }
        var bitCount = address.width
        if parts.count == 2 {
            let isNumber = parts[1] == "0" || parts[1].first != "0" && parts[1].utf8.allSatisfy(\.isDigit)
            guard isNumber, let number = Int(parts[1]), number <= address.width else { return nil }
            bitCount = number
        }
        guard address.network(ofBits: bitCount) == address else { return nil }
        (description, network, self.bitCount) = (cidr, address, bitCount)
    }

    /// True if an address is in the network.
    public func contains(_ address: NumericAddress) -> Bool { network.agrees(with: address, inFirst: bitCount) }
}
