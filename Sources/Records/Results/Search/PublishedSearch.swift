import Groups
import JobSupport
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
    /// The records that are shown already.
    private var places: Set<RecordPlace> = []
    private var hasPersons = false
    /// The end of the list so far, behind which there may be more.
    private var place: (end: SearchCursor?, hasMore: Bool) = (nil, true)
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
        place = (cursor, true)
        let isFirst = cursor == nil
        do throws(JobFailure) {
            if open == nil, let keeper = search.index {
                let isAtIndex = try readNewest(keeper, of: limit, isFirst: isFirst, until: reading, joining: joining)
                if isAtIndex, place.end == cursor || shown.count < limit && !reading.hasPassed {
                    try readIndex(keeper, of: limit, isFirstPage: isFirst, until: reading, joining: joining)
                }
            }
            if place.hasMore, shown.count < limit, place.end == cursor || !reading.hasPassed {
                try readLanes(of: limit, isFirst: isFirst, until: reading, joining: joining)
            }
        } catch {
            // Rows are true, whoever ended the search.
            guard place.end != cursor || !shown.isEmpty else { throw error }
            isComplete = false
        }
        let others =
            cursor == nil && filter.seeksPerson && (shown.isEmpty || hasPersons) ? try possibleRows(joining: joining) : []
        var page = page(of: limit, end: place.end, hasMore: place.hasMore)
        page.possible = others
        page.hasMorePossible = hasMorePossible && !others.isEmpty
        return page
    }

    /// The rows of those that the hub alone can tell, but for those that are in the list.
    private mutating func possibleRows(joining: Duration) throws(JobFailure) -> [SearchRow] {
        let others = possible.filter { !places.contains($0.place) }
        do throws(JobFailure) { return try rows(of: others, until: Deadline(after: joining)).map(\.row) } catch {
            guard place.end != nil || !shown.isEmpty else { throw error }
            (isComplete, hasMorePossible) = (false, true)
            return []
        }
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
        let fresh = candidates.filter { candidate in
            let isNew = places.insert(candidate.place).inserted
            return candidate.whole.map { wholes.insert($0.id).inserted } ?? isNew
        }
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
    /// Shows what the index has.
    private mutating func readIndex(
        _ keeper: RequestIndexKeeper, of limit: Int, isFirstPage: Bool, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) {
        // No index has what could not be read.
        guard !filter.names(.state, word: SearchPlan.deadLetter) else { return }
        let wanted = filter.asksResults ? max(Self.batch, limit.addingSaturated(1)) : limit.addingSaturated(1)
        var isFirst = true
        while place.hasMore, isFirst || shown.count < limit && !deadline.hasPassed {
            guard let (batch, reach) = indexed(keeper, after: place.end, wanted: wanted, until: deadline) else { break }
            if isFirst, isFirstPage, filter.seeksPerson { takePossible(from: keeper, since: reach, until: deadline) }
            isFirst = false
            readCount += batch.candidates.count
            try show(batch.candidates, joining: joining)
            place = (batch.end, batch.hasMore)
            // Older requests are not in it.
            if let end = batch.end, end.time <= reach { break }
        }
    }

    /// The newest of the index behind a place, and the moment since which it has everything, or nil while it is of no use.
    private func indexed(
        _ keeper: RequestIndexKeeper, after cursor: SearchCursor?, wanted: Int, until deadline: Deadline
    ) -> (batch: SearchBatch, reach: Int64)? {
        let until = Self.last(of: filter, after: cursor)
        let isCancelled = search.context.isCancelled
        let found = keeper.answer(unless: isCancelled) { index throws(SQLiteError) -> IndexedRows? in
            guard index.knows(filter), index.reach <= until else { return nil }
            var rows = IndexedRows(reach: index.reach, since: max(filter.since ?? 0, index.reach))
            guard rows.since <= until else { return rows }
            rows.published = try index.part(
                matching: filter, since: rows.since, through: until, isPossible: false, readingTitles: readsTitles, limit: wanted,
                until: deadline)
            // Of what is delayed, the times that are asked for are those of being due, too.
            if let since = filter.since, !filter.isByPublication {
                rows.delayed = try index.delayedPart(
                    matching: filter, dueSince: since, through: until, readingTitles: readsTitles, limit: wanted, until: deadline)
            }
            rows.persons = try persons(in: index, among: rows, through: until)
            return rows
        }
        guard let found, let rows = found else { return nil }
        return (rows.batch(after: cursor, for: filter), rows.reach)
    }

    /// The records that name a person or a device for whom a plain word may stand. Nil where all of them do.
    private func persons(
        in index: RequestIndex, among rows: IndexedRows, through until: Int64
    ) throws(SQLiteError) -> Set<RecordPlace>? {
        guard let filters = filter.ofPersons else { return nil }
        var places: Set<RecordPlace> = []
        for filter in filters where rows.reached <= until {
            let published = try index.rows(
                matching: filter, since: rows.reached, through: until, isPossible: false, readingTitles: readsTitles,
                limit: rows.published.requests.count)
            let delayed = try index.delayed(
                matching: filter, dueSince: rows.reached, through: until, readingTitles: readsTitles,
                limit: rows.delayed.requests.count)
            places.formUnion((published + delayed).map(\.place))
        }
        return places
    }

    /// The last moment that requests behind a place can have. A place may be forged, and name any moment.
    static func last(of filter: ResultFilter, after cursor: SearchCursor?) -> Int64 {
        min(filter.until ?? .max, cursor?.until ?? .max, WaitingReader.moment(.max).milliseconds).addingSaturated(-1)
    }

    private mutating func takePossible(from keeper: RequestIndexKeeper, since reach: Int64, until deadline: Deadline) {
        let until = Self.last(of: filter, after: nil)
        let found = keeper.answer(unless: search.context.isCancelled) { index throws(SQLiteError) in
            try index.part(
                matching: filter, since: max(filter.since ?? 0, reach), through: until, isPossible: true,
                readingTitles: readsTitles, limit: LaneScan.possibleLimit + 1, until: deadline)
        }
        guard let found else { return }
        // Newer ones may be there, from the lanes.
        let known = Set(possible.map(\.place))
        possible += found.requests.filter { !known.contains($0.place) }
            .map { SearchCandidate($0, isNamed: false, isPerson: false) }
        hasMorePossible =
            hasMorePossible || found.reached != nil || possible.count > LaneScan.possibleLimit || reach > filter.since ?? .min
        possible = Array(possible.prefix(LaneScan.possibleLimit))
    }
}

