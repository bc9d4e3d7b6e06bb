import HubServer

/// Decides by chance which calls a fault strikes. The same seed gives the same decisions.
struct FaultDice: Sendable {
    private var random: HubIdentifiers

    /// Dice of their own for each fault: two faults with one seed, but different places among the armed ones, strike
    /// independently.
    init(seed: UInt64, place: Int) {
        var first = HubIdentifiers(seed: seed &+ HubIdentifiers.step &* UInt64(truncatingIfNeeded: place))
        random = HubIdentifiers(seed: first.next())
    }

    /// Throws once, and returns whether the fault strikes. `chance` is 0 to 1.
    mutating func strikes(chance: Double) -> Bool { Double(random.next() >> 11) * 0x1p-53 < chance }
}
