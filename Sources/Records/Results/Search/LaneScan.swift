import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel
import Replay
import ResultQuery

/// Reads the requests of all lanes backwards in time, piece by piece, because people mostly search for new ones.
///
/// A piece has the records of all lanes since one moment, so that a page is certain down to there.
struct LaneScan {
    /// The most requests to tags or to all that are shown as possible.
    static let possibleLimit = 20
    /// The most records of the first piece, for a filter that nearly all match, and for another one.
    private static let firstLimits: (any: Int64, selective: Int64) = (400, 20_000)
    /// The most records of a piece that is read to its end whatever time it takes, so that each page has one piece.
    private static let certainPiece: Int64 = 100
    /// The longest reading of a first piece after one that was too large.
    private static let retryPatience = Duration.milliseconds(500)
    /// The most records of a piece. Each may have four times as many as the one before.
    private static let largestPiece: Int64 = 1_000_000

    private let topics: SearchTopics
    private let filter: ResultFilter
    /// True if sends to tags or to all are gathered, too.
    private let seeksPossible: Bool
    private let partitions: [TopicPartition]
    private let kept: [Range<Int64>]
    private var reader: CandidateReader
    private var pieces: BackwardPieces
    private var gathering: CandidateGathering
    private var possible: CandidateGathering
    private var limit: Int64
    private var isFirst = true
    /// The records that were read.
    private(set) var readCount = 0

    /// Finds out where to read. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - topics: The topics.
    ///   - matcher: The requests that are wanted.
    ///   - cursor: The place behind which the list goes on, or nil for the newest.
    ///   - capacity: The most candidates that are kept.
    ///   - open: The states of requests without a result that alone are wanted, or nil for all requests.
    /// - Throws: Brokers cannot be asked.
    init(
        _ topics: SearchTopics, for matcher: RequestMatcher, after cursor: SearchCursor?, capacity: Int,
        open: Set<RequestWhereabouts.State>? = nil
    ) throws(JobFailure) {
        self.topics = topics
        filter = matcher.filter
        seeksPossible = cursor == nil && filter.seeksPerson
        reader = CandidateReader(matcher, own: topics.context.topics.requestsOwn)
        gathering = CandidateGathering(capacity, after: cursor)
        possible = CandidateGathering(Self.possibleLimit + 1, after: cursor)
        let readsLanes = open.map { $0.contains(.published) || $0.contains(.inWork) } ?? true
        partitions = readsLanes ? try topics.partitions(of: topics.terms.requests) : []
        kept = try topics.kept(of: partitions)
        var ranges = kept
        if let since = filter.since {
            let lows = try topics.offsets(since: since, of: partitions, within: kept)
            ranges = zip(lows, ranges).map { $0..<max($0, $1.upperBound) }
        }
        if open != nil {
            let positions = try topics.positions()
            ranges = zip(partitions, ranges).map { partition, range in
                max(positions[partition]?.start ?? 0, range.lowerBound).clamped(to: range)
            }
        }
        let until = min(filter.until ?? .max, cursor?.until ?? .max)
        if until < .max {
            let latest = until.addingSaturated(BackwardScan.disorder)
            let ends = try topics.offsets(since: latest, of: partitions, within: kept)
            ranges = zip(ranges, ends).map { $0.lowerBound..<max($0.lowerBound, min($0.upperBound, $1)) }
        }
        pieces = BackwardPieces(ranges, since: filter.since, until: min(topics.now.milliseconds, until))
        limit = Self.firstLimit(for: filter, capacity: capacity)
    }

    /// The most records of the first piece. What a request alone decides lets few of many through. Of all others there is room for some.
    static func firstLimit(for filter: ResultFilter, capacity: Int) -> Int64 {
        filter.isSelective ? firstLimits.selective : max(firstLimits.any, Int64(capacity).multiplied(by: 4))
    }

    /// The next attempt at a first piece after one of `limit` records took too long: its most records, and its time, or nil for any.
    static func attempt(after limit: Int64) -> (limit: Int64, patience: Duration?) {
        let less = max(1, limit / 4)
        return (less, less <= certainPiece ? nil : retryPatience)
    }

