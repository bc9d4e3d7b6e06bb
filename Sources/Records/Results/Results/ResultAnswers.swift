import Delivery
package import JobSupport
package import Kafka
package import Publishing
package import Replay
package import ResultQuery
import SQLite

/// Answers queries for results: from an index if the caller wants one, else from the topic.
///
/// Several threads may query one value at once: each query opens a Kafka client and the index's file for itself. One of several
/// queries that fill the same index at once may read the topic instead.
package struct ResultAnswers: Sendable {
    /// Reads the topic of results.
    package let scan: TopicScan
    let context: JobContext
    private let index: IndexedResults?
    /// Keeps the index that is asked while it is current.
    let keeper: IndexKeeper?

    /// Answers from the index, or without one from the topic.
    package init(_ context: JobContext, index: IndexChoice? = nil) {
        self.context = context
        scan = TopicScan(context, topic: context.topics.results)
        self.index = index.map { [scan] in IndexedResults(context, scan, $0) }
        keeper = nil
    }

    /// Answers from the index that `keeper` keeps, without a broker, and from the topic while it is not current.
    package init(_ context: JobContext, kept keeper: IndexKeeper) {
        self.context = context
        scan = TopicScan(context, topic: context.topics.results)
        index = nil
        self.keeper = keeper
    }

    private init(_ context: JobContext, index: IndexedResults?, keeper: IndexKeeper?) {
        self.context = context
        scan = TopicScan(context, topic: context.topics.results)
        (self.index, self.keeper) = (index, keeper)
    }

    /// The same, for queries that end by another condition, too: of the topic and of an index that is kept.
    package func ending(when isOver: @escaping @Sendable () -> Bool) -> ResultAnswers {
        ResultAnswers(context.ending(when: isOver), index: index, keeper: keeper)
    }

    /// Lets the index answer. Returns nil when there is none, or it is of no use now.
    func known<Answer>(_ question: (ResultIndex) throws(SQLiteError) -> Answer) throws(JobFailure) -> Answer? {
        guard let keeper else { return try index?.answer(question) }
        if let answer = keeper.answer(unless: context.isCancelled, question: question) { return answer }
        if context.isCancelled() { throw .cancelled }
        return nil
    }

    /// Finds the newest results that match, oldest first.
    package func newest(_ limit: Int, _ filter: ResultFilter) throws(JobFailure) -> [ResultRecord] {
        let known = try known { index throws(SQLiteError) in try index.newest(limit, filter) }
        if let known { return known }
        return try scannedPage(limit, matching: filter, after: nil, patience: nil).results.reversed()
    }

    /// Gathers the results of a request and of its replays, in the filter's time, of which visible ones are kept.
    package func life(
        of id: String, _ filter: ResultFilter, isVisible: @escaping @Sendable (ResultRecord) -> Bool = { _ in true }
    ) throws(JobFailure) -> RequestLife {
        let empty = RequestLife(id: id, isVisible: isVisible)
        let known = try known { index throws(SQLiteError) in try index.life(empty, in: filter) }
        if let known { return known }
        var life = empty
        var backward = BackwardScan(scan, filter, now: context.now())
        // Backwards from now to the publication of the request.
        while backward.reached > life.beginning {
            let step = try backward.readNext { if filter.covers($0.timestamp ?? 0) { life.take($0) } }
            guard case .read = step else { break }
        }
        return life
    }

    /// Reads new results of a request until its final one is there or the deadline has passed. `reader` was opened by `scan`
    /// before the first query.
    package func follow(
        _ reader: TopicReader, _ life: inout RequestLife, until deadline: Deadline, report: (ResultRecord) -> Void
    ) throws(JobFailure) {
        while life.final == nil && !deadline.hasPassed {
            if context.isCancelled() { throw .cancelled }
            let known = life.own.count
            let result = reader.read(timeout: deadline.step) { life.take($0) }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw scan.failure(error) }
            if life.own.count > known, life.final == nil, let latest = life.own.last { report(latest) }
        }
    }

    /// Counts failed results by cause, with what replays have repaired of them, and the records in the filter's time.
    package func failures(
        _ filter: ResultFilter, _ history: ReplayHistory
    ) throws(JobFailure) -> (tally: FailureTally, count: Int) {
        // Parts answer for a large request, and the index does not know whose they are.
        let filter = filter.withParts
        if !filter.includesParts, let known = try known({ index throws(SQLiteError) in try index.failures(filter, history) }) {
            return known
        }
        // Results of a replay are written after those that it repeats, at any time.
        let stop = history.places.isEmpty ? BackwardScan.stop(filter) : .end
        let reader = try scan.open(filter.since.map { .time($0) } ?? .beginning, stop)
        defer { reader.close() }
        var matcher = ResultMatcher(filter)
        var repairs = RepairTally(history)
        var count = 0
        try scan.read(reader) { record in
            let time = record.timestamp ?? 0
            if filter.covers(time) { count += 1 }
            guard let value = record.value else { return }
            repairs.note(value)
            if matcher.matches(value, writtenAt: time) { repairs.add(matcher.document, writtenAt: time) }
        }
        return (repairs.close(), count)
    }

    /// Counts the records that could not be understood, and were not given back since. Returns nil when there is no such topic.
    package func deadLetters(_ times: ResultFilter, _ history: ReplayHistory) throws(JobFailure) -> DeadLetterCount? {
        try DeadLetterCount.of(scan.of(context.topics.deadLetters), in: times, without: history)
    }
}
