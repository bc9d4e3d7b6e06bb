/// A set of small numbers, of slots or hubs, in no order. Adding, removing and asking take constant time.
struct NumberSet {
    /// Its numbers.
    private(set) var members: [Int] = []
    /// By number, its place among them, or nil for one that is not there.
    private var places: [Int?] = []

    /// True if a number is there.
    func contains(_ number: Int) -> Bool { places.indices.contains(number) && places[number] != nil }

    /// Adds a number, or takes it out.
    ///
    /// - Parameters:
    ///   - number: From 0 on. The set takes memory in proportion to the greatest.
    ///   - isMember: Whether it is there from now on.
    mutating func set(_ number: Int, isMember: Bool) {
        while places.count <= number { places.append(nil) }
        guard isMember != (places[number] != nil) else { return }
        if let place = places[number] {
            places[number] = nil
            let last = members.removeLast()
            guard last != number else { return }
            members[place] = last
            places[last] = place
        } else {
            places[number] = members.count
            members.append(number)
        }
    }
}
