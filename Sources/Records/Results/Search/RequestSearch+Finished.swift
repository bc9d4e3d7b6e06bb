import Delivery
import JobSupport
import Publishing
import PushModel
import Replay
import Replays
import ResultQuery
import SQLite

// The lists of results and of dead letters.
extension RequestSearch {
    /// The most pages of results that are read for one page, where most are those of parts.
    private static let roundLimit = 20
    /// The longest reading of the records that requests were published with.
    private static let factsPatience = Duration.milliseconds(1500)

    /// Finds a page by the moments of results.
    func finished(
        _ limit: Int, matching filter: ResultFilter, after cursor: ResultCursor?, patience: Duration?,
        isVisible: @Sendable (SearchRow) -> Bool
    ) throws(JobFailure) -> SearchPage {
        let deadline = Deadline(after: patience)
        let topics = SearchTopics(context, terms: terms)
        var shown: [(row: SearchRow, cursor: ResultCursor)] = []
        var next = cursor
        var wholes: Set<String> = []
        var (records, round, isComplete) = (0, 0, true)
        while true {
            let page = try answers.page(limit, filter, after: next, patience: patience ?? .seconds(86_400))
            next = page.next
            records += page.searched.records
            let found = try rows(of: page.results, for: filter, without: &wholes, in: topics)
            isComplete = isComplete && found.isComplete
            shown += found.rows.filter { isVisible($0.row) }
            round += 1
            guard next != nil, shown.count < limit, page.searched.isComplete, round < Self.roundLimit, !deadline.hasPassed else {
                if shown.count > limit { next = shown[limit - 1].cursor }
                var searched = page.searched
                searched.isComplete = searched.isComplete && isComplete
                if searched.source == .scan { searched.records = records }
                var rows = try decorated(shown.prefix(limit).map(\.row), in: topics)
                for index in rows.indices { (rows[index].cursor, rows[index].resultCursor) = (nil, shown[index].cursor) }
                return SearchPage(rows: rows, next: next.map { .results($0) }, order: .finished, searched: searched)
            }
        }
    }

    /// The rows of results. Those of parts lead to their wholes, each of which has one row.
    private func rows(
        of results: [ResultRecord], for filter: ResultFilter, without wholes: inout Set<String>, in topics: SearchTopics
    ) throws(JobFailure) -> (rows: [(row: SearchRow, cursor: ResultCursor)], isComplete: Bool) {
        var rows: [(row: SearchRow, cursor: ResultCursor)] = []
        var parts: [(index: Int, candidate: SearchCandidate)] = []
        for result in results {
            let origin = result.origin
            var row = SearchRow(id: result.requestID, publishedAt: origin?.timestamp.milliseconds ?? result.timestamp)
            (row.place, row.result) = (origin.map { RecordPlace($0) }, result)
            // A request that is asked for by its id is shown itself.
            if !filter.mentions(.request), let whole = result.whole {
                guard wholes.insert(whole.id).inserted else { continue }
                let place =
                    origin
                    ?? RecordOrigin(
                        topic: "", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: whole.publishedAt), isDated: false)
                var facts = RequestFacts(id: whole.id, audience: AudienceSummary(.users, count: 0))
                (facts.source, facts.tenant) = (result.source, result.tenant)
                var candidate = SearchCandidate(at: place, id: whole.id, facts: facts)
                candidate.whole = whole
                parts.append((rows.count, candidate))
            } else if !filter.mentions(.request) {
                // Its parts may have led to it.
                guard wholes.insert(result.requestID).inserted || !result.hasParts else { continue }
            }
            rows.append((row, ResultCursor(result)))
        }
        guard !parts.isEmpty else { return (rows, true) }
        var join = SearchJoin(
            parts.map(\.candidate), topics: topics, answers: answers, isOpenAlone: false,
            until: Deadline(after: Self.factsPatience))
        for ((index, candidate), var row) in zip(parts, try join.rows()) {
            row.place = candidate.whole?.place
            rows[index].row = row
        }
        return (rows, join.isComplete)
    }

    /// The rows with the facts of their records, as far as these are still kept, and can be read in a moment.
    private func decorated(_ rows: [SearchRow], in topics: SearchTopics) throws(JobFailure) -> [SearchRow] {
        var facts: [RecordPlace: RequestFacts] = [:]
        let wanted = rows.compactMap { row in
            row.place.map { place in
                let time = Timestamp(milliseconds: row.publishedAt)
                return row.result?.origin
                    ?? RecordOrigin(
                        topic: place.topic, partition: place.partition, offset: place.offset, timestamp: time, isDated: false)
            }
        }
        let known = index?.answer(unless: context.isCancelled) { index throws(SQLiteError) in
            var found: [RecordPlace: RequestFacts] = [:]
            for origin in wanted {
                let place = RecordPlace(origin)
                found[place] = try index.facts(at: place, publishedAt: origin.timestamp.milliseconds)
            }
            return found
        }
        if let known { facts = known }
        let unknown = wanted.filter { facts[RecordPlace($0)] == nil }
        do throws(JobFailure) {
            var reader = CandidateReader(RequestMatcher(ResultFilter()), own: context.topics.requestsOwn)
            if !unknown.isEmpty {
                _ = try OriginRecords(topics).read(unknown, until: Deadline(after: Self.factsPatience)) { origin, record in
                    facts[RecordPlace(origin)] = reader.facts(of: record, from: origin)
                }
            }
        } catch {
            // A list of results is of use without them.
            if case .cancelled = error { throw error }
        }
        return rows.map { row in
            var row = row
            // Another request may stand at the place today.
            row.facts = row.place.flatMap { facts[$0] }.flatMap { $0.id == row.id && row.isOf($0.tenant) ? $0 : nil }
            return row
        }
    }

    /// Finds a page of dead letters, which have no owner, by the moments at which they were given up.
    func deadLetters(
        _ limit: Int, matching filter: ResultFilter, after cursor: SearchCursor?, patience: Duration?,
        isVisible: @Sendable (SearchRow) -> Bool
    ) throws(JobFailure) -> SearchPage {
        var rows: [SearchRow] = []
        var (next, read) = (cursor, 0)
        let deadline = Deadline(after: patience)
        let bytes = ByteMatcher(filter.sought)
        var isDone = filter.requiresTenant
        while !isDone, rows.count < limit {
            let place = next.map {
                DeadLetterOrder(time: $0.time, partition: $0.place?.partition ?? 0, offset: $0.place?.offset ?? 0).text
            }
            let page = try context.deadLetters(
                filter, codes: [], terms: .init(limit: limit, withValues: true), after: place, patience: patience)
            read += page.searched
            for letter in page.rows where bytes.matches(letter.value ?? []) {
                var row = SearchRow(
                    id: letter.record.place.description, publishedAt: letter.record.publishedAt?.milliseconds ?? 0)
                (row.place, row.standing) = (letter.record.place, .init(state: nil))
                row.cursor = SearchCursor(time: row.publishedAt, place: row.place)
                if filter.holds(for: row, from: letter.topic), isVisible(row) { rows.append(row) }
            }
            next = try page.next.map { text throws(JobFailure) in
                let order = try DeadLetterOrder(cursor: text)
                let place = RecordPlace(topic: context.topics.deadLetters, partition: order.partition, offset: order.offset)
                return SearchCursor(time: order.time, place: place)
            }
            isDone = next == nil || deadline.hasPassed
        }
        if rows.count > limit {
            // Less is not asked for, since of few letters each page would read as much as of many.
            rows.removeLast(rows.count - limit)
            next = rows.last?.cursor
        }
        if filter.requiresTenant { next = nil }
        let since = next?.time ?? filter.since
        let extent = SearchExtent(
            source: .scan, since: since.map { Timestamp(milliseconds: $0) }, records: read, of: read,
            isComplete: next == nil || rows.count >= limit)
        return SearchPage(rows: rows, next: next.map { .requests($0) }, order: .published, searched: extent)
    }
}

