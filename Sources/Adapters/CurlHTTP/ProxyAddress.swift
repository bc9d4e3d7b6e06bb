public import Basics

/// The place of a proxy and the way to reach it, as libcurl reads its URL (CURLOPT_PROXY(3)).
///
/// The login of the URL is in no description of it.
public struct ProxyAddress: Hashable, Sendable {
    /// The way the proxy is spoken to.
    public enum Scheme: String, Hashable, Sendable {
        /// CONNECT in plain text.
        case http
        /// CONNECT within TLS.
        case https
        /// SOCKS 4. Names are looked up here.
        case socks4
        /// SOCKS 4 with names that the proxy looks up.
        case socks4a
        /// SOCKS 5. Names are looked up here.
        case socks5
        /// SOCKS 5 with names that the proxy looks up.
        case socks5h

        /// The port that a URL of this scheme need not name: libcurl's own, not those of the web.
        var defaultPort: UInt16 { self == .https ? 443 : 1080 }

        init?(named name: String) {
            guard let scheme = Scheme(rawValue: name == "socks" ? "socks4" : name) else { return nil }
            self = scheme
        }
    }

    /// The way it is spoken to, which is `http` where the URL does not say.
    public let scheme: Scheme
    /// Host and port, with brackets around an IPv6 address.
    public let authority: String
    /// Name and password as the URL writes them, with `%` before the hexadecimal digits of a byte. A secret.
    private let login: String?

    /// Reads a proxy's URL. Nil for what libcurl refuses, and for a login with a bare `/`, `?`, `#` or `@`, which it reads
    /// otherwise.
    ///
    /// - Parameter text: `[scheme://][name[:password]@]host[:port][/]`; path, query and fragment mean nothing.
    public init?(_ text: String) {
        var rest = text[...]
        var scheme = Scheme.http
        if let mark = text.firstRange(of: "://") {
            guard let named = Scheme(named: text[..<mark.lowerBound].lowercased()) else { return nil }
            (scheme, rest) = (named, text[mark.upperBound...])
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let parts = rest[..<end].split(separator: "@", omittingEmptySubsequences: false)
        guard !rest[end...].contains("@"), parts.count <= 2, let place = parts.last else { return nil }
        guard let authority = Self.authority(place, defaultPort: scheme.defaultPort) else { return nil }
        let login = parts.count == 2 ? String(parts[0]) : nil
        guard login.map(Self.isLogin) ?? true else { return nil }
        (self.scheme, self.authority, self.login) = (scheme, authority, login)
    }

    /// True if the proxy is itself reached over TLS, so that what is on the socket is the proxy's.
    public var isSecure: Bool { scheme == .https }

    /// The URL for libcurl, with the login: a secret.
    var url: String { "\(scheme.rawValue)://\(login.map { "\($0)@" } ?? "")\(authority)" }

    /// A text of libcurl without the login.
    func redacting(_ text: String) -> String {
        guard let login, !login.isEmpty else { return text }
        return text.replacing("\(login)@", with: "")
    }

    /// Host and port with the port written out, or nil when they are none.
    private static func authority(_ text: Substring, defaultPort: UInt16) -> String? {
        var (host, port) = (text, defaultPort)
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            (host, port) = (text[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard NumericAddress(host.dropFirst().dropLast())?.width == 128 else { return nil }
        } else {
            guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy(isNameByte) else { return nil }
        }
        return "\(host):\(port)"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: ":") && ConnectionPoolConfiguration.isHostByte(byte)
    }

    /// True if it has no control character and no blank, be it behind a `%`.
    private static func isLogin(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            let bytes = PercentEncoding.decode(Array(text.utf8)[...], plusIsBlank: false)
        else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension ProxyAddress: Concealed {
    /// Scheme, host and port, but never the login.
    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
