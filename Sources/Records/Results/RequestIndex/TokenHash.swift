/// The keyed hash under which a token stands in an index: SipHash-2-4 (Aumasson and Bernstein, 2012).
///
/// Without the key no name can be tried. HMAC costs 1.5 µs a token, which is a third of all that a request may cost, and this some 50 ns.
struct TokenHash: Sendable {
    /// The length of a key in bytes.
    static let keyByteCount = 16
    /// The letters and digits of a written token.
    static let textByteCount = 12

    private static let digits = Array("0123456789abcdefghijklmnopqrstuv".utf8)

    private let key: (low: UInt64, high: UInt64)

    /// The hash with a key of 16 bytes. What a shorter one lacks is zero.
    init(key: [UInt8]) { self.key = (Self.word(key.prefix(8)), Self.word(key.dropFirst(8).prefix(8))) }

    /// The hash of some bytes.
    func value(of bytes: Span<UInt8>) -> UInt64 {
        var state = State(key)
        let whole = bytes.count & ~7
        for start in stride(from: 0, to: whole, by: 8) { state.take(Self.word(in: bytes, from: start, to: start + 8)) }
        state.take(Self.word(in: bytes, from: whole, to: bytes.count) | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.end()
    }

    /// Appends the token for some bytes: 60 bits, as 12 letters and digits.
    func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        let value = value(of: bytes)
        for shift in stride(from: 55, through: 0, by: -5) { text.append(Self.digits[Int(value >> UInt64(shift) & 31)]) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func word(in bytes: Span<UInt8>, from start: Int, to end: Int) -> UInt64 {
        var word: UInt64 = 0
        var index = end
        while index > start {
            index -= 1
            word = word << 8 | UInt64(bytes[index])
        }
        return word
    }

    /// The four words that are mixed.
    private struct State {
        private var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64)

        init(_ key: (low: UInt64, high: UInt64)) {
            (a, b) = (key.low ^ 0x736f_6d65_7073_6575, key.high ^ 0x646f_7261_6e64_6f6d)
            (c, d) = (key.low ^ 0x6c79_6765_6e65_7261, key.high ^ 0x7465_6462_7974_6573)
        }

        mutating func take(_ word: UInt64) {
            d ^= word
            mix()
            mix()
            a ^= word
        }

        mutating func end() -> UInt64 {
            c ^= 0xff
            for _ in 0..<4 { mix() }
            return a ^ b ^ c ^ d
        }

        private mutating func mix() {
            a &+= b
            b = Self.rotated(b, by: 13) ^ a
            a = Self.rotated(a, by: 32)
            c &+= d
            d = Self.rotated(d, by: 16) ^ c
            a &+= d
            d = Self.rotated(d, by: 21) ^ a
            c &+= b
            b = Self.rotated(b, by: 17) ^ c
            c = Self.rotated(c, by: 32)
        }

        private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
    }
}
