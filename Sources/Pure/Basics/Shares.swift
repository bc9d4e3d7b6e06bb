/// A bounded number of places (or bytes) that many holders share, and how much of it each of them holds.
///
/// One holder has at most a part of all places, and at most half of what the others leave. So one greedy holder is refused while most
/// places are free, several of them leave as much as each of them has, and a newcomer finds a place as long as there is one. A holder is
/// kept no longer than it holds something, so there are never more holders than places. Every operation costs the same, however many
/// there are.
public struct Shares<Holder: Hashable & Sendable>: Sendable {
    /// The number of places.
    public let places: Int
    /// The most that one holder may have, at least 1 of a place.
    public let most: Int
    /// The places that are held.
    public private(set) var taken = 0
    private var held: [Holder: Int] = [:]

    /// Makes shares of which nothing is held.
    ///
    /// - Parameters:
    ///   - places: The number of places.
    ///   - part: The part of them that one holder may have at most. 4, the default, is a quarter, and 1 lets only the half of what is left
    ///     count.
    public init(places: Int, part: Int = 4) {
        self.places = max(0, places)
        most = max(1, self.places / max(1, part))
    }

    /// The places that no holder has.
    public var free: Int { places - taken }

    /// The number of holders.
    public var holderCount: Int { held.count }

    /// The places that a holder has.
    public subscript(holder: Holder) -> Int { held[holder] ?? 0 }

    /// True if a holder may have so much more. No holder in particular (nil) may have all that is free.
    public func admits(_ holder: Holder?, amount: Int = 1) -> Bool {
        guard amount <= free else { return false }
        guard let holder else { return true }
        let own = self[holder]
        let rest = free + own
        return amount <= min(most, rest / 2 + (rest & 1)) - own
    }

    /// Takes so much more for a holder if it may have that. False, and nothing changed, if not.
    public mutating func take(_ amount: Int = 1, for holder: Holder?) -> Bool {
        guard amount >= 0, admits(holder, amount: amount) else { return false }
        add(amount, to: holder)
        return true
    }

    /// Adds what a holder has without being asked, such as what is found at a start. It counts, also beyond its share and the places.
    public mutating func add(_ amount: Int = 1, to holder: Holder?) {
        guard amount > 0 else { return }
        taken += amount
        if let holder { held[holder, default: 0] += amount }
    }

    /// Gives back what was taken for a holder, at most as much as it has.
    public mutating func give(back amount: Int = 1, of holder: Holder?) {
        guard amount > 0 else { return }
        guard let holder else { return taken = max(0, taken - amount) }
        guard let own = held[holder] else { return }
        taken -= min(own, amount)
        held[holder] = own > amount ? own - amount : nil
    }
}
