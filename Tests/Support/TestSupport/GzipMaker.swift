/// Packs bytes with gzip by hand, as RFC 1951 and RFC 1952 say it, so that what unpacks them is no judge in its own case.
public enum GzipMaker {
    /// Bytes in blocks that are not compressed.
    ///
    /// - Parameters:
    ///   - bytes: What is packed.
    ///   - name: The name of a file in the header; nil for none.
    /// - Returns: One member.
    public static func store(_ bytes: [UInt8], name: String? = nil) -> [UInt8] {
        var blocks: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            blocks += [rest.isEmpty ? 1 : 0] + littleEndian(count) + littleEndian(~count) + block
        } while !rest.isEmpty
        return member(blocks, of: bytes, name: name)
    }

    /// The same byte `1 + 258 × repeats` times, in little more than a 160th of so many.
    ///
    /// - Parameters:
    ///   - byte: 0 to 143.
    ///   - repeats: 0 or more.
    /// - Returns: One member.
    public static func pack(_ byte: UInt8, repeats: Int) -> [UInt8] {
        var bits = Bits()
        // The last block, with the codes of RFC 1951, 3.2.6.
        bits.append(0b110, count: 3)
        bits.append(0x30 + UInt32(byte), count: 8)
        for _ in 0..<repeats {
            // Length 258, distance 1.
            bits.append(0xC5, count: 8)
            bits.append(0, count: 5)
        }
        bits.append(0, count: 7)
        return member(bits.bytes, of: [UInt8](repeating: byte, count: 1 + 258 * repeats), name: nil)
    }

    private static func member(_ blocks: [UInt8], of bytes: [UInt8], name: String?) -> [UInt8] {
        let flags: UInt8 = name == nil ? 0 : 8
        let header = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 0xFF] + (name.map { Array($0.utf8) + [0] } ?? [])
        return header + blocks + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let carry: UInt32 = sum & 1 == 1 ? 0xEDB8_8320 : 0
                sum = sum >> 1 ^ carry
            }
        }
        return ~sum
    }

    private static func littleEndian(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Bits as deflate has them: each byte from its lowest, each code from its highest.
    private struct Bits {
        var bytes: [UInt8] = []
        private var count = 0

        mutating func append(_ code: UInt32, count: Int) {
            for bit in (0..<count).reversed() {
                if self.count % 8 == 0 { bytes.append(0) }
                bytes[bytes.count - 1] |= UInt8(code >> bit & 1) << (self.count % 8)
                self.count += 1
            }
        }
    }
}
