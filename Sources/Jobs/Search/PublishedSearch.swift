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
        var isCut = false
        if open == nil, let keeper = search.index {
            if let newest = try readNewest(keeper, of: limit, after: cursor, until: reading, joining: joining) {
                (place, isCut) = (newest, shown.count >= limit || reading.hasPassed)
            }
            if !isCut {
                place = try readIndex(
                    keeper, of: limit, after: place.end, isFirstPage: cursor == nil, until: reading, joining: joining)
            }
        }
        if place.hasMore, shown.count < limit, !isCut {
            do throws(JobFailure) {
                place = try readLanes(of: limit, after: place.end, until: reading, joining: joining)
            } catch {
                // Rows of the index are true while brokers are away.
                if case .cancelled = error { throw error }
                guard place.end != cursor else { throw error }
            }
        }
        var page = page(of: limit, end: place.end, hasMore: place.hasMore)
        guard cursor == nil, filter.seeksPerson, shown.isEmpty || hasPersons else { return page }
        page.possible = try rows(of: possible, until: Deadline(after: joining)).map(\.row)
        page.hasMorePossible = hasMorePossible && !page.possible.isEmpty
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

    private func rows(
        of candidates: [SearchCandidate], until deadline: Deadline
    ) throws(JobFailure) -> [(candidate: SearchCandidate, row: SearchRow)] {
        guard !candidates.isEmpty else { return [] }
        var join = SearchJoin(
            candidates, topics: topics, answers: search.answers, isOpenAlone: open != nil, until: deadline)
        return zip(candidates, try join.rows()).filter { isWanted($1, of: $0) && isVisible($1) }.map { ($0, $1) }
    }

    /// True if the terms of the filter hold for the result of a request, or for what is known without one.
    private func isWanted(_ row: SearchRow, of candidate: SearchCandidate) -> Bool {
        guard !filter.terms.isEmpty else { return true }
        var document = JSONDocument()
        if let result = row.result { return document.readResult(result.json.span) && filter.matches(document) }
        var facts = candidate.facts ?? RequestFacts(id: row.id, audience: AudienceSummary(.users, count: 0))
        facts.id = row.id
        let (place, state) = (candidate.place, row.state)
        let shape = facts.resultShape(state: state, topic: place.topic, partition: place.partition, offset: place.offset)
        return document.readResult(shape.span) && filter.matches(document)
    }
}

// From the index.
extension PublishedSearch {
    /// Shows what the index has. Returns the place behind it, and true if there may be more.
    private mutating func readIndex(
        _ keeper: RequestIndexKeeper, of limit: Int, after cursor: SearchCursor?, isFirstPage: Bool, until deadline: Deadline,
        joining: Duration
    ) throws(JobFailure) -> (end: SearchCursor?, hasMore: Bool) {
        // No index has what could not be read.
        guard !filter.names(.state, word: SearchPlan.deadLetter) else { return (cursor, true) }
        let wanted = filter.asksResults ? max(Self.batch, limit.addingSaturated(1)) : limit.addingSaturated(1)
        var (end, hasMore) = (cursor, true)
        var isFirst = true
        while hasMore, isFirst || shown.count < limit && !deadline.hasPassed {
            guard let (batch, reach) = indexed(keeper, after: end, wanted: wanted) else { break }
            if isFirst, isFirstPage, filter.seeksPerson { takePossible(from: keeper, since: reach) }
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
        let until = min(filter.until ?? .max, cursor?.until ?? .max, WaitingReader.moment(.max).milliseconds) - 1
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

    private mutating func takePossible(from keeper: RequestIndexKeeper, since reach: Int64) {
        let until = min(filter.until ?? .max, WaitingReader.moment(.max).milliseconds) - 1
        let found = keeper.answer(unless: search.context.isCancelled) { index throws(SQLiteError) in
            try index.rows(
                matching: filter, since: max(filter.since ?? 0, reach), through: until, isPossible: true,
                readingTitles: readsTitles, limit: LaneScan.possibleLimit + 1)
        }
        guard let found else { return }
        // Newer ones may be there, from the lanes.
        let known = Set(possible.map(\.place))
        possible += found.filter { !known.contains($0.place) }.map { SearchCandidate($0, isNamed: false, for: filter) }
        hasMorePossible = hasMorePossible || possible.count > LaneScan.possibleLimit || reach > filter.since ?? .min
        possible = Array(possible.prefix(LaneScan.possibleLimit))
    }
}

// From the topics.
extension PublishedSearch {
    /// An index that has everything up to so many milliseconds ago is asked alone. It follows within one second.
    private static let indexPatience: Int64 = 2000

    /// The moment from which on requests are read from the lanes, because an index may not have them yet, or nil if it may be asked alone.
    ///
    /// - Parameters:
    ///   - upTo: The moment up to which it has everything that was in the lanes then.
    ///   - now: The present.
    ///   - until: The first moment that is not asked for.
    /// - Returns: The moment, earlier than `upTo`, because clocks of publishers differ.
    static func seam(upTo: Int64, now: Int64, until: Int64) -> Int64? {
        guard upTo.addingSaturated(indexPatience) < now else { return nil }
        let seam = max(0, upTo.addingSaturated(-BackwardScan.disorder))
        return seam < until ? seam : nil
    }

    /// Shows what an index that is behind may not have yet, from the lanes. Returns the place behind it, or nil where the index is asked alone.
    private mutating func readNewest(
        _ keeper: RequestIndexKeeper, of limit: Int, after cursor: SearchCursor?, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) -> (end: SearchCursor?, hasMore: Bool)? {
        let until = min(filter.until ?? .max, cursor?.until ?? .max)
        let known = keeper.answer { index in index.knows(filter) && index.reach < until ? index.upTo : .max }
        guard let known, let seam = Self.seam(upTo: known, now: search.context.now(), until: until) else { return nil }
        do throws(JobFailure) {
            let place = try readLanes(of: limit, after: cursor, since: seam, until: deadline, joining: joining)
            guard place.hasMore else { return (SearchCursor(time: seam, place: nil), true) }
            if place.end != cursor || !shown.isEmpty { return place }
        } catch {
            // While brokers are away, the index is of use all the same, and nobody takes it for all.
            if case .cancelled = error { throw error }
        }
        isComplete = false
        return nil
    }

    /// Shows what the topics have, from a moment on where one is given. Returns the place behind it, and true if there may be more.
    private mutating func readLanes(
        of limit: Int, after cursor: SearchCursor?, since moment: Int64? = nil, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) -> (end: SearchCursor?, hasMore: Bool) {
        isScanned = true
        var matcher = matcher
        if let moment {
            var newest = filter
            newest.add(since: moment)
            matcher = RequestMatcher(newest, readingTitles: readsTitles, seekingPossible: cursor == nil && filter.seeksPerson)
        }
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
