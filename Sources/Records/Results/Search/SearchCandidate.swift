import PushModel
import Replay
import ResultQuery

/// A request as it was published, before its result is known.
struct SearchCandidate {
    /// A large request that came as a file, so that its parts alone tell of it.
    struct Whole {
        let id: String
        /// The moment of its publication, in milliseconds since 1970.
        let publishedAt: Int64
        /// Its key in the topic of parents, if a part names it.
        var key: ParentKey?
        /// False if no part of it was read, so that nothing is known of its audience.
        var isSeen = true
    }

    /// The record that it was published with.
    let origin: RecordOrigin
    /// The moment by which an index lists it: for a delayed request that is sought by that, the one at which it is due.
    var listedAt: Int64?
    /// The request's id.
    let id: String
    /// The facts of its record, or nil for one that cannot be read.
    var facts: RequestFacts?
    /// The whole for which a part stands.
    var whole: Whole?
    /// True if it names what is sought.
    var isNamed = true
    /// True if a person or device that was sought is named by its audience.
    var isNamedAsPerson = false
    /// Its records that wait in delay lanes or as held ones, as far as they were read already.
    var waiting: [FoundRequest] = []

    init(at origin: RecordOrigin, id: String, facts: RequestFacts?) {
        (self.origin, self.id, self.facts) = (origin, id, facts)
    }

    /// A request of the index. It is listed by the moment of that, since clocks of those who publish may be ahead.
    init(_ request: IndexedRequest, isNamed: Bool, isPerson: Bool) {
        origin = RecordOrigin(
            topic: request.place.topic, partition: request.place.partition, offset: request.place.offset,
            timestamp: Timestamp(milliseconds: request.publishedAt))
        (id, facts, self.isNamed) = (request.facts.id, request.facts, isNamed)
        (listedAt, isNamedAsPerson) = (request.time, isPerson)
    }

    /// A large request that came as a file, by its record in the topic of parents.
    init(_ record: ParentRecord, at place: RecordOrigin) {
        var facts = RequestFacts(id: record.id, audience: AudienceSummary(.users, count: 0))
        (facts.tenant, facts.hub) = (record.tenant, record.hub)
        self.init(at: place, id: record.id, facts: facts)
        whole = Whole(id: record.id, publishedAt: place.timestamp.milliseconds, isSeen: false)
    }

    /// The moment of publication, in milliseconds since 1970.
    var publishedAt: Int64 { origin.timestamp.milliseconds }

    /// The moment by which it is listed, in milliseconds since 1970.
    var time: Int64 { listedAt ?? publishedAt }

    var place: RecordPlace { RecordPlace(origin) }

    /// The place behind it in a list.
    var cursor: SearchCursor { SearchCursor(time: time, place: place) }
}

/// Some candidates, newest first.
struct SearchBatch {
    var candidates: [SearchCandidate]
    /// The place behind them, or nil for the beginning of the list, and for its end.
    var end: SearchCursor?
    /// False if nothing follows.
    var hasMore = true
}

/// The newest candidates behind a place, of those that come in any order, and no more of them than have room.
struct CandidateGathering {
    /// The most candidates of a page, whatever is asked for: with some 2 KB each, 20 MB.
    static let maximumCapacity = 10_000

    /// The most that are kept.
    let capacity: Int
    private let cursor: SearchCursor?
    private var found: [SearchCandidate] = []
    /// The last of the kept, if others behind it were let go.
    private(set) var floor: SearchCursor?

    init(_ capacity: Int, after cursor: SearchCursor?) {
        self.capacity = min(max(1, capacity), Self.maximumCapacity)
        self.cursor = cursor
    }

    var count: Int { found.count }

    /// True if a record has its place among the kept ones.
    func hasRoom(for moment: Int64, at place: @autoclosure () -> RecordPlace) -> Bool {
        if let cursor, !cursor.isBefore(moment, at: place()) { return false }
        guard let floor else { return true }
        return !floor.isBefore(moment, at: place())
    }

    /// Takes a candidate, once each.
    mutating func take(_ candidate: SearchCandidate) {
        guard hasRoom(for: candidate.time, at: candidate.place) else { return }
        found.append(candidate)
        if found.count > 2 * capacity { trim() }
    }

    /// Takes out those that nothing newer than them can precede any more, newest first.
    ///
    /// - Parameters:
    ///   - reached: Every request published at this moment or later was taken.
    ///   - isWhole: Every request was taken.
    /// - Returns: The candidates.
    mutating func takeOut(since reached: Int64, isWhole: Bool) -> SearchBatch {
        trim()
        let certain = isWhole ? found[...] : found.prefix { $0.time >= reached }
        let candidates = Array(certain)
        found.removeFirst(candidates.count)
        if found.isEmpty, let floor { return SearchBatch(candidates: candidates, end: floor) }
        if isWhole { return SearchBatch(candidates: candidates, end: nil, hasMore: false) }
        return SearchBatch(candidates: candidates, end: reached == .max ? cursor : SearchCursor(time: reached, place: nil))
    }

    private mutating func trim() {
        found.sort { $1.cursor.isBefore($0) }
        // One that waits has a record for each lane that it went through.
        var kept: [SearchCandidate] = []
        for candidate in found {
            if let last = kept.last, last.cursor == candidate.cursor {
                kept[kept.count - 1].waiting += candidate.waiting
            } else {
                kept.append(candidate)
            }
        }
        found = kept
        guard found.count > capacity else { return }
        found.removeLast(found.count - capacity)
        floor = found.last?.cursor
    }
}

extension SearchCursor {
    /// True if a candidate stands before this place in the list.
    fileprivate func isBefore(_ candidate: SearchCandidate) -> Bool {
        (time, place ?? candidate.place) < (candidate.time, candidate.place)
    }
}

extension SearchCandidate.Whole {
    /// The record that it was published with, as its key has it, or nil for a file.
    var place: RecordPlace? {
        key.flatMap {
            RecordPlace($0.text.split(separator: ":", omittingEmptySubsequences: false).prefix(3).joined(separator: ":"))
        }
    }
}
