import Delivery
import Glibc
import Kafka
import PushModel
import Settings

/// A dead handle to list.
struct FoundHandle {
    /// What the hub tells of the device.
    let device: RefusedDevice
    /// The SHA-256 of its handle, as 64 small hexadecimal digits.
    let fingerprint: [UInt8]
}

/// The right to write what a hub's feedback lists: held by one process at a time.
///
/// The transactional id comes from the hub's, so that a new session fences an earlier one and settles what it left open. It then writes a
/// claim and reads the topic up to it: whatever an earlier session committed has been read then, even if another producer's open
/// transaction had hidden it.
final class HandlesSession {
    /// How far the blobs were read.
    private(set) var marks: FeedbackMarks

    private let producer: Producer
    private let handles: Producer.Topic
    private let topic: Producer.Topic
    private let place: String
    private let hubName: String
    private let timeout: Duration

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - place: The hub: namespace and name.
    ///   - hubName: The hub's name, for the records.
    ///   - settings: Where the topics are.
    ///   - timeout: How long to wait for the brokers.
    /// - Throws: Kafka does not do it.
    init(_ place: String, hubName: String, _ settings: Settings, timeout: Duration) throws(KafkaError) {
        let configuration = settings.kafkaConfiguration()
        let names = [settings.kafka.topics.handles, settings.kafka.topics.replays]
        let producer = try Producer(configuration, transactionalID: "pushfan-handles-\(place)", enqueueTimeout: timeout)
        self.producer = producer
        self.place = place
        self.hubName = hubName
        self.timeout = timeout
        marks = FeedbackMarks(of: place)
        let topics = try FreshTopics.retrying { () throws(KafkaError) in try producer.warmUp(topics: names, timeout: timeout) }
        (handles, topic) = (topics[0], topics[1])
        try producer.fenceOthers(within: timeout)
        try claim(configuration)
    }

    deinit { producer.close(timeout: .zero) }

    /// Writes a claim, and reads the topic up to it.
    private func claim(_ configuration: KafkaConfiguration) throws(KafkaError) {
        let name = "\(getpid()).\(UInt64.random(in: .min ... .max))"
        let reader = try TopicReader(configuration, topic: topic.name, start: .beginning, timeout: timeout)
        defer { reader.close() }
        try transact { () throws(KafkaError) in
            try write(FeedbackMarks.claimKey(place), FeedbackMarks.claim(of: name))
        }
        let deadline = Deadline(after: timeout)
        while marks.runner != name {
            if case .error(let error) = reader.read(timeout: .milliseconds(100), { marks.take($0) }),
                error.isAuthorization || error.isFatal
            {
                throw error
            }
            guard !deadline.hasPassed, !Interruption.isRequested else {
                throw .invalidArgument("\(topic.name) cannot be read up to what was written just now")
            }
        }
    }

    /// Writes in one transaction: dead handles, and how far their blob was read.
    ///
    /// - Parameters:
    ///   - found: The handles.
    ///   - blob: The blob.
    ///   - position: How many bytes of it were read with them.
    ///   - now: When they were learnt of.
    /// - Throws: Kafka did not confirm it. Whether it took place, the next session finds out.
    func write(_ found: [FoundHandle], of blob: String, upTo position: Int64, now: Timestamp) throws(KafkaError) {
        try transact { () throws(KafkaError) in
            for handle in found {
                var json = ByteWriter(capacity: 256)
                DeadHandle.append(handle.device, fingerprint: handle.fingerprint.span, hub: hubName, at: now, to: &json)
                var headers = Kafka.RecordHeaders()
                headers.append("content-type", "application/json")
                try producer.produce(to: handles, key: handle.fingerprint.span, value: json.span, headers: headers)
            }
            try write(FeedbackMarks.key(place, blob), FeedbackMarks.value(blob, position))
        }
    }

    /// Writes marks again, as they are.
    func refresh(_ marks: [(blob: String, position: Int64)]) throws(KafkaError) {
        guard !marks.isEmpty else { return }
        try transact { () throws(KafkaError) in
            for mark in marks { try write(FeedbackMarks.key(place, mark.blob), FeedbackMarks.value(mark.blob, mark.position)) }
        }
    }

    private func write(_ key: [UInt8], _ value: [UInt8]) throws(KafkaError) {
        // In one partition everything has one order.
        try producer.produce(to: topic, partition: 0, key: key.span, value: value.span)
    }

    private func transact(_ body: () throws(KafkaError) -> Void) throws(KafkaError) {
        try producer.beginTransaction()
        do throws(KafkaError) {
            try body()
            try commit()
        } catch {
            // What is left open would hold up the readers of these partitions until it times out.
            if !error.isFatal { try? producer.abortTransaction(timeout: .seconds(5)) }
            throw error
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
