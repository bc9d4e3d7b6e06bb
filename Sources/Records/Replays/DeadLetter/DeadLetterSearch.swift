import Delivery
package import JobSupport
import Kafka
import PushModel
package import Replay
package import ResultQuery

/// Keeps the newest dead letters that match, however many are read and however large they are.
struct DeadLetterSearch {
    /// The parts of a letter that a page says.
    struct Found {
        let order: DeadLetterOrder
        let publishedAt: Timestamp?
        let topic: String?
        let source: RecordPlace?
        let code: String?
        let message: String?
        /// The fault for which it does not go back as it is, or nil.
        let fault: Leftover?
        /// The bytes of the value, or nil if it has none.
        let valueByteCount: Int?
        /// The value, if it is wanted.
        let value: [UInt8]?

        init(_ record: FetchedRecord, at order: DeadLetterOrder, in topics: Topics, withValue: Bool) {
            let letter = DeadLetter(record)
            self.order = order
            publishedAt = record.publishedAt
            topic = letter?.topic
            source = letter?.place
            code = letter.flatMap { $0.reason.isEmpty ? nil : $0.reason }
            message = letter?.message
            fault = DeadLetter.fault(of: letter, in: topics)
            valueByteCount = record.value?.count
            value = withValue ? record.value : nil
        }

        /// The bytes that it holds.
        var byteCount: Int {
            (topic?.utf8.count ?? 0) + (code?.utf8.count ?? 0) + (message?.utf8.count ?? 0) + (value?.count ?? 0) + 256
        }
    }

    private let range: ResultFilter
    private let codes: [String]
    private let terms: DeadLetterPage.Terms
    private let topics: Topics
    private let bound: DeadLetterOrder?
    /// The newest, oldest first: the records of a topic come in about this order, and one more is added at the end.
    private var kept: [Found] = []
    private var byteCount = 0
    /// The newest of those that were let go, because enough newer ones are kept.
    private var floor: DeadLetterOrder?
    /// The records that were read.
    private(set) var searchedCount = 0

    /// A search for the newest letters behind `bound` in the list that have room in a page, and one more.
    init(
        _ range: ResultFilter, codes: [String], in topics: Topics, terms: DeadLetterPage.Terms, after bound: DeadLetterOrder?
    ) {
        self.range = range
        self.codes = codes
        self.terms = terms
        self.topics = topics
        self.bound = bound
    }

    /// Takes a record in. Only one that is among the newest so far is copied.
    mutating func take(_ record: borrowing ConsumedRecord) {
        searchedCount += 1
        let time = max(0, record.timestamp ?? 0)
        let order = DeadLetterOrder(time: time, partition: record.partition, offset: record.offset)
        guard range.covers(record.timestamp ?? 0), bound.map({ order < $0 }) ?? true, floor.map({ $0 < order }) ?? true else {
            return
        }
        let found = Found(FetchedRecord(record), at: order, in: topics, withValue: terms.withValues)
        guard codes.isEmpty || codes.contains(found.code ?? "") else { return }
        let index = kept.lastIndex { $0.order < order }.map { $0 + 1 } ?? 0
        kept.insert(found, at: index)
        byteCount += found.byteCount
        // One more than the page shows that another page follows.
        while kept.count > terms.limit + 1 || kept.count > 2 && byteCount - kept[0].byteCount > terms.byteLimit {
            let oldest = kept.removeFirst()
            byteCount -= oldest.byteCount
            floor = oldest.order
        }
    }

    /// True if the kept letters that were written at `time` or later fill a page.
    func isFull(since time: Int64) -> Bool {
        let found = kept.filter { $0.order.time >= time }
        return found.count >= terms.limit || found.reduce(0) { $0 + $1.byteCount } > terms.byteLimit
    }

    /// The letters, newest first.
    var newestFirst: [Found] { kept.reversed() }
}

