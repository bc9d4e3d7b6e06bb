package import Kafka

/// The problems of what Kafka does not take.
extension APIProblem {
    /// What is not written, and what follows.
    package enum Unwritten: String, Sendable, CaseIterable {
        case request = "the request is not written, and nothing is sent"
        case text = "the text is not written, and nothing is sent"
        case cancellation = "the cancellation is not written, and nothing is cancelled"
        case order = "the order is not written, and nothing changes"
    }

    /// The answer for a record that Kafka certainly does not have. `wait` is milliseconds, where another try helps.
    package static func notTaken(
        _ error: KafkaError, in topic: String, retryAfter wait: Int64, of unwritten: Unwritten = .request
    ) -> APIProblem {
        if error.isClosed { return .stopping }
        func later(_ code: Code, because cause: String) -> APIProblem {
            APIProblem(
                503, code: code, detail: "\(cause); \(unwritten.rawValue).", retry: .safe, retryAfter: wait)
        }
        if error.isTooLarge {
            return APIProblem(
                413, code: .brokerSizeLimit,
                detail: "Kafka takes no record of this size for \(topic) (max.message.bytes); \(unwritten.rawValue).")
        }
        if error.refusesRecords {
            return APIProblem(
                500, code: .brokerRefused,
                detail: "Kafka refuses the record for \(topic) as it is (\(error.name)); \(unwritten.rawValue).")
        }
        if error.isQueueFull { return later(.brokerSlow, because: "Kafka is slow to take what came before") }
        if error.isUnknownTopicOrPartition {
            return later(.topicMissing, because: "The topic \(topic) is missing, which `pushfan topics create` makes")
        }
        if error.isAuthorization {
            return later(.brokerForbidden, because: "Kafka does not allow the gateway to write to \(topic)")
        }
        if error.isNotEnoughReplicas {
            return later(.notEnoughReplicas, because: "Too few replicas of \(topic) are in sync (min.insync.replicas)")
        }
        return later(.brokerUnavailable, because: "Kafka did not take it")
    }
}
