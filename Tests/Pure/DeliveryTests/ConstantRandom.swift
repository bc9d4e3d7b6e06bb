/// Always the least or always the greatest number, to see the ends of a random choice.
struct ConstantRandom: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { value }

    /// Gives the least of up to 4,096 choices. Zero itself would be drawn again for ever by the library's unbiased choice.
    static let least = ConstantRandom(value: 1 << 52)
}
