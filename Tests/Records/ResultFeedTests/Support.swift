import Kafka
import TestSupport
import Testing

@testable import ResultFeed

/// A result as a worker writes it.
func makeJSON(_ id: String, padding: Int = 0) -> [UInt8] {
    // Text that the producer cannot compress.
    var random = SystemRandomNumberGenerator()
    let space = String(decoding: (0..<padding).map { _ in UInt8.random(in: 97...122, using: &random) }, as: UTF8.self)
    return Array(#"{"request_id":"\#(id)","result_id":"r-\#(id)","kind":"final","state":"sent","x":"\#(space)"}"#.utf8)
}

/// A record of the topic.
func makeRecord(_ partition: Int32, _ offset: Int64, padding: Int = 0) throws -> FeedRecord {
    let id = "\(partition)-\(offset)"
    return try #require(
        FeedRecord(key: id, json: makeJSON(id, padding: padding), partition: partition, offset: offset, timestamp: offset))
}

/// The place of a record.
struct Spot: Hashable {
    let partition: Int32
    let offset: Int64

    init(_ partition: Int32, _ offset: Int64) { (self.partition, self.offset) = (partition, offset) }
    init(_ record: FeedRecord) { self.init(record.partition, record.offset) }
}

/// The answer to a reader, which may come in any thread.
final class Answer<Value: Sendable>: Sendable {
    private let box = Box<[Result<Value, FeedFailure>]>([])

    var note: @Sendable (Result<Value, FeedFailure>) -> Void { { [box] result in box.withLock { $0.append(result) } } }
    var count: Int { box.withLock { $0.count } }

    /// Waits for it.
    func wait() throws -> Result<Value, FeedFailure> {
        try #require(eventually { count > 0 })
        return try #require(box.withLock { $0.first })
    }
}

/// A broker inside the process with a topic of results, and a feed of it.
struct Stage {
    let cluster: MockCluster
    let producer: Producer
    let topic: Producer.Topic
    let feed: ResultFeed
    /// The number of calls with news.
    let news = Box(0)

    init(partitions: Int = 3, _ change: (inout ResultFeed.Configuration) -> Void = { _ in }) throws {
        cluster = try MockCluster()
        try cluster.createTopic("r", partitions: partitions)
        producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        topic = try #require(try producer.warmUp(topics: ["r"], timeout: farDeadline).first)
        var configuration = ResultFeed.Configuration(cluster.configuration, topic: "r")
        configuration.patience = farDeadline
        change(&configuration)
        feed = ResultFeed(configuration) { [news] in news.withLock { $0 += 1 } }
    }

    func close() {
        feed.close()
        producer.close(timeout: .seconds(5))
        cluster.close()
    }

    /// Writes a result to each partition in turn, and returns their ids in the order of writing.
    @discardableResult
    func write(_ count: Int, partitions: Int32 = 3, padding: Int = 0, at time: Int64? = nil) throws -> [String] {
        let ids = (0..<count).map { "\(Int32($0) % partitions)-\($0)" }
        for (number, id) in ids.enumerated() {
            try producer.produce(
                to: topic, partition: Int32(number) % partitions, key: Array(id.utf8).span,
                value: makeJSON(id, padding: padding).span,
                timestamp: time.map { $0 + Int64(number) })
        }
        try producer.flush(timeout: farDeadline)
        return ids
    }
}

extension ResultFeed {
    /// Reads once.
    func readOnce(from places: FeedPlaces, onlyNamed: Bool = false, room: Int = 100) throws -> Result<FeedReading, FeedFailure> {
        let answer = Answer<FeedReading>()
        read(
            from: places, onlyNamed: onlyNamed, room: FeedRoom(records: room, bytes: 1 << 20), where: { _ in true },
            then: answer.note)
        return try answer.wait()
    }

    /// Reads on until so many records have come. Whoever is at the end reads again.
    func readAll(_ count: Int, from places: FeedPlaces, onlyNamed: Bool = false, room: Int = 100) throws -> [FeedRecord] {
        var (records, places): ([FeedRecord], FeedPlaces) = ([], places)
        let isDone = try eventually {
            let reading = try readOnce(from: places, onlyNamed: onlyNamed, room: room).get()
            records += reading.records
            places = reading.places
            return records.count >= count
        }
        try #require(isDone)
        return records
    }

    /// Reads to the end that is known, and returns the place there as well.
    func readToEnd(from places: FeedPlaces, room: Int = 100) throws -> (records: [FeedRecord], places: FeedPlaces) {
        var (records, places): ([FeedRecord], FeedPlaces) = ([], places)
        while true {
            let reading = try readOnce(from: places, room: room).get()
            records += reading.records
            places = reading.places
            if reading.isAtEnd { return (records, places) }
        }
    }

    /// The place of a time.
    func findPlaces(since time: Int64) throws -> FeedPlaces {
        let answer = Answer<FeedPlaces>()
        findPlaces(since: time, then: answer.note)
        return try answer.wait().get()
    }
}
