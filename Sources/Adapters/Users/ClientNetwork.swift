public import Basics

/// The network that has to answer for a sign-in that fails: an IPv4 address, or the 64 bits of an IPv6 network, whose hosts are
/// often one machine's.
public struct ClientNetwork: Hashable, Sendable {
    private let network: NumericAddress?

    /// The network of a client. All whose address is not known are one.
    public init(_ address: NumericAddress?) {
        network = address.map { $0.unmapped.network(ofBits: 64) }
    }
}

extension ClientNetwork: Concealed {
    /// Says what it is. Whose it is belongs into no log.
    public var description: String { "ClientNetwork(redacted)" }
}
