import Delivery
package import GroupPositions
import Groups
package import JobSupport
package import Kafka
package import Publishing
import PushModel
import ResultQuery
import SQLite

/// A request whose record is known, and whose final result is not.
package struct TracedRequest: Sendable {
    /// The request's id.
    package let id: String
    /// The topic and partition of its record, and the offset there. Nil while they are not known.
    package let place: (partition: TopicPartition, offset: Int64)?
    /// The time of its record, in milliseconds since 1970.
    package let writtenAt: Int64
    /// True if it is known to repeat an earlier one, whose result is older than its record.
    package let isRepetition: Bool
    /// True for a result of the request. Others may have published under its id.
    package let isOwn: @Sendable (ResultRecord) -> Bool

    /// A request with these facts.
    package init(
        id: String, place: (partition: TopicPartition, offset: Int64)?, writtenAt: Int64, isRepetition: Bool,
        isOwn: @escaping @Sendable (ResultRecord) -> Bool
    ) {
        self.id = id
        self.place = place
        self.writtenAt = writtenAt
        self.isRepetition = isRepetition
        self.isOwn = isOwn
    }
}

/// Finds the final result of a request whose record is known: in the index, or in the topic by the time of the record.
///
/// Whoever wants to hear of a result that comes later has to listen before the call. Belongs to one thread.
package final class ResultTracer {
    /// The end of a search.
    package enum Answer: Sendable {
        /// The final result that counts, one of its own that says that the id came before, if such was met, and the outcomes that it
        /// has, if its calls are followed.
        case final(ResultRecord, repetition: ResultRecord? = nil, outcomes: Outcomes? = nil)
        /// None was written until now. A result of its own may say that the id came before.
        case open(repetition: ResultRecord?)
        /// This one alone is left: the result of the request that had the id first is not kept any more.
        case repetition(ResultRecord)
        /// Time ran out, or retention has removed what could say it.
        case unknown
    }

    /// The outcomes of a request's calls.
    package struct Outcomes: Sendable {
        /// The results of the kind `outcome` that were found.
        package let found: [ResultRecord]
        /// False if time ran out before all results that may be outcomes were read.
        package let areWhole: Bool

        /// Outcomes that were found.
        package init(found: [ResultRecord], areWhole: Bool) { (self.found, self.areWhole) = (found, areWhole) }
    }

    /// The distance by which clocks of publishers are ahead of those of workers at most, in milliseconds.
    private static let skew: Int64 = 3_600_000
    /// The age of a result that a current index has for certain, in milliseconds.
    private static let indexLag: Int64 = 60_000
    /// The offsets of the first piece that is read backwards. Each later one is four times as long.
    private static let firstPiece: Int64 = 20_000
    /// The records that show by their places that the topic has the partitions that it had when they were written.
    private static let sample = 32
    /// The most bytes of a partition that are fetched at a time.
    private static let portion = 256 << 10

    private let context: JobContext
    private let keeper: IndexKeeper?
    private let examination: GroupExamination
    private let admin: TopicAdmin
    private let reader: RangeReader

    /// Makes clients of Kafka. Nothing is sent yet. An index that is kept answers first.
    package init(_ context: JobContext, terms: GroupTerms, keeper: IndexKeeper?) throws(JobFailure) {
        self.context = context
        self.keeper = keeper
        (admin, reader) = try JobFailure.naming(.read(topic: context.topics.results)) { () throws(KafkaError) in
            (try TopicAdmin(context.kafka), try RangeReader(context.kafka, portion: Self.portion))
        }
        examination = GroupExamination(terms, admin: admin, context: context)
    }

    /// Searches until the deadline.
    ///
    /// - Throws: Kafka does not answer, or does not allow it, and the index has no final result.
    package func trace(_ request: TracedRequest, until deadline: Deadline) throws(JobFailure) -> Answer {
        var trace = FinalTrace(of: request.id, isOwn: request.isOwn)
        let isIndexed = take(from: keeper, of: request, into: &trace)
        if trace.isComplete || isIndexed && trace.hasAllOutcomes(at: context.now()), let answer = trace.answer(isWhole: true) {
            return answer
        }
        do throws(KafkaError) {
            if !request.isRepetition, trace.repetition == nil, trace.final == nil, let place = request.place,
                try isUndone(place.offset, of: place.partition)
            {
                return .open(repetition: nil)
            }
            return try search(for: request, isIndexed: isIndexed, with: &trace, until: deadline)
        } catch {
            // A result that is in hand counts, whatever else could not be read.
            if let answer = trace.answer(isWhole: false) { return answer }
            throw .kafka(error, .read(topic: context.topics.results))
        }
    }

    /// Takes what the index has. Returns false where it lacks anything older than its lag.
    private func take(from keeper: IndexKeeper?, of request: TracedRequest, into trace: inout FinalTrace) -> Bool {
        guard let keeper, let counts = keeper.counts else { return false }
        let empty = RequestLife(id: request.id, isVisible: request.isOwn)
        let found = keeper.answer(unless: context.isCancelled) { index throws(SQLiteError) in
            try index.life(empty, in: ResultFilter())
        }
        guard let found else { return false }
        for result in found.own { trace.take(result) }
        return counts.behind == 0
    }

    /// True if the group has not finished a record, so that no result of it was written.
    private func isUndone(_ offset: Int64, of partition: TopicPartition) throws(KafkaError) -> Bool {
        let marks = try admin.watermarks(of: [partition], timeout: context.timeout)
        guard let mark = marks.first, let committed = try examination.committed([partition], within: context.timeout).first
        else { return false }
        let position = GroupPosition(
            partition, low: mark.low, high: mark.high, committed: committed.offset, metadata: committed.metadata)
        return mark.low <= offset && !position.isBeyondEnd && position.finished != nil && position.reading(of: offset) != .done
    }

    private func search(
        for request: TracedRequest, isIndexed: Bool, with trace: inout FinalTrace, until deadline: Deadline
    ) throws(KafkaError) -> Answer {
        let topic = context.topics.results
        guard case .existing(let count)? = try admin.describe(topics: [topic], timeout: context.timeout).topics.first, count > 0
        else { return trace.answer(isWhole: false) ?? .unknown }
        let now = context.now()
        let written = min(request.writtenAt, now).addingSaturated(-BackwardScan.disorder)
        // An index has what is older.
        let since = isIndexed ? now - Self.indexLag : written

        // Its results have its id as their key, and lie together unless the topic got more partitions since.
        let number = Producer.partition(ofKey: request.id.utf8Span.span, of: Int32(clamping: count))
        let own = TopicPartition(topic: topic, partition: number)
        let kept = try kept(in: [own])
        let starts = try offsets(since: since, of: [own], within: kept)
        var isWhole = try read([own], of: count, from: starts, to: kept, into: &trace, until: deadline)
        if let answer = trace.answer(isWhole: isWhole) { return answer }
        let isRepetition = request.isRepetition || trace.repetition != nil
        // A clock that is ahead of all others says nothing.
        let reach = isRepetition ? RequestLife.longestWindow : request.writtenAt > now ? .max : Self.skew
        let limits = try offsets(since: written.addingSaturated(-reach), of: [own], within: kept)
        if isWhole, !isIndexed {
            let range = limits[0]..<max(limits[0], starts[0])
            isWhole = try readBack(own, of: count, in: range, into: &trace, until: deadline)
            if let answer = trace.answer(isWhole: isWhole) { return answer }
        }
        let isByKey = !trace.isScattered && trace.count >= Self.sample && starts[0] > kept[0].lowerBound
        if isWhole, trace.repetition == nil, count > 1, !isByKey {
            let others = (0..<Int32(clamping: count)).filter { $0 != number }.map { TopicPartition(topic: topic, partition: $0) }
            let kept = try self.kept(in: others)
            let starts = try offsets(since: since, of: others, within: kept)
            isWhole = try read(others, of: count, from: starts, to: kept, into: &trace, until: deadline)
            if let answer = trace.answer(isWhole: isWhole) { return answer }
        }
        guard isWhole else { return .unknown }
        let earliest = isRepetition ? limits : try offsets(since: written, of: [own], within: kept)
        guard earliest[0] == kept[0].lowerBound, earliest[0] > 0 else { return .open(repetition: trace.repetition) }
        // Retention has removed what was written then.
        return trace.repetition.map { .repetition($0) } ?? .unknown
    }

    /// The offsets that each partition keeps.
    private func kept(in partitions: [TopicPartition]) throws(KafkaError) -> [Range<Int64>] {
        let lows = try admin.beginnings(of: partitions, timeout: context.timeout)
        let ends = try admin.ends(of: partitions, timeout: context.timeout)
        return zip(lows, ends).map { $0..<max($0, $1) }
    }

    /// The first record of each partition that is not older than a time, or its end.
    private func offsets(
        since time: Int64, of partitions: [TopicPartition], within kept: [Range<Int64>]
    ) throws(KafkaError) -> [Int64] {
        let found = try admin.offsets(since: time, of: partitions, timeout: context.timeout)
        return zip(found, kept).map { min(max($0 ?? $1.upperBound, $1.lowerBound), $1.upperBound) }
    }

    /// Reads partitions until a final result is found. Returns false if time ran out before.
    private func read(
        _ partitions: [TopicPartition], of count: Int, from starts: [Int64], to kept: [Range<Int64>],
        into trace: inout FinalTrace,
        until deadline: Deadline
    ) throws(KafkaError) -> Bool {
        var isLate = false
        let partitionCount = Int32(clamping: count)
        let parts = zip(partitions, zip(starts, kept)).map { RangeReader.Part($0, offsets: $1.0..<$1.1.upperBound) }
        try reader.read(parts, timeout: context.timeout) { _, record in
            trace.take(record, of: partitionCount)
            // Looking at the clock costs as much as passing over a record.
            if trace.count & 0xFF == 0 { isLate = deadline.hasPassed || context.isCancelled() }
            return !trace.isComplete && !isLate
        }
        return !isLate
    }

    /// Reads a range backwards, piece by piece, until a final result is found. Returns false if time ran out before.
    private func readBack(
        _ partition: TopicPartition, of count: Int, in range: Range<Int64>, into trace: inout FinalTrace, until deadline: Deadline
    ) throws(KafkaError) -> Bool {
        var (end, size) = (range.upperBound, Self.firstPiece)
        while end > range.lowerBound, trace.final == nil {
            let start = max(range.lowerBound, end - size)
            guard !deadline.hasPassed,
                try read([partition], of: count, from: [start], to: [start..<end], into: &trace, until: deadline)
            else { return false }
            (end, size) = (start, size * 4)
        }
        return true
    }
}
