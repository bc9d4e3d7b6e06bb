/// The identity of a request: 128 bits of a hash, by which two different ones of a million are the same once in 10^26 times.
public struct RequestIdentity: Sendable, Hashable {
    private var high: UInt64
    private var low: UInt64

    /// The identity of texts in their order. The same texts in another order, or divided otherwise, have another one.
    ///
    /// The hash multiplies 64 by 64 bits and folds the product, twice with different secrets. It need not be the same in the next
    /// process, so `seed` keeps those who write requests from making two that meet.
    public init(seed: UInt64) {
        high = seed ^ 0x243F_6A88_85A3_08D3
        low = ~seed ^ 0x1319_8A2E_0370_7344
    }

    /// Adds a text.
    public mutating func add(_ text: Span<UInt8>) {
        var index = 0
        while index < text.count {
            var word: UInt64 = 0
            for place in index..<min(index + 8, text.count) { word = word << 8 | UInt64(text[place]) }
            add(word)
            index += 8
        }
        // Where one text ends and the next begins counts too.
        add(UInt64(text.count) | 1 << 63)
    }

    /// Adds a number.
    public mutating func add(_ word: UInt64) {
        high = Self.folded(high ^ word, with: 0xA076_1D64_78BD_642F)
        low = Self.folded(low &+ word, with: 0xE703_7ED1_A0B4_28DB)
        high ^= low << 32 | low >> 32
    }

    /// A place in a table of `count` places, a power of two.
    func place(in count: Int) -> Int { Int(truncatingIfNeeded: low) & (count - 1) }

    private static func folded(_ left: UInt64, with right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
