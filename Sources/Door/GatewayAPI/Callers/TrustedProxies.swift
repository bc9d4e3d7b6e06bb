package import Basics
package import HTTPServing

/// The proxies that are believed about where a request comes from.
///
/// Each proxy adds the address of its own client at the end of `X-Forwarded-For`. So the list is read from its end as long as those
/// who wrote it are trusted, and what a stranger wrote before that counts for nothing.
package struct TrustedProxies: Sendable {
    private struct Range: Sendable {
        let start: NumericAddress
        let bitCount: Int
    }

    private let ranges: [Range]

    package init() { ranges = [] }

    /// Reads addresses, and ranges of them (RFC 4632, section 3.1), and fails where one is neither.
    package init(_ texts: [String]) throws(GatewayFailure) {
        var ranges: [Range] = []
        for text in texts {
            guard let range = Self.range(text) else {
                throw GatewayFailure.configuration("gateway.trust_proxy: '\(text)' is no address and no range of them")
            }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// The client's address.
    ///
    /// - Parameter request: Its peer is the client, unless that is a trusted proxy. The client is then the last address in
    ///   `X-Forwarded-For` that is not trusted, or the first of all where each is. What is no address ends the reading: the trusted
    ///   proxy that wrote it counts as the client.
    /// - Returns: The address; nil where even the peer has none.
    package func client(of request: HTTPServerRequest) -> NumericAddress? {
        guard var client = Self.address(request.remoteAddress[...]) else { return nil }
        guard contains(client) else { return client }
        let list = request.headers.list("X-Forwarded-For") ?? ""
        for entry in list.byteParts(between: ",").reversed() {
            guard let address = Self.address(entry.withoutBlanks[...]) else { return client }
            client = address
            guard contains(client) else { return client }
        }
        return client
    }

    /// True if a call came over TLS as far as a browser can know: to the gateway itself, or to a proxy in front. In clear text nothing but
    /// this machine calls, unless a trusted proxy here says that its client came over TLS (`X-Forwarded-Proto`).
    package func hasSecureScheme(_ request: HTTPServerRequest) -> Bool {
        guard !request.isSecure, let peer = Self.address(request.remoteAddress[...]), peer.isLoopback else { return true }
        return contains(peer) && request.headers.members("X-Forwarded-Proto").first?.equalsIgnoringCase("https") ?? false
    }

    private func contains(_ address: NumericAddress) -> Bool {
        ranges.contains { $0.start.agrees(with: address, inFirst: $0.bitCount) }
    }

    private static func range(_ text: String) -> Range? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let start = NumericAddress(first), parts.count <= 2 else { return nil }
        guard parts.count == 2 else { return Range(start: start.unmapped, bitCount: start.unmapped.width) }
        guard parts[1].utf8.allSatisfy(\.isDigit), let count = Int(parts[1]), count <= start.width else {
            return nil
        }
        // A range of mapped addresses is one of IPv4.
        let isMapped = start.unmapped.width < start.width && count >= 96
        return isMapped ? Range(start: start.unmapped, bitCount: count - 96) : Range(start: start, bitCount: count)
    }

    /// Reads `a.b.c.d` or `a.b.c.d:port`, an IPv6 address, or one in brackets with or without a port.
    private static func address(_ text: Substring) -> NumericAddress? {
        let (host, port) = split(text)
        guard let address = NumericAddress(host) else { return nil }
        if let port {
            guard port.utf8.allSatisfy(\.isDigit), UInt16(port) != nil else { return nil }
            guard text.utf8.first == UInt8(ascii: "[") || address.width == 32 else { return nil }
        }
        return text.utf8.first == UInt8(ascii: "[") && address.width == 32 ? nil : address.unmapped
    }

    private static func split(_ text: Substring) -> (host: Substring, port: Substring?) {
        if text.utf8.first == UInt8(ascii: "["), let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) {
            let (host, rest) = (text[text.utf8.index(after: text.startIndex)..<end], text[text.utf8.index(after: end)...])
            return rest.isEmpty
                ? (host, nil) : rest.utf8.first == UInt8(ascii: ":") ? (host, Substring(rest.utf8.dropFirst())) : ("", nil)
        }
        let mark = UInt8(ascii: ":")
        guard let colon = text.utf8.firstIndex(of: mark), text.utf8.lastIndex(of: mark) == colon else { return (text, nil) }
        return (text[..<colon], text[text.utf8.index(after: colon)...])
    }
}
