package import Publishing
package import PushModel

/// Some of the results that match, and where the next ones are.
package struct ResultPage: Sendable {
    /// The results, newest first.
    package let results: [ResultRecord]
    /// The place where the next page goes on, or nil when nothing older matches.
    package let next: ResultCursor?
    /// The extent of the search.
    package let searched: SearchExtent
}

/// The extent of a search.
package struct SearchExtent: Sendable, Equatable {
    /// The source of the results.
    package enum Source: String, Sendable {
        /// The index.
        case index
        /// The topic.
        case scan
    }

    /// The source of the results.
    package var source: Source
    /// The results written before were not searched, or nil if all were.
    package var since: Timestamp?
    /// The records that were read from the topic, or that the index keeps.
    package var records: Int
    /// The records that the topic holds, or offsets, of which some may hold none.
    package var of: Int
    /// False if time ran out, and the next page goes on there.
    package var isComplete: Bool

    /// An extent of the given parts.
    package init(source: Source, since: Timestamp?, records: Int, of total: Int, isComplete: Bool) {
        self.source = source
        self.since = since
        self.records = records
        of = total
        self.isComplete = isComplete
    }

    /// The extent as one JSON object.
    package var json: [UInt8] {
        var object = JSONObject(["by": source.rawValue, "since": since?.text])
        object.add(["records": records, "of": of, "complete": isComplete])
        return object.bytes
    }
}

/// Gathers a page from results that are read in any order.
struct PageGathering {
    /// Many results are found before the oldest of them are dropped.
    private static let abundance = 4096

    private let limit: Int
    private let cursor: ResultCursor?
    private var found: [ResultRecord] = []

    /// A page of `limit` results at most, behind a place or from the newest on.
    init(_ limit: Int, after cursor: ResultCursor?) {
        self.limit = max(1, limit)
        self.cursor = cursor
    }

    /// Takes a result that matches.
    mutating func take(_ result: ResultRecord) {
        guard cursor?.isBefore(result) ?? true else { return }
        found.append(result)
        guard found.count >= Self.abundance, found.count / 4 >= limit else { return }
        sort()
        // One more than the page shows that another page follows.
        found.removeLast(found.count - limit - 1)
    }

    /// True if the page is full once every result since a time was taken. Older ones may be among those taken, and newer ones missing.
    func isFull(since reached: Int64) -> Bool { found.count { $0.timestamp >= reached } >= limit }

    /// Ends the page.
    ///
    /// - Parameters:
    ///   - reached: Every result written at this time or later was taken.
    ///   - isWhole: Every result was taken.
    /// - Returns: Its results, newest first, and the place of the next page.
    mutating func close(since reached: Int64, isWhole: Bool) -> (results: [ResultRecord], next: ResultCursor?) {
        sort()
        let certain = isWhole ? found[...] : found.prefix { $0.timestamp >= reached }
        let results = Array(certain.prefix(limit))
        if let last = results.last, certain.count > limit || !isWhole && results.count == limit {
            return (results, ResultCursor(last))
        }
        if isWhole { return (results, nil) }
        return (results, reached == .max ? cursor : ResultCursor(behind: reached))
    }

    private mutating func sort() { found.sort { ResultRecord.isOlder($1, than: $0) } }
}
