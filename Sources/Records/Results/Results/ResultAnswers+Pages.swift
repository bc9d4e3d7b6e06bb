package import JobSupport
import Kafka
import Publishing
import PushModel
import Replay
package import Replays
package import ResultQuery
import SQLite

extension ResultAnswers {
    /// Finds a page of the results that match.
    ///
    /// - Parameters:
    ///   - limit: The most results, at least 1.
    ///   - filter: The results that are wanted.
    ///   - cursor: The place behind which the page begins, or nil for the newest result.
    ///   - patience: The time after which reading the topic ends with what was found until then, and with where to go on. A query of an index
    ///     that is kept does so where the job is cancelled, if it has found anything.
    /// - Returns: The page, and how far the search went.
    /// - Throws: The topic cannot be read.
    package func page(
        _ limit: Int, _ filter: ResultFilter, after cursor: ResultCursor?, patience: Duration
    ) throws(JobFailure) -> ResultPage {
        let kept = keeper?.counts
        let known = try known { index throws(SQLiteError) in
            let page = try index.page(limit, matching: filter, after: cursor)
            if let kept { return (page, kept.records) }
            return (page, try index.recordCount())
        }
        guard let (page, count) = known else {
            return try scannedPage(limit, matching: filter, after: cursor, patience: patience)
        }
        let isCut = page.next != nil && page.results.count < max(1, limit)
        let since = isCut ? page.results.last?.timestamp : filter.since
        let extent = SearchExtent(
            source: .index, since: since.map { Timestamp(milliseconds: $0) }, records: count,
            of: count + (kept?.behind ?? 0), isComplete: !isCut)
        return ResultPage(results: page.results, next: page.next, searched: extent)
    }

    /// The same from the topic. Without patience it reads until the page is full.
    func scannedPage(
        _ limit: Int, matching filter: ResultFilter, after cursor: ResultCursor?, patience: Duration?
    ) throws(JobFailure) -> ResultPage {
        var filter = filter
        if let cursor { filter.add(until: cursor.until) }
        let deadline = Deadline(after: patience)
        var backward = BackwardScan(scan, filter, now: context.now())
        var matcher = ResultMatcher(filter)
        var gathering = PageGathering(limit, after: cursor)
        var isLate = false
        while !isLate, !backward.isDone, !gathering.isFull(since: backward.reached) {
            let step = try backward.readNext(until: deadline) { record in
                guard let value = record.value, matcher.matches(value, writtenAt: record.timestamp ?? 0),
                    let result = ResultRecord(record)
                else { return }
                gathering.take(result)
            }
            if case .cut = step { isLate = true } else { isLate = deadline.hasPassed }
        }
        let (results, next) = gathering.close(since: backward.reached, isWhole: backward.isDone)
        let since = backward.isDone ? filter.since : backward.reached
        let extent = SearchExtent(
            source: .scan, since: since.map { Timestamp(milliseconds: $0) }, records: backward.readCount,
            of: Int(clamping: backward.totalCount), isComplete: backward.isDone || results.count == max(1, limit))
        return ResultPage(results: results, next: next, searched: extent)
    }

    /// Counts the results of a job's requests by their states, the most frequent first.
    package func outcomes(of job: JobLog.Job) throws(JobFailure) -> [(state: String, count: Int)] {
        var filter = ResultFilter()
        filter.require(.job, among: [job.record.jobID])
        filter.require(.kind, among: ["final"])
        let start = job.record.startedAt.milliseconds
        let known = try known { index throws(SQLiteError) in
            var recent = filter
            recent.add(since: max(0, start) - BackwardScan.disorder)
            return try index.states(recent)
        }
        let counts = if let known { known } else { try readStates(filter, since: start) }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private func readStates(_ filter: ResultFilter, since start: Int64) throws(JobFailure) -> [String: Int] {
        let reader = try scan.open(.time(start), .end)
        defer { reader.close() }
        var matcher = ResultMatcher(filter)
        var counts: [String: Int] = [:]
        try scan.read(reader) { record in
            guard let value = record.value, ReplayHistory.mayConcern(value),
                matcher.matches(value, writtenAt: record.timestamp ?? 0)
            else { return }
            counts[matcher.document.text("state", of: matcher.document.root) ?? "unknown", default: 0] += 1
        }
        return counts
    }
}
