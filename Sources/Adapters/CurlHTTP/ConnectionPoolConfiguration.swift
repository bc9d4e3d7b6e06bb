public import Basics
public import HTTP1

/// The destination of a pool's connections, and their lifetime.
public struct ConnectionPoolConfiguration: Hashable, Sendable {
    /// The scheme, which decides if the connection is secured.
    public enum Scheme: String, Hashable, Sendable {
        /// TLS.
        case https
        /// Plain text, for a peer on the same machine.
        case http

        /// The port that a URL of this scheme need not name.
        public var defaultPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// A setting that cannot work.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The property's name, or that of a variable of the environment.
        public let setting: String
        /// The description of what is allowed.
        public let expectation: String

        /// The setting and what is allowed.
        public var description: String { "\(setting): \(expectation)" }
    }

    /// TLS or not.
    public var scheme: Scheme
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// TCP port.
    public var port: UInt16
    /// Connections at one time, 1...10,000. Default 64.
    public var maxConnections = 64
    /// Time for name, proxy, TCP and TLS together, 1 ms...10 min. Default 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// An unused connection is closed after this. Default 90 s, below Azure's 4 min for idle flows.
    public var idleTimeout = Duration.seconds(90)
    /// A connection takes no new request after this, so that a change of the host's addresses is followed. Each does so at an age
    /// of its own in the last quarter, so that not all are opened again at once. Default 15 min.
    public var maximumAge = Duration.seconds(900)
    /// True if certificate and name are verified, those of an HTTPS proxy too. Default true. False is for trials only.
    public var verifyPeer = true
    /// PEM file of the issuers to trust instead of the system's, for the host and an HTTPS proxy.
    public var caFile: String?
    /// URL of a proxy. Nil leaves it to `environment`, empty means none. `no_proxy` exempts from both.
    public var proxy: String?
    /// Addresses to use instead of looking the name up, for tests of what happens when there are several.
    package var addresses: [String] = []
    /// The variables in which to look for `https_proxy`, `all_proxy`, `no_proxy` and the like. Never the process's own
    /// environment by itself, so that what only ever calls this machine needs no exemption. Default none.
    package var environment: [String: String] = [:]
    /// Limits on each answer.
    public var limits = AnswerLimits()
    /// True if an answer with a body above the limit is one without a body, instead of a failure. Its connection is closed all the same.
    /// Default false.
    public var dropsLargeBodies = false
    private var rule: AddressRule?

    /// The rule that says of an address, as 4 or 16 bytes, that it is not called. It is asked about each address right before a
    /// connection to it, and no byte goes to one that it refuses. With a rule no proxy is used, for a proxy would look the name up itself.
    /// Default none.
    public var refuses: (@Sendable ([UInt8]) -> Bool)? {
        get { rule?.refuses }
        set { rule = newValue.map(AddressRule.init) }
    }

    /// Settings for an endpoint, all others at their defaults.
    public init(scheme: Scheme, host: String, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// The problems that keep it from working. Empty when all is well.
    public func validate() -> [Problem] {
        var problems: [Problem] = []
        func expect(_ condition: Bool, of setting: String, toBe expectation: String) {
            if !condition { problems.append(Problem(setting: setting, expectation: expectation)) }
        }
        expect(
            !host.isEmpty && host.utf8.count <= 255 && host.utf8.allSatisfy(Self.isHostByte), of: "host",
            toBe: "a name or an address")
        expect(port > 0, of: "port", toBe: "1...65535")
        expect((1...10_000).contains(maxConnections), of: "maxConnections", toBe: "1...10000")
        expect(connectTimeout >= .milliseconds(1) && connectTimeout <= .seconds(600), of: "connectTimeout", toBe: "1 ms...10 min")
        expect(idleTimeout > .zero, of: "idleTimeout", toBe: "more than 0")
        expect(maximumAge > .zero, of: "maximumAge", toBe: "more than 0")
        expect(
            limits.headByteCount >= 64 && limits.bodyByteCount >= 0 && limits.chunkLineByteCount >= 3, of: "limits",
            toBe: "sizes above 0")
        return problems
    }

    /// The proxy that connections go through.
    ///
    /// - Returns: The proxy and where it is from.
    /// - Throws: `Problem` for a proxy whose URL cannot be read.
    public func proxyChoice() throws(Problem) -> ProxyChoice {
        try ProxyChoice(setting: refuses == nil ? proxy : "", scheme: scheme, host: host) { environment[$0] }
    }

    /// `host:port`, with brackets around an IPv6 address.
    public var authority: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._:".utf8.contains(byte)
    }
}

/// A rule about addresses, which is equal to itself alone.
private final class AddressRule: Hashable, Sendable {
    let refuses: @Sendable ([UInt8]) -> Bool

    init(_ refuses: @escaping @Sendable ([UInt8]) -> Bool) { self.refuses = refuses }

    static func == (left: AddressRule, right: AddressRule) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ConnectionPoolConfiguration: Concealed {
    /// Scheme, host and port, but never the login of a proxy.
    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
