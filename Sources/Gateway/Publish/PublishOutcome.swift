import Kafka
import PushModel

/// What became of one request, whether it came alone or in a batch.
enum PublishOutcome: Sendable, Equatable {
    /// Kafka has it.
    case written(WrittenRequest)
    /// It cannot be published, or Kafka does not have it for certain.
    case refused(APIProblem)

    /// What became of a record.
    ///
    /// - Parameters:
    ///   - delivery: What Kafka has said of it.
    ///   - id: The request's id.
    ///   - topic: The topic of the record.
    ///   - expiry: When the request is of no more use; nil for never.
    ///   - now: The present moment.
    ///   - wait: When to try again where that helps, in milliseconds.
    init(
        _ delivery: Producer.Delivery, of id: String, in topic: String, expiresAt expiry: Timestamp?, now: Timestamp,
        retryAfter wait: Int64
    ) {
        switch delivery {
        case .persisted(let partition, let offset):
            self = .written(
                WrittenRequest(
                    id: id, topic: topic, partition: partition, offset: offset, acceptedAt: now, expiresAt: expiry))
        case .notPersisted(let error): self = .refused(.notTaken(error, retryAfter: wait))
        case .possiblyPersisted: self = .refused(.ackUnknown(id))
        }
    }
}

/// A request that Kafka has.
struct WrittenRequest: Sendable, Equatable {
    /// Its id.
    let id: String
    /// The topic of its record.
    let topic: String
    /// The partition of its record.
    let partition: Int32
    /// The place there; nil where Kafka does not say it.
    let offset: Int64?
    /// When that was known.
    let acceptedAt: Timestamp
    /// When it is of no more use; nil for never.
    let expiresAt: Timestamp?

    /// Appends the members for its place. The offset is a text, because not every reader of JSON keeps 64 bits.
    func appendPlace(to json: inout ByteWriter) {
        json.append(",\"topic\":")
        json.append(json: topic)
        json.append(",\"partition\":")
        json.append(decimal: Int(partition))
        guard let offset else { return }
        json.append(",\"offset\":")
        json.append(json: String(offset))
    }
}
