import Delivery
import JobSupport
import Kafka
import Outcomes
import PushModel

/// A dead handle to list.
struct FoundHandle {
    /// The hub's report of the device.
    let device: RefusedDevice
    /// The SHA-256 of its handle, as 64 small hexadecimal digits.
    let fingerprint: [UInt8]
}

/// The right to write what a hub's feedback lists: held by one process at a time.
///
/// The transactional id comes from the hub's (`TransactionalSession`).
final class HandlesSession {
    /// The positions up to which the blobs were read.
    private(set) var marks: FeedbackMarks

    private let session: TransactionalSession
    private let handles: Producer.Topic
    private let topic: Producer.Topic
    private let place: String
    private let hubName: String

    /// Opens a session for the hub at `place`: namespace and name.
    init(for place: String, hubName: String, context: JobContext) throws(KafkaError) {
        let session = try TransactionalSession(
            context.kafka, id: "pushfan-handles-\(place)", topics: [context.topics.handles, context.topics.replays],
            enqueueTimeout: context.timeout, timeout: context.timeout, isCancelled: context.isCancelled)
        self.session = session
        self.place = place
        self.hubName = hubName
        marks = FeedbackMarks(of: place)
        (handles, topic) = (session.topics[0], session.topics[1])
        try session.fence()
        let reader = try session.reader(of: topic)
        try session.transact { () throws(KafkaError) in
            try write(FeedbackMarks.claimKey(place), FeedbackMarks.claim(of: session.claim))
        }
        try session.readBack(reader, until: { marks.runner == session.claim }) { marks.take($0) }
    }

    /// Writes in one transaction: dead handles, and how far their blob was read. After an error the next session finds out
    /// whether it took place.
    func write(_ found: [FoundHandle], of blob: String, upTo position: Int64, now: Timestamp) throws(KafkaError) {
        try session.transact { () throws(KafkaError) in
            for handle in found {
                var json = ByteWriter(capacity: 256)
                DeadHandle.append(handle.device, fingerprint: handle.fingerprint.span, hub: hubName, at: now, to: &json)
                var headers = HeaderList()
                headers.append("content-type", value: "application/json")
                try session.producer.produce(to: handles, key: handle.fingerprint.span, value: json.span, headers: headers)
            }
            try write(FeedbackMarks.key(place, blob), FeedbackMarks.value(blob, position))
        }
    }

    /// Writes marks again, as they are.
    func refresh(_ marks: [(blob: String, position: Int64)]) throws(KafkaError) {
        guard !marks.isEmpty else { return }
        try session.transact { () throws(KafkaError) in
            for mark in marks { try write(FeedbackMarks.key(place, mark.blob), FeedbackMarks.value(mark.blob, mark.position)) }
        }
    }

    private func write(_ key: [UInt8], _ value: [UInt8]) throws(KafkaError) {
        // In one partition everything has one order.
        try session.producer.produce(to: topic, partition: 0, key: key.span, value: value.span)
    }
}