    /// Every request published at this moment or later was read.
    var reached: Int64 { pieces.reached }
    /// Nothing is unread that the filter's times let through.
    var isDone: Bool { pieces.isDone }
    /// True if candidates were let go behind the last that was given out, so that another scan has to go on there.
    var isSpent: Bool { gathering.floor != nil && gathering.count == 0 }
    /// The offsets of the lanes, of which some may hold no record.
    var totalCount: Int64 { kept.reduce(Int64(0)) { $0.addingSaturated($1.upperBound - $1.lowerBound) } }

    /// Adds a candidate that was found elsewhere. All of them come before the first reading.
    mutating func add(_ candidate: SearchCandidate) {
        if candidate.isNamed { gathering.take(candidate) } else if seeksPossible { possible.take(candidate) }
    }

    /// Reads until there are enough candidates, everything was read, or the deadline has passed.
    ///
    /// - Parameters:
    ///   - wanted: The number of candidates that is enough.
    ///   - deadline: The end of reading, but for a small first piece.
    /// - Returns: The candidates.
    /// - Throws: The lanes cannot be read, or the job was cancelled.
    mutating func next(_ wanted: Int, until deadline: Deadline) throws(JobFailure) -> SearchBatch {
        var found: [SearchCandidate] = []
        while true {
            var batch = gathering.takeOut(since: pieces.reached, isWhole: pieces.isDone)
            found += batch.candidates
            batch.candidates = found
            if found.count >= wanted || !batch.hasMore || isSpent || !isFirst && deadline.hasPassed { return batch }
            var isRead = try readPiece(until: deadline)
            while !isRead, isFirst {
                let next = Self.attempt(after: limit)
                limit = next.limit
                isRead = try readPiece(until: Deadline(after: next.patience))
            }
            guard isRead else { return batch }
        }
    }

    /// The newest of those that the hub alone can tell, and true if there may be more.
    mutating func takePossible() -> (candidates: [SearchCandidate], hasMore: Bool) {
        let found = possible.takeOut(since: pieces.reached, isWhole: pieces.isDone).candidates
        return (Array(found.prefix(Self.possibleLimit)), found.count > Self.possibleLimit || !pieces.isDone)
    }

    /// Reads the next piece. Returns false if the deadline passed within it, so that it counts as unread.
    private mutating func readPiece(until deadline: Deadline) throws(JobFailure) -> Bool {
        let piece = try pieces.next(
            atMost: limit,
            startingAt: { time throws(JobFailure) in try topics.offsets(since: time, of: partitions, within: kept) })
        guard let piece else { return true }
        let parts = zip(partitions, piece.offsets).map { RangeReader.Part($0, offsets: $1) }
        let began = Deadline.milliseconds()
        let isWhole = try topics.read(parts, until: deadline) { index, record in
            take(record, in: partitions[index])
            return true
        }
        guard isWhole else { return false }
        isFirst = false
        pieces.finish(piece)
        // A piece that is larger than what can be read in a second would be lost where time runs out.
        let speed = piece.count.multiplied(by: 1000) / max(1, Deadline.milliseconds() - began)
        limit = min(max(limit, min(limit.multiplied(by: 4), speed)), Self.largestPiece)
        return true
    }

    private mutating func take(_ record: borrowing ConsumedRecord, in partition: TopicPartition) {
        readCount += 1
        let time = record.timestamp ?? 0
        guard filter.covers(time) else { return }
        let offset = record.offset
        func place() -> RecordPlace { RecordPlace(topic: partition.topic, partition: partition.partition, offset: offset) }
        guard gathering.hasRoom(for: time, at: place()) || seeksPossible && possible.hasRoom(for: time, at: place()),
            let candidate = reader.candidate(of: record, in: partition)
        else { return }
        add(candidate)
    }
}

extension Int64 {
    fileprivate func clamped(to range: Range<Int64>) -> Range<Int64> { Swift.min(self, range.upperBound)..<range.upperBound }

    fileprivate func multiplied(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
