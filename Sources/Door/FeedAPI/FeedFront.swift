import ResultFeed

/// The readers that have all there is. They share one place, which is read once for all of them. A result takes out those that it may concern,
/// found by its owner, and they read on by themselves. All others come along without being looked at. Pure.
struct FeedFront: Sendable {
    private struct Concern: Hashable {
        let owner: FeedAudience.Owner
        let kind: String
    }

    /// The place behind all that was read for them, or nil while there is none of them.
    private(set) var places: FeedPlaces?
    private var audiences: [Int: FeedAudience] = [:]
    private var numbers: [FeedAudience.Owner: Set<Int>] = [:]
    /// The places of readers that are ahead of the others.
    private var ahead: [Int: FeedPlaces] = [:]

    /// Takes in a reader that has all up to a place. Returns false for one that must read again, because the others are ahead of it.
    mutating func add(_ number: Int, for audience: FeedAudience, at own: FeedPlaces) -> Bool {
        if let places {
            guard own.covers(places) else { return false }
            if own != places { ahead[number] = own }
        } else {
            places = own
        }
        audiences[number] = audience
        numbers[audience.owner, default: []].insert(number)
        return true
    }

    /// The place of one of them.
    func places(of number: Int) -> FeedPlaces? {
        guard audiences[number] != nil, let places else { return nil }
        return ahead[number].map { $0.merged(with: places) } ?? places
    }

    /// Takes one out, and returns its place.
    @discardableResult
    mutating func remove(_ number: Int) -> FeedPlaces? {
        let own = places(of: number)
        guard let owner = audiences.removeValue(forKey: number)?.owner else { return nil }
        ahead[number] = nil
        numbers[owner]?.remove(number)
        if numbers[owner]?.isEmpty == true { numbers[owner] = nil }
        if audiences.isEmpty { places = nil }
        return own
    }

    /// Takes out all, and returns their places.
    mutating func removeAll() -> [Int: FeedPlaces] {
        let all = audiences.keys.map { ($0, places(of: $0) ?? FeedPlaces()) }
        self = FeedFront()
        return Dictionary(uniqueKeysWithValues: all)
    }

    /// Goes on behind what was read from a place, unless that is not theirs any more. Returns the readers that it may concern, which are taken
    /// out, with the places from which they read.
    mutating func advance(from old: FeedPlaces, by reading: FeedReading) -> [Int: FeedPlaces] {
        guard places == old else { return [:] }
        var (found, seen) = ([Int: FeedPlaces](), Set<Concern>())
        for record in reading.records {
            for tenant in [record.tenant, nil] {
                for source in [record.source, nil] {
                    let owner = FeedAudience.Owner(tenant: tenant, source: source)
                    guard let concerned = numbers[owner], seen.insert(Concern(owner: owner, kind: record.kind)).inserted
                    else { continue }
                    for number in concerned where audiences[number]?.kinds.contains(record.kind) == true {
                        found[number] = remove(number)
                    }
                }
            }
        }
        guard places != nil else { return found }
        places = reading.places
        ahead = ahead.filter { !reading.places.covers($0.value) }
        return found
    }
}

extension FeedPlaces {
    /// True if nothing before another place is missing.
    func covers(_ other: FeedPlaces) -> Bool { other.offsets.allSatisfy { offsets[$0.key] ?? 0 >= $0.value } }

    /// The later of both in each partition.
    func merged(with other: FeedPlaces) -> FeedPlaces { FeedPlaces(offsets.merging(other.offsets, uniquingKeysWith: max)) }
}
