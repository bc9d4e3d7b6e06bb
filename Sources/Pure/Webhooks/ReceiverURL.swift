public import Basics

/// An address of a receiver. Its description leaves out path and query, which may hold what only the receiver should know.
public struct ReceiverURL: Sendable, Hashable, Concealed {
    /// The longest address, in bytes.
    public static let maximumByteCount = 2048

    /// True for https.
    public let isSecure: Bool
    /// The host: a name in small letters, or an address without brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// Path and query.
    public let target: String

    /// An address of these parts.
    public init(isSecure: Bool, host: String, port: UInt16, target: String) {
        (self.isSecure, self.host, self.port, self.target) = (isSecure, host, port, target)
    }

    /// Reads `http://` or `https://`, a host in ASCII, perhaps a port, and path and query (RFC 3986). Nil for anything else: a name or a
    /// password in it, a fragment, a number that is no address of four decimal numbers, or a byte that a URL escapes.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount, let mark = text.firstRange(of: "://") else { return nil }
        switch text[..<mark.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard Self.isTarget(rest[end...].utf8), let parts = Self.parts(of: rest[..<end]) else { return nil }
        target = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
        host = parts.host
        port = parts.port ?? (isSecure ? 443 : 80)
    }

    /// Host and port as a request's field `Host` has them: with brackets around an IPv6 address, without the port that the scheme has.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Scheme, host and port.
    public var description: String { "\(isSecure ? "https" : "http")://\(authority)" }

    private static func parts(of authority: Substring) -> (host: String, port: UInt16?)? {
        var (host, port) = (authority, UInt16?.none)
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy(\.isDigit), digits.first != "0", let number = UInt16(digits) else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard NumericAddress(host)?.width == 128 else { return nil }
        } else {
            guard isName(host) else { return nil }
        }
        return (host.lowercased(), port)
    }

    /// A name of labels (RFC 1123, section 2.1), or an IPv4 address. What ends with a number is an address or nothing, for a system's
    /// resolver takes `127.1` and `0x7f000001` for one.
    private static func isName(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
                && label.first != "-" && label.last != "-"
        }
        guard host.utf8.count <= 253, areLabels, let last = labels.last else { return false }
        let isNumber = last.utf8.allSatisfy(\.isDigit) || last.lowercased().hasPrefix("0x")
        return !isNumber || NumericAddress(host)?.width == 32
    }

    /// The characters of a path and a query (RFC 3986, sections 3.3 and 3.4), with each `%` before two digits.
    private static func isTarget(_ text: Substring.UTF8View) -> Bool {
        text.allSatisfy { $0.isUnreserved || "!$&'()*+,;=:@/?%".utf8.contains($0) }
            && PercentEncoding.decode(Array(text)[...], plusIsBlank: false) != nil
    }
}
