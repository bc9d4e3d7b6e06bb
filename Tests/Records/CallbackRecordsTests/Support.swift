import Delivery
import JobSupport
import Kafka
import TestSupport
import Testing

@testable import CallbackRecords

/// A broker inside the process with the topics of callbacks. It cannot do transactions.
final class CallbackBroker {
    static let now: Int64 = 1_795_262_400_000

    let cluster: MockCluster
    let topics = CallbackTopics(results: "results", states: "states", deadLetters: "dead", replays: "replays")
    private let producer: Producer

    init(partitions: Int = 2) throws {
        cluster = try MockCluster()
        for topic in [topics.results, topics.states, topics.deadLetters, topics.replays] {
            try cluster.createTopic(topic, partitions: partitions)
        }
        producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
    }

    deinit {
        producer.close(timeout: .zero)
        cluster.close()
    }

    var kafka: KafkaConfiguration { cluster.configuration }

    var context: JobContext {
        JobContext(kafka: cluster.configuration, topics: Topics(), timeout: farDeadline, now: { Self.now })
    }

    func write(
        _ value: [UInt8], to name: String, partition: Int32 = 0, key: String = "key", at time: Int64 = now
    ) throws {
        let topic = try producer.topic(named: name)
        try producer.produce(to: topic, partition: partition, key: Array(key.utf8).span, value: value.span, timestamp: time)
        try producer.flush(timeout: farDeadline)
    }

    func writeResults(_ count: Int, partition: Int32 = 0, at time: Int64 = now) throws {
        for number in 0..<count {
            try write(Self.result("\(partition).\(number)"), to: topics.results, partition: partition, at: time)
        }
    }

    /// The values of a topic by their keys, in the order of their offsets.
    func values(of topic: String) throws -> [String: [String]] {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .end, timeout: farDeadline)
        defer { reader.close() }
        var values: [String: [String]] = [:]
        let isRead = eventually {
            _ = reader.read(timeout: .milliseconds(10)) { record in
                let record = FetchedRecord(record)
                let (key, value) = (record.key ?? [], record.value ?? [])
                values[String(decoding: key, as: UTF8.self), default: []].append(String(decoding: value, as: UTF8.self))
            }
            return reader.hasReachedEnd
        }
        #expect(isRead)
        return values
    }

    static func result(_ id: String, kind: String = "final", source: String = "shop", tenant: String = "north") -> [UInt8] {
        Array(
            #"{"result_id":"\#(id)","request_id":"r","kind":"\#(kind)","state":"sent","source":"\#(source)","tenant":"\#(tenant)"}"#
                .utf8)
    }
}

/// A partition of the topic of results.
func partition(_ number: Int32, of topic: String = "results") -> TopicPartition {
    TopicPartition(topic: topic, partition: number)
}
