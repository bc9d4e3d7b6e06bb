import Basics

/// The address at which a namespace answers: scheme, host, port and path prefix of every request to it.
public struct HubEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// The way a connection is made.
    public enum Scheme: String, Sendable {
        /// Over TLS. `sb` in a connection string means this too.
        case https
        /// In the clear, accepted for this machine only, for the emulator.
        case http
    }

    /// `https`, or `http` for a loopback host.
    public let scheme: Scheme
    /// DNS name or address in lower case. An IPv6 address has its brackets.
    public let host: String
    /// The port that was given, 1…65535. Nil means the scheme's own.
    public let port: Int?
    /// Path before the hub's name. Begins and ends with `/`, and is `/` when none was given.
    public let pathPrefix: String

    /// Reads the value of a connection string's `Endpoint`.
    ///
    /// - Parameter text: `sb://`, `https://` or `http://`, a host, an optional port and an optional path.
    /// - Throws: `HubAuthError.endpoint`.
    public init(parsing text: String) throws(HubAuthError) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { throw .endpoint(.character) }
        guard !bytes.contains(UInt8(ascii: "?")) else { throw .endpoint(.query) }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .endpoint(.fragment) }
        guard let (word, slashes) = bytes[...].split(atFirst: UInt8(ascii: ":")), slashes.starts(with: "//".utf8)
        else { throw .endpoint(.scheme) }
        switch word.lowercased.text {
        case "sb", "https": scheme = .https
        case "http": scheme = .http
        default: throw .endpoint(.scheme)
        }
        let rest = slashes.dropFirst(2)
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let authority = try EndpointAuthority(parsing: rest[..<slash])
        host = authority.host
        port = authority.port
        pathPrefix = try Self.prefix(rest[slash...])
        guard scheme == .https || isLoopback else { throw .endpoint(.plainHTTP) }
    }

    /// Host, and port where one was given: the value of a `Host` header.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The port to connect to: the given one, else 443 or 80.
    public var effectivePort: Int { port ?? (scheme == .https ? 443 : 80) }

    /// Scheme, authority and prefix. Ends in exactly one `/`, ready for the hub's name.
    public var baseURL: String { "\(scheme.rawValue)://\(authority)\(pathPrefix)" }

    /// True if the host is this machine by its spelling alone: `localhost`, 127.0.0.0/8 or `[::1]`.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let octets = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0].elementsEqual("127".utf8)
            && octets.allSatisfy { $0.count <= 3 && $0.allSatisfy(\.isDigit) && UInt8($0.text) != nil }
    }

    /// The URI that a token for one hub is signed for: scheme `http`, no port, lower case, one `/` at the end.
    ///
    /// The .NET SDK's form, widened from the resource to its hub so that one token serves every call.
    ///
    /// - Parameter hub: The hub.
    /// - Returns: For example `http://contoso.servicebus.windows.net/newshub/`.
    public func audience(of hub: HubName) -> String {
        "http://\(host)\(pathPrefix)\(hub.text)/".utf8.lowercased.text
    }

    /// The base URL.
    public var description: String { baseURL }

    private static func prefix(_ path: ArraySlice<UInt8>) throws(HubAuthError) -> String {
        var path = path
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        guard !path.isEmpty else { return "/" }
        guard path.allSatisfy({ $0.isLetterOrDigit || "-._~!$&'()*+,=:@%/".utf8.contains($0) })
        else { throw .endpoint(.character) }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.allSatisfy({ !$0.isEmpty && $0 != [0x2E] && $0 != [0x2E, 0x2E] }) else { throw .endpoint(.path) }
        return path.text + "/"
    }
}
