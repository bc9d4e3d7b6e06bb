/// An IPv4 or IPv6 address as numbers (inet_pton(3)).
public struct NumericAddress: Hashable, Sendable {
    /// Bits of an address of its kind: 32 or 128.
    public let width: Int
    private let bits: UInt128

    private init(width: Int, bits: UInt128) {
        self.width = width
        self.bits = bits
    }

    /// Reads four decimal numbers, or RFC 4291, section 2.2. Nil for anything else, a zone included.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        if let short = Self.short(text[...]) {
            (width, bits) = (32, UInt128(short))
        } else if let long = Self.long(text) {
            (width, bits) = (128, long)
        } else {
            return nil
        }
    }

    /// An address of 4 or 16 bytes, the most significant first. Nil for any other number.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        (width, bits) = (bytes.count * 8, bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// The IPv4 address that stands in an IPv6 address behind as many bits. Nil for an IPv4 address, and where there is no room for one.
    public func embedded(behind count: Int) -> NumericAddress? {
        guard width == 128, (0...96).contains(count) else { return nil }
        return NumericAddress(width: 32, bits: bits >> (96 - count) & 0xFFFF_FFFF)
    }

    /// True if the first bits of both are the same.
    ///
    /// - Parameters:
    ///   - other: An address of the same kind; one of the other never agrees.
    ///   - count: How many bits, 0 to `width`.
    /// - Returns: Whether they do; false for a count beyond the width.
    public func agrees(with other: NumericAddress, inFirst count: Int) -> Bool {
        guard width == other.width, (0...width).contains(count) else { return false }
        // A shift by as much as the number is wide gives 0.
        return (bits ^ other.bits) >> (width - count) == 0
    }

    /// The IPv4 address that an IPv6 address maps (RFC 4291, section 2.5.5.2). Any other address stays as it is.
    public var unmapped: NumericAddress {
        guard width == 128, bits >> 32 == 0xFFFF else { return self }
        return NumericAddress(width: 32, bits: bits & 0xFFFF_FFFF)
    }

    /// True for this machine: 127.0.0.0/8 and `::1` (RFC 6890).
    public var isLoopback: Bool { width == 32 ? bits >> 24 == 127 : bits == 1 }

    /// The network that it is in.
    ///
    /// - Parameter count: How many bits the network's number has; beyond 0 to `width` the nearest of them counts.
    /// - Returns: The address with 0 in all later bits.
    public func network(ofBits count: Int) -> NumericAddress {
        let rest = width - min(max(count, 0), width)
        return NumericAddress(width: width, bits: (bits >> rest) << rest)
    }

    private static func short(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            // A zero in front is octal to some, and no number to inet_pton.
            guard part == "0" || part.first != "0", part.utf8.allSatisfy(\.isDigit), let number = UInt8(part) else { return nil }
            bits = bits << 8 | UInt32(number)
        }
        return bits
    }

    private static func long(_ text: String) -> UInt128? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let front = groups(halves[0], mayEndShort: halves.count == 1) else { return nil }
        var all = front
        if halves.count == 2 {
            guard let back = groups(halves[1], mayEndShort: true), front.count + back.count <= 7 else { return nil }
            all += [UInt16](repeating: 0, count: 8 - front.count - back.count) + back
        }
        guard all.count == 8 else { return nil }
        return all.reduce(0) { $0 << 16 | UInt128($1) }
    }

    /// The groups of 16 bits on one side of `::`, of which the last two may be written as an IPv4 address.
    private static func groups(_ text: Substring, mayEndShort: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndShort, index == parts.count - 1, let pair = Self.short(part) {
                groups += [UInt16(pair >> 16), UInt16(pair & 0xFFFF)]
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(\.isHexadecimalDigit),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }
}
