/// Random numbers that must differ and need not be secret, for jitter and trace ids: SplitMix64 (Steele, Lea, Flood: Fast Splittable
/// Pseudorandom Number Generators, 2014). The system's generator is a system call for each number.
public struct QuickRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that gives the same numbers for the same `seed`.
    public init(seed: UInt64) { state = seed }

    /// A generator that begins where the system's generator says.
    public init() {
        var system = SystemRandomNumberGenerator()
        self.init(seed: system.next())
    }

    /// The next of 2^64 numbers, all equally likely.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }
}