extension ResultFilter {
    /// True if every term holds for a dead letter.
    fileprivate func holds(for row: SearchRow, from topic: String?) -> Bool {
        guard !terms.isEmpty, let place = row.place else { return true }
        let facts = RequestFacts(id: row.id, audience: AudienceSummary(.users, count: 0))
        let shape = facts.resultShape(
            state: SearchPlan.deadLetter, topic: topic ?? "", partition: place.partition, offset: place.offset)
        var document = JSONDocument()
        return document.readResult(shape.span) && matches(document)
    }
}

extension SearchRow {
    /// True if its result names this tenant, or it has none.
    fileprivate func isOf(_ tenant: String?) -> Bool { result.map { $0.tenant == tenant } ?? true }
}

extension RecordPlace {
    /// The place of a record.
    init(_ origin: RecordOrigin) { self.init(topic: origin.topic, partition: origin.partition, offset: origin.offset) }
}

extension ResultRecord {
    /// The record that its request was published with, or nil if it does not name it.
    fileprivate var origin: RecordOrigin? {
        var document = JSONDocument()
        guard document.readResult(json.span), let place = RecordPlace(document, originOf: document.root) else { return nil }
        let published = document.member("timings", of: document.root).flatMap { document.text("published_at", of: $0) }
            .flatMap { Timestamp($0.utf8.span) }
        return RecordOrigin(
            topic: place.topic, partition: place.partition, offset: place.offset,
            timestamp: published ?? Timestamp(milliseconds: timestamp), isDated: published != nil)
    }

    /// The large request of which its request is a part, or nil if it is none.
    fileprivate var whole: SearchCandidate.Whole? {
        var document = JSONDocument()
        guard document.readResult(json.span), let parent = document.member("parent", of: document.root),
            let id = document.text("id", of: parent)
        else { return nil }
        let published = document.text("published_at", of: parent).flatMap { Timestamp($0.utf8.span) }
        return .init(
            id: id, publishedAt: published?.milliseconds ?? timestamp,
            key: document.text("key", of: parent).map { ParentKey($0) },
            isSeen: false)
    }

    /// True for the result of a large request.
    fileprivate var hasParts: Bool {
        var document = JSONDocument()
        return document.readResult(json.span) && document.member("parts", of: document.root) != nil
    }
}
