/// Decides by chance which calls a fault strikes. The same seed gives the same decisions (SplitMix64).
struct FaultDice: Sendable {
    private static let step: UInt64 = 0x9e37_79b9_7f4a_7c15
    private var state: UInt64

    /// Dice of their own for each fault: two faults with one seed, but different places among the armed ones, strike
    /// independently.
    init(seed: UInt64, place: Int) {
        state = Self.mixed(seed &+ Self.step &* UInt64(truncatingIfNeeded: place + 1))
    }

    /// Throws once, and returns whether the fault strikes. `chance` is 0 to 1.
    mutating func strikes(chance: Double) -> Bool {
        state &+= Self.step
        return Double(Self.mixed(state) >> 11) * 0x1p-53 < chance
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var number = number
        number = (number ^ (number >> 30)) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ (number >> 27)) &* 0x94d0_49bb_1331_11eb
        return number ^ (number >> 31)
    }
}
