import EventLoop
import Kafka
import PushModel
import Synchronization

/// The receivers that ever had a position: brokers forget positions sooner than results. Records on the topic of states, which is kept
/// for ever, remember them. Its calls block, one at a time.
final class ReceiverMemory: Sendable {
    /// The start of a record's key, which no receiver's name has.
    static let prefix = "begun "
    private static let step = Duration.milliseconds(200)
    /// The time without notes after one that failed.
    private static let pause = Duration.seconds(60)

    private let kafka: KafkaConfiguration
    private let topic: String
    private let timeout: Duration
    /// The receivers that are known to have begun. Nothing else is locked while it is held.
    private let known = Mutex<Set<String>>([])
    /// The moment from which notes are written again. Nothing else is locked while it is held.
    private let pauseEnd = Mutex(ContinuousClock.now)
    /// The writer, as soon as one was needed. Nothing else is locked while it is held.
    private let writer = Mutex<StateWriter?>(nil)

    init(_ kafka: KafkaConfiguration, topic: String, timeout: Duration) {
        (self.kafka, self.topic, self.timeout) = (kafka, topic, timeout)
    }

    /// True if the receiver has begun. The topic is read for one that is not known to. Where it is missing, none has.
    func contains(_ receiver: String) throws(KafkaError) -> Bool {
        if known.withLock({ $0.contains(receiver) }) { return true }
        let found = try read()
        return known.withLock { known in
            known.formUnion(found)
            return known.contains(receiver)
        }
    }

    /// Remembers that a receiver has begun, unless that is known. What fails is not tried again for a while, so that many receivers do not
    /// wait one after another.
    func note(_ receiver: String) throws(KafkaError) {
        guard pauseEnd.withLock({ $0 <= ContinuousClock.now }) else { return }
        do throws(KafkaError) {
            if try !contains(receiver) { try write(receiver) }
        } catch {
            pauseEnd.withLock { $0 = ContinuousClock.now + Self.pause }
            throw error
        }
        _ = known.withLock { $0.insert(receiver) }
    }

    private func write(_ receiver: String) throws(KafkaError) {
        let moment = WallClock.millisecondsSince1970()
        var json = ByteWriter()
        json.append("{\"schema_version\":1,\"receiver\":", json: receiver)
        json.append(",\"begun_at\":", moment: Timestamp(milliseconds: moment))
        json.append("}")
        try currentWriter().write(json.bytes, key: Self.prefix + receiver, at: moment)
    }

    /// Frees the writer. A note afterwards makes another.
    func close() { writer.withLock { $0.take() }?.close() }

    private func currentWriter() throws(KafkaError) -> StateWriter {
        if let writer = writer.withLock({ $0 }) { return writer }
        let new = try StateWriter(kafka, topic: topic, timeout: timeout)
        writer.withLock { $0 = new }
        return new
    }

    private func read() throws(KafkaError) -> Set<String> {
        var found: Set<String> = []
        do throws(KafkaError) {
            let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .end, timeout: timeout)
            defer { reader.close() }
            let end = ContinuousClock.now + timeout
            while !reader.hasReachedEnd {
                let result = reader.read(timeout: Self.step) { record in
                    if let name = Self.name(in: record) { found.insert(name) }
                }
                if case .error(let error) = result, error.isFatal || error.isAuthorization { throw error }
                guard ContinuousClock.now < end else { throw .invalidArgument("the topic of states was not read in time") }
            }
        } catch {
            if error.isUnknownTopicOrPartition { return [] }
            throw error
        }
        return found
    }

    /// The receiver that a record says has begun. Nil for a record that says nothing of the kind.
    static func name(in record: borrowing ConsumedRecord) -> String? {
        guard record.value != nil, let key = record.key, key.count <= 128 else { return nil }
        let text = key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
}
