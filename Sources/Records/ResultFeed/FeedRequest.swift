import Kafka

/// A reading that waits for its answer.
struct FeedRequest: Sendable {
    var places: FeedPlaces
    let onlyNamed: Bool
    let room: FeedRoom
    let isWanted: @Sendable (FeedRecord) -> Bool
    /// False once the caller waits no more.
    var isWaiting: @Sendable () -> Bool = { true }
    let then: @Sendable (Result<FeedReading, FeedFailure>) -> Void

    /// Names every partition that is read.
    ///
    /// - Parameter bounds: What Kafka keeps of each partition.
    /// - Returns: The first place that is left where this one is gone, or nil.
    mutating func findGone(by bounds: [Range<Int64>]) -> FeedPlaces? {
        var isGone = false
        for (partition, offset) in places.offsets {
            guard bounds.indices.contains(Int(partition)) else {
                places.offsets[partition] = nil
                isGone = true
                continue
            }
            let kept = bounds[Int(partition)]
            guard offset < kept.lowerBound || offset > kept.upperBound else { continue }
            places.offsets[partition] = kept.lowerBound
            isGone = true
        }
        if !onlyNamed {
            for (index, kept) in bounds.enumerated() where places.offsets[Int32(index)] == nil {
                places.offsets[Int32(index)] = kept.lowerBound
            }
        }
        return isGone ? places : nil
    }

    /// The offsets that must be read from Kafka: from the place to where memory goes on, or to the end.
    ///
    /// - Parameters:
    ///   - bounds: What Kafka keeps of each partition.
    ///   - windows: What memory holds of each partition, as far as it does.
    /// - Returns: The offsets by partition, none of them empty.
    func findMissing(in bounds: [Range<Int64>], besides windows: [Range<Int64>]) -> [Int32: Range<Int64>] {
        var missing: [Int32: Range<Int64>] = [:]
        for (partition, place) in places.offsets where bounds.indices.contains(Int(partition)) {
            let index = Int(partition)
            var end = bounds[index].upperBound
            if windows.indices.contains(index) {
                let window = windows[index]
                if place >= window.lowerBound, place <= window.upperBound { continue }
                if place < window.lowerBound { end = min(end, window.lowerBound) }
            }
            if place < end { missing[partition] = place..<end }
        }
        return missing
    }

    /// Reads what memory holds of the partitions that are read.
    func read(_ records: RecentRecords, by rule: RecentRecords.Rule) -> FeedReading? {
        records.read(from: places, onlyNamed: onlyNamed, by: rule, room: room, where: isWanted)
    }
}

/// A question for the place of a time that waits for its answer.
struct FeedSearch: Sendable {
    /// Milliseconds since 1970 in whole seconds, so that those who ask at about the same time share an answer. `.max` is the end.
    let time: Int64
    /// False once the caller waits no more.
    let isWaiting: @Sendable () -> Bool
    let then: @Sendable (Result<FeedPlaces, FeedFailure>) -> Void

    init(
        time: Int64, while isWaiting: @escaping @Sendable () -> Bool = { true },
        then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void
    ) {
        self.time = time == .max ? time : max(0, time) / 1000 * 1000
        (self.isWaiting, self.then) = (isWaiting, then)
    }

    /// The first times of those that wait, each once.
    static func times(of searches: [FeedSearch], most: Int) -> [Int64] {
        var times: [Int64] = []
        for search in searches where times.count < most && !times.contains(search.time) { times.append(search.time) }
        return times
    }
}
