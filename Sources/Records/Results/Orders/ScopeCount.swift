import Delivery
import GroupPositions
import Groups
package import JobSupport
import Kafka
package import PushModel

/// The numbers of requests in a scope, by where they stand.
package struct ScopeCounts: Sendable, Equatable {
    /// Not read yet.
    package var waiting: Int
    /// Read, and neither delayed nor ended.
    package var running: Int
    /// In delay lanes, or held.
    package var delayed: Int
    /// Ended with the state `sent` or `partial`.
    package var sent: Int
    /// Ended in another way.
    package var other: Int
    /// False if not all was read, so that there may be more.
    package var isComplete: Bool

    /// Counts.
    package init(
        waiting: Int = 0, running: Int = 0, delayed: Int = 0, sent: Int = 0, other: Int = 0, isComplete: Bool = true
    ) {
        (self.waiting, self.running, self.delayed) = (waiting, running, delayed)
        (self.sent, self.other, self.isComplete) = (sent, other, isComplete)
    }

    /// The requests that have not ended.
    package var open: Int { waiting + running + delayed }

    /// The counts as one JSON object.
    package var json: [UInt8] {
        JSONObject([
            "waiting": waiting, "running": running, "delayed": delayed, "sent": sent, "other": other, "complete": isComplete,
        ]).bytes
    }
}

extension JobContext {
    /// The time before the last moment from which results are counted where no first moment is given: 1 h in milliseconds.
    package static let countedPast: Int64 = 3_600_000

    /// Counts the requests of a scope by reading what there is of them, for no longer than `timeout`.
    ///
    /// - Parameters:
    ///   - scope: The scope. Of a user, results are counted whose requests are kept.
    ///   - from: The first moment of publication, or nil to count all that have not ended, and results of `countedPast`.
    ///   - until: The last moment of publication.
    /// - Returns: The counts, which say that they are not complete where the time did not suffice.
    /// - Throws: The brokers cannot be asked, or the job was cancelled.
    package func counts(in scope: OrderScope, from: Timestamp?, until: Timestamp) throws(JobFailure) -> ScopeCounts {
        let end = Deadline(after: timeout)
        var tally = ScopeTally(scope, topics: topics, hubs: hubNames, from: from, until: until)
        let reading = ScopeReading(
            context: ending { end.hasPassed }, since: from ?? until.adding(milliseconds: -Self.countedPast))
        do throws(JobFailure) {
            try reading.read(into: &tally)
        } catch {
            switch error {
            case .cancelled where !isCancelled(), .stalled: tally.noteGap()
            default: throw error
            }
        }
        return tally.counts
    }
}

/// Reads the records of requests and their results for a tally.
private struct ScopeReading {
    let context: JobContext
    /// The moment from which results are read.
    let since: Timestamp

    func read(into tally: inout ScopeTally) throws(JobFailure) {
        let terms = GroupTerms(kafka: context.kafka, group: context.group, topics: context.topics, start: .safe)
        let positions = Dictionary(grouping: try positions(terms)) { $0.partition.topic }
        for topic in terms.requests { try readLane(topic, at: positions[topic] ?? [], into: &tally) }
        for topic in terms.delays + [terms.held] { try readDelayed(topic, at: positions[topic] ?? [], into: &tally) }
        let results = TopicScan(context, topic: context.topics.results)
        guard let reader = try results.openIfThere(.time(since.milliseconds), .end) else { return }
        defer { reader.close() }
        try results.read(reader) { record in if let value = record.value { tally.takeResult(value) } }
    }

    /// The positions of the group. Missing topics hold nothing.
    private func positions(_ terms: GroupTerms) throws(JobFailure) -> [GroupPosition] {
        let names = terms.requests + terms.delays + [terms.held]
        return try JobFailure.naming(.readPositions) { () throws(KafkaError) in
            let admin = try TopicAdmin(terms.kafka)
            var topics: [(topic: String, partitionCount: Int)] = []
            for (name, found) in zip(names, try admin.describe(topics: names, timeout: context.timeout).topics) {
                switch found {
                case .existing(let count): topics.append((name, count))
                case .missing: continue
                case .failed(let error): throw error
                }
            }
            return try GroupExamination(terms, admin: admin, context: context).positions(in: topics)
        }
    }

    private func readLane(
        _ name: String, at positions: [GroupPosition], into tally: inout ScopeTally
    ) throws(JobFailure) {
        let topic = TopicScan(context, topic: name)
        var starts = Dictionary(positions.map { ($0.partition.partition, $0.start) }) { first, _ in first }
        if tally.needsDone, !positions.isEmpty {
            let survey = try topic.survey()
            defer { survey.close() }
            for (number, offset) in try topic.offsets(since: since.milliseconds, in: survey).enumerated() {
                starts[Int32(number)] = min(starts[Int32(number)] ?? offset, offset)
            }
        }
        let ends = Dictionary(positions.map { ($0.partition.partition, $0.high) }) { first, _ in first }
        guard positions.contains(where: { starts[$0.partition.partition] ?? 0 < $0.high }) else { return }
        let reader = try topic.open(.offsets(starts), .offsets(ends))
        defer { reader.close() }
        let byNumber = Dictionary(positions.map { ($0.partition.partition, $0) }) { first, _ in first }
        let finished = byNumber.mapValues { Set($0.finishedOffsets) }
        try topic.read(reader) { record in
            guard let position = byNumber[record.partition], let value = record.value else { return }
            let isDone = record.offset < position.start || finished[record.partition]?.contains(record.offset) ?? false
            let isRead = position.marks.map { record.offset <= $0.last.offset } ?? false
            let origin = RecordOrigin(
                topic: name, partition: record.partition, offset: record.offset,
                timestamp: WaitingReader.moment(record.timestamp ?? 0), isDated: record.timestamp != nil)
            tally.take(value, headers: Self.headers(record), at: origin, reading: isDone ? .done : isRead ? .read : .unread)
        }
    }

    private func readDelayed(
        _ name: String, at positions: [GroupPosition], into tally: inout ScopeTally
    ) throws(JobFailure) {
        guard positions.contains(where: { $0.start < $0.high }) else { return }
        let topic = TopicScan(context, topic: name)
        let byNumber = Dictionary(positions.map { ($0.partition.partition, $0) }) { first, _ in first }
        let finished = byNumber.mapValues { Set($0.finishedOffsets) }
        // To its end as it is now: what came from a lane since its positions were asked for is there.
        let reader = try topic.open(.offsets(byNumber.mapValues(\.start)), .end)
        defer { reader.close() }
        try topic.read(reader) { record in
            guard let value = record.value, finished[record.partition]?.contains(record.offset) != true,
                let waiting = WaitingRecord(OwnHeaders.of(record), of: context.group), !waiting.isPoll,
                let from = waiting.origin
            else { return }
            let published = WaitingReader.moment(waiting.published ?? record.timestamp ?? 0)
            let origin = RecordOrigin(topic: from.topic, partition: from.partition, offset: from.offset, timestamp: published)
            tally.takeDelayed(value, headers: Self.headers(record), from: origin)
        }
    }

    private static func headers(_ record: borrowing ConsumedRecord) -> RecordHeaders {
        var headers = RecordHeaders()
        record.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        return headers
    }
}
