import Glibc
import Kafka
import PushModel
import Settings

/// The right to enqueue one file: held by one process at a time.
///
/// The transactional id comes from the request's, so that a new session fences an earlier one and settles what it left open. It then writes
/// a claim into every partition of the topic of parents and reads the topic up to those. So it has read whatever an earlier session
/// committed, even if another producer's open transaction had hidden it.
final class AudienceSession {
    /// What the topic says of the request; nil when nothing of it was ever written.
    private(set) var found: AudienceProgress?
    /// The partitions of the topic of parents.
    let parentPartitions: Int32

    private let producer: Producer
    private let parents: Producer.Topic
    private let own: Producer.Topic
    private let ownPartitions: Int32
    private let key: ParentKey
    private let timeout: Duration

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - settings: Where the topics are.
    ///   - timeout: How long to wait for the brokers.
    /// - Throws: Kafka does not do it.
    init(_ id: String, _ settings: Settings, timeout: Duration) throws(KafkaError) {
        let configuration = settings.kafkaConfiguration()
        let names = [settings.kafka.topics.parents, settings.kafka.topics.requestsOwn]
        let producer = try Producer(configuration, transactionalID: "pushfan-enqueue-\(id)", enqueueTimeout: timeout)
        self.producer = producer
        self.timeout = timeout
        key = ParentKey(fileID: id)
        let topics = try FreshTopics.retrying { () throws(KafkaError) in try producer.warmUp(topics: names, timeout: timeout) }
        (parents, own) = (topics[0], topics[1])
        parentPartitions = try producer.partitionCount(of: topics[0], timeout: timeout)
        ownPartitions = try producer.partitionCount(of: topics[1], timeout: timeout)
        try producer.fenceOthers(within: timeout)
        try readBack(configuration)
    }

    deinit { producer.close(timeout: .zero) }

    /// Reads what earlier sessions have committed.
    private func readBack(_ configuration: KafkaConfiguration) throws(KafkaError) {
        let name = Array("\(getpid()).\(UInt64.random(in: .min ... .max))".utf8)
        let reader = try TopicReader(configuration, topic: parents.name, start: .beginning, timeout: timeout)
        defer { reader.close() }
        try producer.beginTransaction()
        for partition in 0..<parentPartitions { try write(.claim, name, to: partition) }
        try commit()
        var waiting = Set(0..<parentPartitions)
        let deadline = Deadline(after: timeout)
        while !waiting.isEmpty {
            let result = reader.read(timeout: .milliseconds(100)) { record in
                guard let bytes = record.key, let value = record.value, let (parent, role) = ParentKey.read(bytes), parent == key
                else { return }
                if role == .claim, value.withUnsafeBufferPointer({ $0.elementsEqual(name) }) { waiting.remove(record.partition) }
                if role == .progress, let progress = AudienceProgress(value) { found = progress }
            }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw error }
            if deadline.hasPassed { throw .invalidArgument("\(parents.name) cannot be read up to what was written just now") }
        }
    }

    /// Begins a transaction.
    func begin() throws(KafkaError) { try producer.beginTransaction() }

    /// Adds a part, in its place among the partitions.
    func addPart(_ chunk: Int, _ json: borrowing ByteWriter) throws(KafkaError) {
        let partition = Int32((key.digest &+ UInt64(chunk)) % UInt64(max(1, ownPartitions)))
        var headers = Kafka.RecordHeaders()
        headers.append("content-type", "application/json")
        try producer.produce(to: own, partition: partition, key: nil, value: json.span, headers: headers)
    }

    /// Adds the record by which the request's parts are counted.
    func addParent(_ json: borrowing ByteWriter, to partition: Int32) throws(KafkaError) {
        try write(.parent, json.bytes, to: partition)
    }

    /// Commits what was added, with how far the file is now. With the last part the claims are taken back.
    func commit(_ progress: AudienceProgress) throws(KafkaError) {
        try write(.progress, progress.json, to: progress.partition)
        if progress.isComplete { for partition in 0..<parentPartitions { try write(.claim, nil, to: partition) } }
        try commit()
        found = progress
    }

    private func write(_ role: ParentKey.Role, _ value: [UInt8]?, to partition: Int32) throws(KafkaError) {
        var bytes = ByteWriter()
        key.append(role, to: &bytes)
        if let value {
            try producer.produce(to: parents, partition: partition, key: bytes.span, value: value.span)
        } else {
            try producer.produce(to: parents, partition: partition, key: bytes.span, value: nil)
        }
    }

    private func commit() throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try producer.commitTransaction(timeout: nil)
            } catch {
                guard error.isRetriable, !error.isFatal else { throw error }
            }
        }
    }
}