extension JobContext {
    /// Finds dead letters, newest first. It reads backwards from the newest, and keeps in memory those of the page only.
    ///
    /// - Parameters:
    ///   - range: The times at which they were written. Other terms do not count.
    ///   - codes: The reasons for which they could not be understood, or none for any.
    ///   - terms: The size of the page.
    ///   - cursor: The `next` of the page before, or nil for the first.
    ///   - patience: The longest time to read, after which the page has what was found, and its `next` goes on there.
    /// - Returns: The page, empty when there is no topic of dead letters.
    /// - Throws: `cursor` for a text that no page has given, the job was cancelled, or Kafka fails.
    package func deadLetters(
        _ range: ResultFilter, codes: [String], terms: DeadLetterPage.Terms, after cursor: String?, patience: Duration? = nil
    ) throws(JobFailure) -> DeadLetterPage {
        let bound = try cursor.map { text throws(JobFailure) in try DeadLetterOrder(cursor: text) }
        var search = DeadLetterSearch(range, codes: codes, in: topics, terms: terms, after: bound)
        var times = range
        if let bound { times.add(until: bound.time + 1) }
        let reached: Int64
        do throws(JobFailure) {
            reached = try read(&search, times: times, until: Deadline(after: patience))
        } catch {
            guard case .kafka(let fault, _) = error, fault.isUnknownTopicOrPartition else { throw error }
            reached = .min
        }
        // What is older than that may be incomplete.
        let found = search.newestFirst.filter { $0.order.time >= reached }
        let fitting = terms.fitting(try rows(of: Array(found.prefix(terms.limit))))
        let shown = found.prefix(fitting.count)
        let isFull = shown.count < found.count || shown.count == terms.limit && reached > .min
        let end = isFull ? shown.last?.order : reached > .min ? DeadLetterOrder(time: reached, partition: 0, offset: 0) : nil
        return DeadLetterPage(rows: fitting, next: end?.text, searched: search.searchedCount)
    }

    /// Finds one dead letter by its place and its time, which is much less to read.
    ///
    /// - Returns: A page of it alone, or an empty one where there is no such letter.
    /// - Throws: The job was cancelled, or Kafka fails.
    package func deadLetter(
        _ original: Original, withValue: Bool, patience: Duration? = nil
    ) throws(JobFailure) -> DeadLetterPage {
        let time = max(0, original.publishedAt?.milliseconds ?? 0)
        let behind = DeadLetterOrder(
            time: time, partition: original.place.partition, offset: original.place.offset.addingSaturated(1))
        var times = ResultFilter()
        if original.publishedAt != nil { times.add(since: time) }
        let page = try deadLetters(
            times, codes: [], terms: .init(limit: 1, withValues: withValue), after: behind.text, patience: patience)
        return DeadLetterPage(
            rows: page.rows.filter { $0.record.place == original.place }, next: nil, searched: page.searched)
    }

    /// Reads until the page is full, or time is over. Returns the time since which everything was read, or the least number for all.
    private func read(
        _ search: inout DeadLetterSearch, times: ResultFilter, until deadline: Deadline
    ) throws(JobFailure) -> Int64 {
        var backward = BackwardScan(TopicScan(self, topic: topics.deadLetters), times, now: now())
        repeat {
            if case .end = try backward.readNext(until: deadline, { search.take($0) }) { return .min }
            if backward.isDone { return .min }
        } while !search.isFull(since: backward.reached) && !deadline.hasPassed
        return backward.reached
    }

    /// The rows of letters, with what jobs have made of them.
    private func rows(of found: [DeadLetterSearch.Found]) throws(JobFailure) -> [DeadLetterPage.Row] {
        let originals = found.map {
            Original(
                at: RecordPlace(topic: topics.deadLetters, partition: $0.order.partition, offset: $0.order.offset),
                publishedAt: $0.publishedAt)
        }
        let history = originals.isEmpty ? ReplayHistory() : try history(of: Set(originals.map(\.place)))
        return zip(found, originals).map { found, original in
            DeadLetterPage.Row(
                record: original, topic: found.topic, code: found.code, message: found.message,
                leftover: DeadLetter.leftover(found.fault, of: original, after: history),
                byteCount: found.valueByteCount ?? 0, value: found.value, source: found.source)
        }
    }
}
