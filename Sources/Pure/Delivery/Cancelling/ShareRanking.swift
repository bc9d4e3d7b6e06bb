/// The owners of several things each, by how many they have. Every step takes constant time.
struct ShareRanking<Owner: Hashable & Sendable>: Sendable {
    /// The owners by the number of their things.
    private var owners: [Int: Set<Owner>] = [:]
    /// The most things that one has.
    private(set) var most = 0

    /// One of those that have the most; nil where none has any.
    var first: Owner? { owners[most]?.first }

    /// Notes that an owner has one more, or one fewer: `new` is `old` and 1, or `old` less 1.
    mutating func move(_ owner: Owner, from old: Int, to new: Int) {
        owners[old]?.remove(owner)
        if owners[old]?.isEmpty == true { owners[old] = nil }
        if new > 0 { owners[new, default: []].insert(owner) }
        if new > most || owners[most] == nil { most = new }
    }
}
