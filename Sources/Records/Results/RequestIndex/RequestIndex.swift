import Glibc
import JobSupport
import PushModel
import Replay
import ResultQuery
import SQLite

/// The requests of some topics in a folder on this machine, so that a search need not read them all again. It is a cache: everything in it
/// is in Kafka.
final class RequestIndex {
    /// The state of the files at a moment.
    struct View: Sendable {
        let folder: String
        let epoch: Int64
        let secrets: IndexSecrets
        let isOmitting: Bool
        /// The topics, by the numbers of their lanes.
        let topics: [String]
        /// The files, the oldest hour first.
        var files: [HourFile]
        /// Every request published since is in them.
        var reach: Int64
        /// Every request that was in the lanes at this moment is in them, in milliseconds since 1970.
        var upTo = Int64.min
    }

    /// The time by which the moments of a record are taken for one another where its hour is sought, in milliseconds.
    private static let tolerance: Int64 = 300_000

    /// The file that was found damaged.
    private(set) var damagedFile: HourFile?

    private let view: View
    private let pool: BucketPool
    private let isOver: () -> Bool

    /// An index that asks the files of a view.
    init(_ view: View, pool: BucketPool, unless isOver: @escaping () -> Bool) {
        (self.view, self.pool, self.isOver) = (view, pool, isOver)
    }

    /// Every request published at this moment or later is in it, in milliseconds since 1970.
    var reach: Int64 { view.reach }

    /// Every request that was in the lanes at this moment is in it, in milliseconds since 1970. It stands still while the index is behind.
    var upTo: Int64 { view.upTo }

    /// True if it has what a filter seeks. Values with `*`, for one, are in no index.
    func knows(_ filter: ResultFilter) -> Bool {
        if view.isOmitting, filter.sought.contains(where: { $0.subject != .audience }) { return false }
        return RequestQuery(filter) != nil
    }

    /// True if its tokens alone decide which requests match, so that it looks at few others, and no result is asked for.
    func decides(_ filter: ResultFilter) -> Bool { knows(filter) && RequestQuery.decides(filter) }

    /// Finds the newest requests that may match, by the moments of their publication.
    ///
    /// - Parameters:
    ///   - filter: What is sought. Its terms that a request alone decides are looked at, its times are not.
    ///   - since: The first moment of publication, in milliseconds since 1970.
    ///   - until: The last moment, which is included.
    ///   - isPossible: Sends to tags or all that fit but for whom they went to, in place of those that name it.
    ///   - readsTitles: False for an asker who may not see titles: no word is one of a title.
    ///   - limit: The number that is wanted.
    /// - Returns: The requests, newest first: at least `limit` if there are so many, and all of the last millisecond.
    /// - Throws: The failure of the database.
    func rows(
        matching filter: ResultFilter, since: Int64, through until: Int64, isPossible: Bool,
        readingTitles readsTitles: Bool = true,
        limit: Int
    ) throws(SQLiteError) -> [IndexedRequest] {
        try part(
            matching: filter, since: since, through: until, isPossible: isPossible, readingTitles: readsTitles, limit: limit,
            until: Deadline(after: nil)
        ).requests
    }

    /// Finds requests as `rows` does, until a deadline has passed. Some are looked at in any case, so that a caller who asks once more, for
    /// those before `reached`, comes to the end.
    func part(
        matching filter: ResultFilter, since: Int64, through until: Int64, isPossible: Bool,
        readingTitles readsTitles: Bool = true, limit: Int, until deadline: Deadline
    ) throws(SQLiteError) -> IndexedPart {
        guard let query = RequestQuery(filter, readingTitles: readsTitles) else { return IndexedPart() }
        return try part(
            isPossible ? query.possible : query, of: filter, since: since, through: until, isDue: false, limit: limit,
            until: deadline)
    }

    /// Finds requests that may match and are due between two moments, those that are due last first. For the rest as `rows` does.
    func delayed(
        matching filter: ResultFilter, dueSince since: Int64, through until: Int64, readingTitles readsTitles: Bool = true,
        limit: Int
    ) throws(SQLiteError) -> [IndexedRequest] {
        try delayedPart(
            matching: filter, dueSince: since, through: until, readingTitles: readsTitles, limit: limit,
            until: Deadline(after: nil)
        ).requests
    }

    /// Finds requests as `delayed` does, until a deadline has passed, as `part` does.
    func delayedPart(
        matching filter: ResultFilter, dueSince since: Int64, through until: Int64, readingTitles readsTitles: Bool = true,
        limit: Int, until deadline: Deadline
    ) throws(SQLiteError) -> IndexedPart {
        guard let query = RequestQuery(filter, readingTitles: readsTitles) else { return IndexedPart() }
        return try part(query, of: filter, since: since, through: until, isDue: true, limit: limit, until: deadline)
    }

