import Basics

/// Host and port of a URL (RFC 3986 section 3.2), without user information.
struct EndpointAuthority {
    /// The host in lower case. An IPv6 address has its brackets.
    let host: String
    let port: Int?

    /// Reads `host`, `host:port`, `[address]` or `[address]:port`: what stands between `//` and the next `/`.
    init(parsing text: ArraySlice<UInt8>) throws(HubAuthError) {
        guard !text.contains(UInt8(ascii: "@")) else { throw .endpoint(.userInfo) }
        let isBracketed = text.first == UInt8(ascii: "[")
        var rest = text
        var name: [UInt8] = []
        if isBracketed {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else { throw .endpoint(.host) }
            name = text[...close].lowercased
            rest = text[(close + 1)...]
        } else {
            name = text.prefix { $0 != UInt8(ascii: ":") }.lowercased
            rest = text.dropFirst(name.count)
        }
        guard !name.isEmpty else { throw .endpoint(.noHost) }
        guard isBracketed ? Self.isIPv6(name) : Self.isName(name) else { throw .endpoint(.host) }
        host = name.text
        port = try Self.port(rest)
    }

    private static func port(_ rest: ArraySlice<UInt8>) throws(HubAuthError) -> Int? {
        guard let colon = rest.first else { return nil }
        guard colon == UInt8(ascii: ":") else { throw .endpoint(.host) }
        let digits = rest.dropFirst()
        guard digits.count <= 5, digits.allSatisfy(\.isDigit), let port = Int(digits.text), (1...65535).contains(port)
        else { throw .endpoint(.port) }
        return port
    }

    private static func isName(_ host: [UInt8]) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isAllowed = { (byte: UInt8) in byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") }
        return host.count <= 253 && labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(isAllowed) }
    }

    /// Checks the alphabet and length of an IPv6 address. Whether it names a host is the connection's to find out.
    private static func isIPv6(_ host: [UInt8]) -> Bool {
        let inner = host.dropFirst().dropLast()
        return (2...45).contains(inner.count) && inner.contains(UInt8(ascii: ":"))
            && inner.allSatisfy { $0.isDigit || "abcdef:.".utf8.contains($0) }
    }
}
