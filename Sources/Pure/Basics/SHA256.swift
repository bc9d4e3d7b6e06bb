/// The SHA-256 digest (FIPS 180-4, section 6.2).
///
/// It is no call of a library, because pure modules need it for tags, and it cannot fail.
public enum SHA256 {
    /// Length of a digest in bytes.
    public static let byteCount = 32

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
    private static let constants: InlineArray<64, UInt32> = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    /// Computes the digest of some bytes.
    ///
    /// - Parameter bytes: The input, which may be empty.
    /// - Returns: 32 bytes.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var state: InlineArray<8, UInt32> = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        // Section 5.1.1: a 1 bit, zeros up to 8 bytes before the end of a block, and the length in bits.
        let whole = bytes.count - bytes.count % 64
        let zeros = [UInt8](repeating: 0, count: (119 - bytes.count % 64) % 64)
        let end = bytes[whole...] + [0x80] + zeros + bigEndian(UInt64(bytes.count) * 8)
        for start in stride(from: 0, to: whole, by: 64) { add(bytes.span, from: start, to: &state) }
        for start in stride(from: 0, to: end.count, by: 64) { add(end.span, from: start, to: &state) }
        return state.indices.flatMap { bigEndian(state[$0]) }
    }

    /// Computes the digest of some bytes as 64 small hexadecimal digits.
    ///
    /// - Parameter bytes: The input, which may be empty.
    /// - Returns: 64 ASCII characters.
    public static func hexadecimalDigest(of bytes: [UInt8]) -> [UInt8] { Hexadecimal.digits(of: digest(of: bytes)) }

    /// Takes a block of 64 bytes in (section 6.2.2).
    private static func add(_ bytes: Span<UInt8>, from start: Int, to state: inout InlineArray<8, UInt32>) {
        var words = InlineArray<64, UInt32>(repeating: 0)
        for index in 0..<16 {
            for place in 0..<4 { words[index] = words[index] << 8 | UInt32(bytes[start + 4 * index + place]) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let small = rotated(early, by: 7) ^ rotated(early, by: 18) ^ early >> 3
            let large = rotated(late, by: 17) ^ rotated(late, by: 19) ^ late >> 10
            words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let sumOfE = rotated(e, by: 6) ^ rotated(e, by: 11) ^ rotated(e, by: 25)
            let first = h &+ sumOfE &+ (e & f ^ ~e & g) &+ constants[index] &+ words[index]
            let second = (rotated(a, by: 2) ^ rotated(a, by: 13) ^ rotated(a, by: 22)) &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
