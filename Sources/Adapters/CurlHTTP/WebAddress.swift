import Basics

/// The parts of an absolute URI that a connection and a request need.
public struct WebAddress: Hashable, Sendable {
    /// The scheme, which decides if it is secured.
    public let scheme: ConnectionPoolConfiguration.Scheme
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public let host: String
    /// TCP port.
    public let port: UInt16
    /// Host and port as the URI writes them.
    public let authority: String
    /// Path and query.
    public let target: String

    /// True if the host is this machine by its spelling alone.
    public var isLoopback: Bool { host == "localhost" || NumericAddress(host)?.isLoopback == true }

    /// Reads an absolute URI. Nil for one with a name and password, without a host, or of another scheme.
    public init?(_ uri: String) {
        guard let mark = uri.firstRange(of: "://"),
            let scheme = ConnectionPoolConfiguration.Scheme(rawValue: String(uri[..<mark.lowerBound]))
        else { return nil }
        let rest = uri[mark.upperBound...].prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { return nil }
        var host = authority
        var port = scheme.defaultPort
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = String(host)
        self.port = port
        self.authority = String(authority)
        target = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
    }
}
