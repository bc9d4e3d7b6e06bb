import Basics

/// The hosts that are called without a proxy, as `no_proxy` lists them (CURLOPT_NOPROXY(3)).
///
/// As in libcurl 7.88, but for ranges of IPv6 addresses: that version documents them and compares the text only.
struct ProxyExemptions {
    private let hasAll: Bool
    private let entries: [Substring]

    /// Reads names, addresses and ranges, with commas or blanks between. `*` alone means every host.
    init(_ text: String) {
        hasAll = text == "*"
        entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// True if a host is called without a proxy: a name, an IPv4 address, or an IPv6 address without brackets.
    func contain(_ host: String) -> Bool {
        if hasAll { return true }
        if let address = NumericAddress(host) { return entries.contains { Self.range($0, contains: address) } }
        let name = Self.name(host[...])
        return entries.contains { Self.domain($0, contains: name) }
    }

    /// True if an entry is a name or one that it ends with. A dot in front changes nothing, and a port is no part of a name.
    private static func domain(_ entry: Substring, contains name: String) -> Bool {
        var domain = Self.name(entry)
        if domain.hasPrefix(".") { domain.removeFirst() }
        return !domain.isEmpty && (name == domain || name.hasSuffix(".\(domain)"))
    }

    /// A name in lower case, without the dot at its end.
    private static func name(_ text: Substring) -> String {
        (text.hasSuffix(".") ? text.dropLast() : text).lowercased()
    }

    /// True if an entry such as `10.0.0.1` or `10.0.0.0/8` has an address. As in libcurl, 0 bits are as good as all of them.
    private static func range(_ entry: Substring, contains address: NumericAddress) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let network = NumericAddress(first) else { return false }
        guard parts.count == 2 else { return network == address }
        guard let count = UInt8(parts[1]) else { return false }
        return network.agrees(with: address, inFirst: count == 0 ? network.width : Int(count))
    }
}
