/// Makes identifiers for requests: ULIDs, 26 letters and digits that sort by the time of their making.
///
/// 48 bits of milliseconds and 80 random bits in Crockford's base 32 (github.com/ulid/spec). Within one millisecond the random part
/// counts up, so that the order of making is kept there, too.
struct RequestIdentifier {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private var time: UInt64 = 0
    private var high: UInt16 = 0
    private var low: UInt64 = 0

    /// The next identifier.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - generator: Where chance comes from.
    /// - Returns: 26 characters, greater than the one before.
    mutating func next(now: Int64, using generator: inout some RandomNumberGenerator) -> String {
        let now = UInt64(clamping: now) & 0xFFFF_FFFF_FFFF
        if now > time {
            time = now
            // The top bit stays free, so that counting up does not overflow.
            high = UInt16.random(in: 0...0x7FFF, using: &generator)
            low = UInt64.random(in: .min ... .max, using: &generator)
        } else {
            low &+= 1
            if low == 0 { high &+= 1 }
        }
        var letters = [UInt8](repeating: 0, count: 26)
        var value = UInt128(time) << 80 | UInt128(high) << 64 | UInt128(low)
        for index in stride(from: 25, through: 0, by: -1) {
            letters[index] = Self.alphabet[Int(value & 31)]
            value >>= 5
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
