import Delivery
import Publishing
import PushModel
import Replay
import ResultQuery
import SQLite

/// The search for one page by moments of publication.
struct PublishedSearch {
    /// The candidates that are joined at a time where results decide which are wanted.
    private static let batch = 200
    /// The share of the time that reading requests may take. The rest is for what became of them.
    private static let readingShare = 0.6
    /// The least and the usual time for finding out what became of some candidates.
    private static let joining: (least: Duration, usual: Duration) = (.milliseconds(500), .seconds(10))

    private let search: RequestSearch
    private let plan: SearchPlan
    private let filter: ResultFilter
    private let matcher: RequestMatcher
    private let readsTitles: Bool
    private let isVisible: @Sendable (SearchRow) -> Bool
    private let topics: SearchTopics
    private var shown: [(row: SearchRow, cursor: SearchCursor)] = []
    private var possible: [SearchCandidate] = []
    private var hasMorePossible = false
    /// The wholes that are shown already.
    private var wholes: Set<String> = []
    private var hasPersons = false
    private var (readCount, totalCount): (Int, Int64) = (0, 0)
    private var isComplete = true
    private var isScanned = false

    init(
        _ search: RequestSearch, by plan: SearchPlan, for filter: ResultFilter, readingTitles readsTitles: Bool,
        isFirstPage: Bool,
        isVisible: @escaping @Sendable (SearchRow) -> Bool
    ) {
        (self.search, self.plan, self.filter, self.readsTitles, self.isVisible) = (search, plan, filter, readsTitles, isVisible)
        matcher = RequestMatcher(filter, readingTitles: readsTitles, seekingPossible: isFirstPage && filter.seeksPerson)
        topics = SearchTopics(search.context, terms: search.terms)
    }

    private var open: Set<RequestWhereabouts.State>? { if case .open(let states) = plan { states } else { nil } }

    mutating func page(of limit: Int, after cursor: SearchCursor?, patience: Duration?) throws(JobFailure) -> SearchPage {
        let reading = Deadline(after: patience.map { $0 * Self.readingShare })
        let joining = patience.map { max(Self.joining.least, $0 * (1 - Self.readingShare)) } ?? Self.joining.usual
        // The end of the list so far, behind which there may be more.
        var place = (end: cursor, hasMore: true)
        if open == nil, let keeper = search.index {
            place = try readIndex(keeper, of: limit, after: cursor, until: reading, joining: joining)
        }
        if place.hasMore, shown.count < limit {
            do throws(JobFailure) {
                place = try readLanes(of: limit, after: place.end, until: reading, joining: joining)
            } catch {
                // Rows of the index are true while brokers are away.
                if case .cancelled = error { throw error }
                guard place.end != cursor else { throw error }
            }
        }
        var others: [SearchRow] = []
        if cursor == nil, filter.seeksPerson, shown.isEmpty || hasPersons {
            others = try rows(of: possible, until: Deadline(after: joining)).map(\.row)
        }
        var page = page(of: limit, end: place.end, hasMore: place.hasMore)
        page.possible = others
        page.hasMorePossible = hasMorePossible && !others.isEmpty
        return page
    }

    private func page(of limit: Int, end: SearchCursor?, hasMore: Bool) -> SearchPage {
        let rows = shown.prefix(limit)
        let isFull = rows.count == limit && (shown.count > limit || hasMore)
        let next = isFull ? rows.last?.cursor : hasMore ? end : nil
        let since = next?.time ?? filter.since
        let extent = SearchExtent(
            source: isScanned ? .scan : .index, since: since.map { Timestamp(milliseconds: $0) }, records: readCount,
            of: max(Int(clamping: totalCount), readCount), isComplete: isComplete && (isFull || !hasMore))
        return SearchPage(rows: rows.map(\.row), next: next.map { .requests($0) }, order: .published, searched: extent)
    }

    /// Shows those of some candidates that match by their results, too.
    private mutating func show(_ candidates: [SearchCandidate], joining: Duration) throws(JobFailure) {
        let fresh = candidates.filter { candidate in candidate.whole.map { wholes.insert($0.id).inserted } ?? true }
        for found in try rows(of: fresh, until: Deadline(after: joining)) {
            shown.append((found.row, found.candidate.cursor))
            if found.candidate.isNamedAsPerson { hasPersons = true }
        }
    }

    private mutating func rows(
        of candidates: [SearchCandidate], until deadline: Deadline
    ) throws(JobFailure) -> [(candidate: SearchCandidate, row: SearchRow)] {
        guard !candidates.isEmpty else { return [] }
        var join = SearchJoin(
            candidates, topics: topics, answers: search.answers, isOpenAlone: open != nil, until: deadline)
        let rows = try join.rows()
        isComplete = isComplete && join.isComplete
        return zip(candidates, rows).filter { filter.wants($1, of: $0) && isVisible($1) }.map { ($0, $1) }
    }
}

// From the index.
extension PublishedSearch {
    /// Shows what the index has. Returns the place behind it, and true if there may be more.
    private mutating func readIndex(
        _ keeper: RequestIndexKeeper, of limit: Int, after cursor: SearchCursor?, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) -> (end: SearchCursor?, hasMore: Bool) {
        // No index has what could not be read.
        guard !filter.names(.state, word: SearchPlan.deadLetter) else { return (cursor, true) }
        let wanted = filter.asksResults ? max(Self.batch, limit.addingSaturated(1)) : limit.addingSaturated(1)
        var (end, hasMore) = (cursor, true)
        var isFirst = true
        while hasMore, isFirst || shown.count < limit && !deadline.hasPassed {
            guard let (batch, reach) = indexed(keeper, after: end, wanted: wanted) else { break }
            if isFirst, cursor == nil, filter.seeksPerson { takePossible(from: keeper, since: reach) }
            isFirst = false
            readCount += batch.candidates.count
            try show(batch.candidates, joining: joining)
            (end, hasMore) = (batch.end, batch.hasMore)
            // Older requests are not in it.
            if let end, end.time <= reach { break }
        }
        return (end, hasMore)
    }

