package import Kafka
package import PushModel
package import Replay

/// Reads the originals of requests back, in the order of their places.
package struct OriginalReader {
    private let fetcher: RecordFetcher
    private let timeout: Duration

    /// A reader with `readAhead` bytes at most in memory. The time-out holds for one record.
    package init(_ configuration: KafkaConfiguration, readAhead: Int, timeout: Duration) throws(KafkaError) {
        fetcher = try RecordFetcher(configuration, readAhead: readAhead)
        self.timeout = timeout
    }

    /// The number of partitions of a topic, 0 for one that is gone.
    package func partitionCount(of topic: String) throws(KafkaError) -> Int {
        do throws(KafkaError) {
            return try fetcher.partitionCount(of: topic, timeout: timeout)
        } catch {
            if error.isUnknownTopicOrPartition { return 0 }
            throw error
        }
    }

    /// The record at a place, or nil when it is gone, perhaps with its topic.
    package func record(at place: RecordPlace) throws(KafkaError) -> FetchedRecord? {
        do throws(KafkaError) {
            let partition = TopicPartition(topic: place.topic, partition: place.partition)
            switch try fetcher.record(at: place.offset, of: partition, timeout: timeout) {
            case .record(let record): return record
            case .gone: return nil
            }
        } catch {
            if error.isUnknownTopicOrPartition { return nil }
            throw error
        }
    }
}

extension OriginalReader {
    /// Reads the request of an original, or returns nil where it is gone or another record stands at its place.
    package func request<Answer>(
        of original: Original, reading body: (borrowing PushRequest, RecordPlace) -> Answer
    ) throws(KafkaError) -> Answer? {
        let place = original.place
        guard let record = try record(at: place), let value = record.value,
            original.mayBe(Original(at: place, publishedAt: record.publishedAt))
        else { return nil }
        let origin = RecordOrigin(
            topic: place.topic, partition: place.partition, offset: place.offset,
            timestamp: record.publishedAt ?? Timestamp(milliseconds: 0), isDated: record.publishedAt != nil)
        var request = PushRequest()
        _ = RequestReader(from: .own).read(value.span, headers: record.knownHeaders, origin: origin, into: &request)
        return body(request, place)
    }

    /// True if another record than the original stands at its place, by its time.
    package func isReplaced(_ original: Original) throws(KafkaError) -> Bool {
        guard let record = try record(at: original.place) else { return false }
        return !original.mayBe(Original(at: original.place, publishedAt: record.publishedAt))
    }
}

extension FetchedRecord {
    /// The record's own time, or nil if it has none.
    package var publishedAt: Timestamp? { timestamp.map { Timestamp(milliseconds: $0) } }

    /// The headers that the contract knows.
    package var knownHeaders: RecordHeaders {
        var known = RecordHeaders()
        for (name, value) in headers {
            if let value { known.add(name: name.span, value: value.span) }
        }
        return known
    }
}
