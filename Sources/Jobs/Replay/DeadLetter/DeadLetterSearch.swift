import Delivery
import Kafka
import PushModel
import Replay
package import ResultQuery

/// Keeps the newest dead letters that match, however many are read.
struct DeadLetterSearch {
    private let range: ResultFilter
    private let codes: [String]
    private let limit: Int
    private let bound: DeadLetterOrder?
    /// The newest, oldest first: the records of a topic come in about this order, and one more is added at the end.
    private var kept: [(order: DeadLetterOrder, record: FetchedRecord)] = []
    /// The records that were read.
    private(set) var searchedCount = 0

    /// A search for the newest `limit` letters behind `bound` in the list.
    init(_ range: ResultFilter, codes: [String], limit: Int, after bound: DeadLetterOrder?) {
        self.range = range
        self.codes = codes
        self.limit = limit
        self.bound = bound
    }

    /// Takes a record in. Only one that is among the newest so far is copied.
    mutating func take(_ record: borrowing ConsumedRecord) {
        searchedCount += 1
        let time = max(0, record.timestamp ?? 0)
        let order = DeadLetterOrder(time: time, partition: record.partition, offset: record.offset)
        guard range.covers(record.timestamp ?? 0), bound.map({ order < $0 }) ?? true,
            kept.count < limit || kept[0].order < order
        else { return }
        let copy = FetchedRecord(record)
        guard codes.isEmpty || codes.contains(DeadLetter(copy)?.reason ?? "") else { return }
        let index = kept.lastIndex { $0.order < order }.map { $0 + 1 } ?? 0
        kept.insert((order, copy), at: index)
        if kept.count > limit { kept.removeFirst() }
    }

    /// The number of kept letters that were written at `time` or later.
    func count(since time: Int64) -> Int { kept.count { $0.order.time >= time } }

    /// The letters, newest first.
    var newestFirst: [(order: DeadLetterOrder, record: FetchedRecord)] { kept.reversed() }
}

extension JobContext {
    /// Finds dead letters, newest first. It reads backwards from the newest, and keeps in memory those of the page only.
    ///
    /// - Parameters:
    ///   - range: The times at which they were written. Other terms do not count.
    ///   - codes: The reasons for which they could not be understood, or none for any.
    ///   - limit: The most rows, 1 to 10,000. A number beyond is taken as the nearest of these.
    ///   - cursor: The `next` of the page before, or nil for the first.
    ///   - patience: The longest time to read, after which the page has what was found, and its `next` goes on there.
    /// - Returns: The page, empty when there is no topic of dead letters.
    /// - Throws: `cursor` for a text that no page has given, the job was cancelled, or Kafka fails.
    package func deadLetters(
        _ range: ResultFilter, codes: [String], limit: Int, after cursor: String?, patience: Duration? = nil
    ) throws(JobFailure) -> DeadLetterPage {
        let limit = min(max(1, limit), 10_000)
        let bound = try cursor.map { text throws(JobFailure) in try DeadLetterOrder(cursor: text) }
        // One more shows whether there is a next page.
        var search = DeadLetterSearch(range, codes: codes, limit: limit + 1, after: bound)
        var times = range
        if let bound { times.add(until: bound.time + 1) }
        let reached: Int64
        do throws(JobFailure) {
            reached = try read(&search, times: times, limit: limit, until: Deadline(after: patience))
        } catch {
            guard case .kafka(let fault, _) = error, fault.isUnknownTopicOrPartition else { throw error }
            reached = .min
        }
        // What is older than that may be incomplete.
        let found = search.newestFirst.filter { $0.order.time >= reached }
        let shown = found.prefix(limit)
        let isFull = shown.count == limit && (found.count > limit || reached > .min)
        let end = isFull ? shown.last?.order : reached > .min ? DeadLetterOrder(time: reached, partition: 0, offset: 0) : nil
        return DeadLetterPage(
            rows: try rows(of: shown.map(\.record), partitions: shown.map(\.order.partition)), next: end?.text,
            searched: search.searchedCount)
    }

    /// Reads until the page is full, or time is over. Returns the time since which everything was read, or the least number for all.
    private func read(
        _ search: inout DeadLetterSearch, times: ResultFilter, limit: Int, until deadline: Deadline
    ) throws(JobFailure) -> Int64 {
        var backward = BackwardScan(TopicScan(self, topic: topics.deadLetters), times, now: now())
        repeat {
            if case .end = try backward.readNext(until: deadline, { search.take($0) }) { return .min }
            if backward.isDone { return .min }
        } while search.count(since: backward.reached) < limit && !deadline.hasPassed
        return backward.reached
    }

    /// The rows of records, with what jobs have made of them.
    private func rows(of records: [FetchedRecord], partitions: [Int32]) throws(JobFailure) -> [DeadLetterPage.Row] {
        let originals = zip(records, partitions).map {
            Original(
                at: RecordPlace(topic: topics.deadLetters, partition: $1, offset: $0.offset), publishedAt: $0.publishedAt)
        }
        let history = originals.isEmpty ? ReplayHistory() : try history(of: Set(originals.map(\.place)))
        return zip(records, originals).map { record, original in
            let letter = DeadLetter(record)
            return DeadLetterPage.Row(
                record: original, topic: letter?.topic,
                code: letter.flatMap { $0.reason.isEmpty ? nil : $0.reason }, message: letter?.message,
                leftover: DeadLetter.leftover(of: letter, in: original, after: history), value: record.value)
        }
    }
}