    /// The newest of the index behind a place, and the moment since which it has everything, or nil while it is of no use.
    private func indexed(
        _ keeper: RequestIndexKeeper, after cursor: SearchCursor?, wanted: Int
    ) -> (batch: SearchBatch, reach: Int64)? {
        let until = Self.last(of: filter, after: cursor)
        let isCancelled = search.context.isCancelled
        let found = keeper.answer(unless: isCancelled) { index throws(SQLiteError) -> IndexedRows? in
            guard index.knows(filter), index.reach <= until else { return nil }
            var rows = IndexedRows(reach: index.reach, since: max(filter.since ?? 0, index.reach), wanted: wanted)
            guard rows.since <= until else { return rows }
            rows.published = try index.rows(
                matching: filter, since: rows.since, through: until, isPossible: false, readingTitles: readsTitles, limit: wanted)
            // Of what is delayed, the times that are asked for are those of being due, too.
            guard let since = filter.since else { return rows }
            rows.delayed = try index.delayed(
                matching: filter, dueSince: since, through: until, readingTitles: readsTitles, limit: wanted)
            return rows
        }
        guard let found, let rows = found else { return nil }
        var gathering = CandidateGathering(rows.count, after: cursor)
        func take(_ request: IndexedRequest, listedAt: Int64?) {
            var candidate = SearchCandidate(request, isNamed: true, for: filter)
            candidate.listedAt = listedAt
            if candidate.standsInIndex(for: filter) { gathering.take(candidate) }
        }
        for request in rows.published { take(request, listedAt: nil) }
        for request in rows.delayed where !filter.covers(request.publishedAt) {
            take(request, listedAt: request.facts.due?.milliseconds)
        }
        var batch = gathering.takeOut(since: rows.reached, isWhole: false)
        batch.end = SearchCursor(time: rows.reached, place: nil)
        batch.hasMore = rows.reached > rows.since || rows.reach > filter.since ?? .min
        return (batch, rows.reach)
    }

    /// The newest rows of an index.
    private struct IndexedRows {
        let reach: Int64
        /// The first moment of publication that was asked for.
        let since: Int64
        let wanted: Int
        var published: [IndexedRequest] = []
        var delayed: [IndexedRequest] = []

        init(reach: Int64, since: Int64, wanted: Int) { (self.reach, self.since, self.wanted) = (reach, since, wanted) }

        var count: Int { published.count + delayed.count }

        /// Everything of this moment or later is there.
        var reached: Int64 {
            let ends = [
                published.count < wanted ? nil : published.last?.publishedAt,
                delayed.count < wanted ? nil : delayed.last?.facts.due?.milliseconds,
            ]
            return max(since, ends.compactMap(\.self).max() ?? since)
        }
    }

    /// The last moment that requests behind a place can have. A place may be forged, and name any moment.
    static func last(of filter: ResultFilter, after cursor: SearchCursor?) -> Int64 {
        min(filter.until ?? .max, cursor?.until ?? .max, WaitingReader.moment(.max).milliseconds).addingSaturated(-1)
    }

    private mutating func takePossible(from keeper: RequestIndexKeeper, since reach: Int64) {
        let until = Self.last(of: filter, after: nil)
        let found = keeper.answer(unless: search.context.isCancelled) { index throws(SQLiteError) in
            try index.rows(
                matching: filter, since: max(filter.since ?? 0, reach), through: until, isPossible: true,
                readingTitles: readsTitles, limit: LaneScan.possibleLimit + 1)
        }
        guard let found else { return }
        possible = found.prefix(LaneScan.possibleLimit).map { SearchCandidate($0, isNamed: false, for: filter) }
        hasMorePossible = found.count > LaneScan.possibleLimit || reach > filter.since ?? .min
    }
}

// From the topics.
extension PublishedSearch {
    /// Shows what the topics have. Returns the place behind it, and true if there may be more.
    private mutating func readLanes(
        of limit: Int, after cursor: SearchCursor?, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) -> (end: SearchCursor?, hasMore: Bool) {
        isScanned = true
        var place = (end: cursor, hasMore: true)
        while true {
            let missing = limit.addingSaturated(1) - shown.count
            let capacity = filter.asksResults ? max(Self.batch, missing) : missing
            var scan = try LaneScan(topics, for: matcher, after: place.end, capacity: capacity, open: open)
            if let open {
                var others = OpenRequests(topics, for: matcher)
                try others.read(open, until: deadline) { scan.add($0) }
                isComplete = isComplete && others.isComplete
            }
            repeat {
                let batch = try scan.next(limit.addingSaturated(1) - shown.count, until: deadline)
                try show(batch.candidates, joining: joining)
                place = (batch.end, batch.hasMore)
            } while place.hasMore && shown.count < limit && !deadline.hasPassed && !scan.isSpent
            readCount += scan.readCount
            totalCount = max(totalCount, scan.totalCount)
            if cursor == nil, possible.isEmpty { (possible, hasMorePossible) = scan.takePossible() }
            guard place.hasMore, shown.count < limit, !deadline.hasPassed else { return place }
        }
    }
}
