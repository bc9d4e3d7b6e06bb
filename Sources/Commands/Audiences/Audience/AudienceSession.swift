import Delivery
import JobSupport
import Kafka
import PushModel

/// The right to enqueue one file: held by one process at a time.
///
/// The transactional id comes from the request's, and a claim stands in every partition of the topic of parents (`TransactionalSession`).
final class AudienceSession {
    /// The progress of the request in the topic, or nil when nothing of it was ever written.
    private(set) var found: AudienceProgress?
    let parentPartitions: Int32

    private let session: TransactionalSession
    private let parents: Producer.Topic
    private let own: Producer.Topic
    private let ownPartitions: Int32
    private let key: ParentKey

    init(for id: String, context: JobContext, batchByteCount: Int? = nil) throws(KafkaError) {
        var configuration = context.kafka
        if let batchByteCount { configuration.properties.append(.init(key: "batch.size", value: "\(batchByteCount)")) }
        let session = try TransactionalSession(
            configuration, id: "pushfan-enqueue-\(id)",
            topics: [context.topics.parents, context.topics.requestsOwn], enqueueTimeout: context.timeout,
            timeout: context.timeout, isCancelled: context.isCancelled)
        self.session = session
        key = ParentKey(fileID: id)
        (parents, own) = (session.topics[0], session.topics[1])
        parentPartitions = try session.producer.partitionCount(of: session.topics[0], timeout: context.timeout)
        ownPartitions = try session.producer.partitionCount(of: session.topics[1], timeout: context.timeout)
        try session.fence()
        try readBack()
    }

    /// Reads the records that earlier sessions have committed.
    private func readBack() throws(KafkaError) {
        let name = Array(session.claim.utf8)
        let reader = try session.reader(of: parents)
        try begin()
        for partition in 0..<parentPartitions { try write(.claim, name, to: partition) }
        try session.commit()
        var waiting = Set(0..<parentPartitions)
        var isNewer = false
        try session.readBack(reader, isInterruptible: false, until: { waiting.isEmpty }) { record in
            guard let bytes = record.key, let value = record.value, let (parent, role) = ParentKey.read(bytes), parent == key
            else { return }
            if RecordFormat.isNewer(record, of: nil) { isNewer = true }
            if role == .claim, value.withUnsafeBufferPointer({ $0.elementsEqual(name) }) { waiting.remove(record.partition) }
            if role == .progress, let progress = AudienceProgress(value) { found = progress }
        }
        guard !isNewer else { throw .invalidArgument("a newer version began to enqueue this file: go on with that version") }
    }

    func begin() throws(KafkaError) { try session.producer.beginTransaction() }

    /// Adds a part, in its place among the partitions.
    func addPart(_ chunk: Int, _ json: borrowing ByteWriter) throws(KafkaError) {
        let partition = Int32((key.digest &+ UInt64(chunk)) % UInt64(max(1, ownPartitions)))
        var headers = HeaderList()
        headers.append("content-type", value: "application/json")
        try session.producer.produce(to: own, partition: partition, key: nil, value: json.span, headers: headers)
    }

    /// Adds the record by which the request's parts are counted.
    func addParent(_ json: borrowing ByteWriter, to partition: Int32) throws(KafkaError) {
        try write(.parent, json.bytes, to: partition)
    }

    /// Commits what was added, with how far the file is now. With the last part the claims are taken back.
    func commit(_ progress: AudienceProgress) throws(KafkaError) {
        try write(.progress, progress.json, to: progress.partition)
        if progress.isComplete { for partition in 0..<parentPartitions { try write(.claim, nil, to: partition) } }
        try session.commit()
        found = progress
    }

    private func write(_ role: ParentKey.Role, _ value: [UInt8]?, to partition: Int32) throws(KafkaError) {
        var bytes = ByteWriter()
        key.append(role, to: &bytes)
        try session.producer.write(key: bytes.bytes, value: value, to: parents, partition: partition)
    }
}
