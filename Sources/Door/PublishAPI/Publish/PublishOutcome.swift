import GatewayAPI
import Kafka
import PushModel

/// What became of one request, whether it came alone or in a batch.
enum PublishOutcome: Sendable, Equatable {
    case written(WrittenRequest)
    /// It cannot be published, or Kafka does not have it for certain.
    case refused(APIProblem)

    /// The outcome of a record by what Kafka has said of it. `wait` is milliseconds, where another try helps.
    init(
        _ delivery: Producer.Delivery, of request: PublishedRequest, in topic: String, retryAfter wait: Int64
    ) {
        switch delivery {
        case .persisted(let partition, let offset):
            self = .written(
                WrittenRequest(
                    id: request.id, topic: topic, partition: partition, offset: offset, acceptedAt: request.acceptedAt,
                    expiresAt: request.expiresAt))
        case .notPersisted(let error): self = .refused(.notTaken(error, in: topic, retryAfter: wait))
        case .possiblyPersisted: self = .refused(.ackUnknown(request.id))
        }
    }
}

struct WrittenRequest: Sendable, Equatable {
    package let id: String
    let topic: String
    let partition: Int32
    /// The place there; nil where Kafka does not say it.
    let offset: Int64?
    /// The moment of its call, which is its record's timestamp.
    let acceptedAt: Timestamp
    /// When it is of no more use; nil for never.
    let expiresAt: Timestamp?

    /// Where it can be asked about.
    var location: String {
        RequestLocation.of(id, at: offset.map { (topic, partition, $0) }, time: acceptedAt)
    }
}