    /// The facts of the request whose record stands at a place and was published about then, or nil.
    func facts(at place: RecordPlace, publishedAt: Int64) throws(SQLiteError) -> RequestFacts? {
        guard let lane = view.topics.firstIndex(of: place.topic) else { return nil }
        let moments = [publishedAt, publishedAt.addingSaturated(-Self.tolerance), publishedAt.addingSaturated(Self.tolerance)]
        var asked: Set<Int64> = []
        for hour in moments.map(IndexHour.hour) where asked.insert(hour).inserted {
            guard let file = view.files.last(where: { $0.hour == hour }) else { continue }
            let found = try ask(file) { bucket throws(SQLiteError) in
                try bucket.row(lane: lane, partition: place.partition, offset: place.offset)
            }
            if let json = (found ?? nil)?.json { return try facts(json) }
        }
        return nil
    }

    private func part(
        _ query: RequestQuery, of filter: ResultFilter, since: Int64, through until: Int64, isDue: Bool, limit: Int,
        until deadline: Deadline
    ) throws(SQLiteError) -> IndexedPart {
        guard since <= until, limit > 0 else { return IndexedPart() }
        let expression = query.expression(view.secrets.hash)
        let asksForSender = filter.asks(about: .sender)
        let hours = IndexHour.hour(of: since)...IndexHour.hour(of: until)
        var part = IndexedPart()
        var places: Set<RecordPlace> = []
        /// The hour that was looked at last.
        var last: Int64?
        for file in view.files.reversed() where hours.contains(file.hour) {
            if let last, part.requests.count >= limit || deadline.hasPassed {
                part.reached = part.requests.count >= limit ? part.requests.last?.time : IndexHour.start(of: last)
                return part
            }
            last = file.hour
            if isOver() { throw .interruption }
            let rows = try ask(file) { bucket throws(SQLiteError) in
                try bucket.rows(
                    expression, in: since...until, isDue: isDue, limit: limit - part.requests.count, until: deadline
                ) { row in !asksForSender || isSender(row, wantedBy: filter) }
            }
            for row in rows?.found ?? [] {
                let place = place(of: row)
                guard places.insert(place).inserted else { continue }
                part.requests.append(
                    IndexedRequest(place: place, publishedAt: row.published, time: row.time, facts: try facts(row.json)))
            }
            part.reached = rows?.reached
            if part.reached != nil { break }
        }
        return part
    }

    private func place(of row: RequestBucket.Found) -> RecordPlace {
        let topic = view.topics.indices.contains(row.lane) ? view.topics[row.lane] : ""
        return RecordPlace(topic: topic, partition: row.partition, offset: row.offset)
    }

    /// True if the filter's terms about source, tenant, topic and labels hold. True for facts that cannot be read, which `facts` reports.
    private func isSender(_ row: RequestBucket.Found, wantedBy filter: ResultFilter) -> Bool {
        guard let facts = RequestFacts(json: row.json) else { return true }
        let place = place(of: row)
        let shape = facts.resultShape(state: "", topic: place.topic, partition: place.partition, offset: place.offset)
        var document = JSONDocument()
        do { try document.read(shape.span) } catch { return true }
        return filter.matches(document, as: .sender)
    }

    private func facts(_ json: [UInt8]) throws(SQLiteError) -> RequestFacts {
        guard let facts = RequestFacts(json: json) else { throw .damage("the facts of a request cannot be read") }
        return facts
    }

    /// Asks the file of an hour. Returns nil for one that was removed.
    private func ask<Answer>(
        _ file: HourFile, question: (RequestBucket) throws(SQLiteError) -> Answer
    ) throws(SQLiteError) -> Answer? {
        do throws(SQLiteError) {
            var kept = pool.take(file)
            if kept == nil { kept = try open(file) }
            guard let bucket = kept else { return nil }
            bucket.interrupt(when: isOver)
            let answer = try question(bucket)
            pool.put(bucket, of: file)
            return answer
        } catch {
            if error.isDamage { damagedFile = file }
            throw error
        }
    }

    private func open(_ file: HourFile) throws(SQLiteError) -> RequestBucket? {
        let path = IndexFolder.path(of: file.hour, in: view.folder)
        guard access(path, F_OK) == 0 else { return nil }
        return try RequestBucket(path: path, epoch: view.epoch, secrets: view.secrets, isMade: false)
    }
}
