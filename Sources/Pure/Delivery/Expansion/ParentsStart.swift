public import PushModel

/// Finds where a group goes on with large requests when it is known from elsewhere which of them have their result, so that none gets a
/// second one.
///
/// It takes the records of a partition of the topic of parents one by one, and then what results say. A request whose record was deleted
/// is finished too. For each open request it keeps a bit for each of its parts.
public struct ParentsStart: Sendable {
    private let end: Int64
    private var open: OpenParents
    /// The places of the records of open requests, and of those of their last parts.
    private var places: [ParentKey: (record: Int64, last: Int64?)] = [:]
    /// The same of finished requests, without their last parts where records were deleted.
    private var finished: [(record: Int64, last: Int64?)] = []

    /// Nothing was taken yet.
    ///
    /// - Parameters:
    ///   - low: The first offset that is retained.
    ///   - high: Where the partition ends; no record at this offset or behind it is taken.
    public init(low: Int64, high: Int64) {
        end = max(low, high)
        open = OpenParents(start: low, unknownBefore: high)
    }

    /// Takes the record of a request.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - chunks: How many parts the record says there are.
    ///   - offset: Where it stands.
    /// - Returns: Whether the request is open now and was not before.
    public mutating func opened(_ key: ParentKey, chunks: Int, at offset: Int64) -> Bool {
        guard offset < end else { return false }
        let count = open.count
        open.opened(key, record: [], chunks: chunks, at: offset, timestamp: Timestamp(milliseconds: 0))
        guard open.count > count else { return false }
        places[key] = (offset, nil)
        return true
    }

    /// Notes that a part has ended.
    ///
    /// - Parameters:
    ///   - key: The request's key.
    ///   - chunk: Which part it is.
    ///   - offset: Where its record stands.
    /// - Returns: True if it is the last part of an open request.
    public mutating func notePart(_ key: ParentKey, chunk: Int, at offset: Int64) -> Bool {
        guard offset < end else { return false }
        let count = open.doubtful.count
        _ = open.notePart(key, tally: PartTally(chunk: chunk, state: .sent, outcome: .success), at: offset)
        guard open.doubtful.count > count else { return false }
        places[key]?.last = offset
        return true
    }

    /// Takes that the record of a request was deleted: it is finished.
    public mutating func deleted(_ key: ParentKey, at offset: Int64) {
        guard offset < end else { return }
        open.deleted(key, at: offset)
        if let place = places.removeValue(forKey: key) { finished.append((place.record, nil)) }
    }

    /// Notes that an open request has its result, or a dead letter in its place.
    public mutating func finish(_ key: ParentKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        open.deleted(key, at: place.record)
        finished.append(place)
    }

    /// The position at which the group goes on, and what that means for large requests.
    public struct Outcome: Sendable, Equatable {
        /// The position with its metadata.
        public let commit: LedgerCommit
        /// The finished requests in front of the position.
        public let passedCount: Int
        /// The finished ones behind it that get no second result.
        public let aheadCount: Int
        /// The finished ones behind it that get a second result, because too many others have none yet.
        public let repeatedCount: Int
        /// The requests that are not finished.
        public let waitingCount: Int
    }

    /// Ends the taking.
    ///
    /// - Returns: The position that repeats as little as it can. It names at most `CommitSelection.greatestWholeCount` requests that have
    ///   ended without a result; where there are more, it is unknown from the next one on what is finished.
    public consuming func outcome() -> Outcome {
        open.passed(end)
        let unfinished = open.doubtful.filter { places[$0.key]?.last == $0.offset }
        let limit = CommitSelection.greatestWholeCount
        let reach = unfinished.count > limit ? unfinished[limit].offset : end
        let digests = Set(unfinished.prefix(limit).map(\.key.digest))
        let mark = open.lowWaterMark
        let ahead = finished.filter { $0.record >= mark }
        let repeated = ahead.count { $0.last.map { $0 >= reach } ?? false }
        return Outcome(
            commit: LedgerCommit(offset: mark, metadata: open.metadata(reach, digests: digests, marks: nil)),
            passedCount: finished.count - ahead.count,
            aheadCount: ahead.count - repeated, repeatedCount: repeated, waitingCount: places.count)
    }
}
