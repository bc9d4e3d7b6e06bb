package import Kafka

/// Reads a topic completely: it reports its progress and fails rather than leave a record out.
///
/// Several threads may use one scan at once. A reader that it opens belongs to one thread at a time.
package struct TopicScan: Sendable {
    private static let step = Duration.milliseconds(100)

    /// The topic that is read.
    package let topic: String
    private let context: JobContext

    /// A scan of a topic.
    package init(_ context: JobContext, topic: String) {
        self.context = context
        self.topic = topic
    }

    /// A scan of another topic.
    package func of(_ topic: String) -> TopicScan { TopicScan(context, topic: topic) }

    /// Finds out where to read.
    package func open(_ start: TopicReader.Start, _ stop: TopicReader.Stop) throws(JobFailure) -> TopicReader {
        try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in
            try TopicReader(
                context.kafka, topic: topic, start: start, stop: stop, timeout: context.timeout, readAhead: context.readAhead)
        }
    }

    /// The same, or nil when there is no such topic.
    package func openIfThere(_ start: TopicReader.Start, _ stop: TopicReader.Stop) throws(JobFailure) -> TopicReader? {
        do throws(JobFailure) {
            return try open(start, stop)
        } catch {
            if case .kafka(let error, _) = error, error.isUnknownTopicOrPartition { return nil }
            throw error
        }
    }

    /// A reader of the records from now on. It waits for topics that were just made.
    package func openAtEnd() throws(JobFailure) -> TopicReader {
        try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in
            try FreshTopics.retrying(unless: context.isCancelled) { () throws(KafkaError) in
                try TopicReader(context.kafka, topic: topic, start: .end, timeout: context.timeout, readAhead: context.readAhead)
            }
        }
    }

    /// A reader that knows where the topic begins and ends, and reads nothing yet.
    package func survey() throws(JobFailure) -> TopicReader {
        try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in
            try TopicReader(
                surveying: topic, configuration: context.kafka, timeout: context.timeout, readAhead: context.readAhead)
        }
    }

    /// The first record of each partition of a surveyed topic that is not older than a time, or the partition's end.
    package func offsets(since time: Int64, in survey: TopicReader) throws(JobFailure) -> [Int64] {
        try JobFailure.naming(.read(topic: topic)) { () throws(KafkaError) in
            try survey.offsets(since: time, timeout: context.timeout)
        }
    }

    /// Reads to where the reader stops.
    package func read(_ reader: TopicReader, _ body: (borrowing ConsumedRecord) -> Void) throws(JobFailure) {
        try readOn(reader) { record in
            body(record)
            return true
        }
    }

    /// Reads to where the reader stops, or until `body` has enough.
    package func readOn(_ reader: TopicReader, while body: (borrowing ConsumedRecord) -> Bool) throws(JobFailure) {
        context.progress(.began(.topic(topic), count: reader.remainingCount))
        defer { context.progress(.ended) }
        var deadline = Deadline(after: context.timeout)
        var hasMoved = false
        var count = 0
        var isEnough = false
        while !reader.hasReachedEnd && !isEnough {
            switch reader.read(timeout: Self.step, perform: { isEnough = !body($0) }) {
            case .record:
                count += 1
                hasMoved = true
                // Looking at the clock and for cancellation costs as much as passing over a record. One that is looked at may cost 1 ms.
                if count & 0x3F == 0, context.isCancelled() { throw .cancelled }
                guard count & 0xFFF == 0 else { continue }
            case .endOfPartition: hasMoved = true
            case .error(let error):
                if error.isAuthorization || error.isFatal || deadline.hasPassed { throw failure(error) }
            case .empty: break
            }
            if hasMoved { deadline = Deadline(after: context.timeout) }
            hasMoved = false
            context.progress(.reached(remaining: reader.remainingCount))
            if context.isCancelled() { throw .cancelled }
            if deadline.hasPassed { throw .stalled(topic: topic, remaining: reader.remainingCount) }
        }
    }

    /// Tells of progress behind the reading.
    package func report(_ progress: ReadingProgress) { context.progress(progress) }

    /// The failure of reading this topic.
    package func failure(_ error: KafkaError) -> JobFailure { .kafka(error, .read(topic: topic)) }
}
