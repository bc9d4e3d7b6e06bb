import Basics

/// Makes identifiers for requests and jobs: UUIDs of version 7, which sort by the time of their making (RFC 9562, section 5.7).
///
/// 48 bits of milliseconds and 74 random bits. Within one millisecond, and while the clock is behind where it was, the random bits count
/// up. So the order of making is kept there, too (RFC 9562, section 6.2, method 2).
public struct RequestIdentifier: Sendable {
    private var time: UInt64 = 0
    /// The 12 bits after the version.
    private var high: UInt16 = 0
    /// The 62 bits after the variant.
    private var low: UInt64 = 0

    /// A maker that has made nothing yet.
    public init() {}

    /// The next identifier.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970. The lower 48 bits count, and a number below 0 is 0.
    ///   - generator: The source of chance.
    /// - Returns: 36 characters in lower case, greater than the one before.
    public mutating func next(now: Int64, using generator: inout some RandomNumberGenerator) -> String {
        let now = UInt64(clamping: now) & 0xFFFF_FFFF_FFFF
        if now > time {
            time = now
            // The top bit stays free, so that counting up does not overflow.
            high = UInt16(generator.next() >> 53)
            low = generator.next() >> 2
        } else {
            low = (low + 1) & 0x3FFF_FFFF_FFFF_FFFF
            if low == 0 { high &+= 1 }
        }
        let upper = time << 16 | 0x7000 | UInt64(high & 0xFFF)
        return Self.text(upper: upper, lower: 0x8000_0000_0000_0000 | low)
    }

    private static func text(upper: UInt64, lower: UInt64) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            let half = index < 16 ? upper : lower
            text.append(Hexadecimal.digit(UInt8(half >> UInt64(60 - index % 16 * 4) & 0xF)))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
