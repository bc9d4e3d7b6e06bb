/// SplitMix64: the same numbers from the same seed on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// Always the least or always the greatest number, to see the ends of a random choice.
struct ConstantRandom: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { value }

    /// Gives the least of up to 4,096 choices. Zero itself would be drawn again for ever by the library's unbiased choice.
    static let least = ConstantRandom(value: 1 << 52)
}