// From the topics.
extension PublishedSearch {
    /// The most candidates of a scan. Where results decide, more of them the more were read in vain: each joining reads topics again.
    static func capacity(for filter: ResultFilter, missing: Int, scans: Int) -> Int {
        guard filter.asksResults else { return missing }
        return min(max(missing, batch << min(2 * scans, 8)), CandidateGathering.maximumCapacity)
    }

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

    /// Shows what an index that is behind may not have yet, from the lanes. Returns false if it did not come down to what the index has.
    private mutating func readNewest(
        _ keeper: RequestIndexKeeper, of limit: Int, isFirst: Bool, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) -> Bool {
        let cursor = place.end
        let until = min(filter.until ?? .max, cursor?.until ?? .max)
        let known = keeper.answer { index in index.knows(filter) && index.reach < until ? index.upTo : .max }
        guard let known, let seam = Self.seam(upTo: known, now: search.context.now(), until: until) else { return true }
        do throws(JobFailure) {
            try readLanes(of: limit, isFirst: isFirst, since: seam, until: deadline, joining: joining)
            guard place.hasMore else {
                place = (SearchCursor(time: seam, place: nil), true)
                return true
            }
            if place.end != cursor || !shown.isEmpty { return false }
        } catch {
            // While brokers are away, the index is of use all the same, and nobody takes it for all.
            if case .cancelled = error { throw error }
        }
        isComplete = false
        return true
    }

    /// Shows what the topics have, from a moment on where one is given.
    private mutating func readLanes(
        of limit: Int, isFirst: Bool, since moment: Int64? = nil, until deadline: Deadline, joining: Duration
    ) throws(JobFailure) {
        isScanned = true
        var matcher = matcher
        if let moment {
            var newest = filter
            newest.add(since: moment)
            matcher = RequestMatcher(newest, readingTitles: readsTitles, seekingPossible: isFirst && filter.seeksPerson)
        }
        var scans = 0
        while true {
            let capacity = Self.capacity(for: filter, missing: limit.addingSaturated(1) - shown.count, scans: scans)
            scans += 1
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
            if isFirst, possible.isEmpty { (possible, hasMorePossible) = scan.takePossible() }
            guard place.hasMore, shown.count < limit, !deadline.hasPassed else { return }
        }
    }
}
