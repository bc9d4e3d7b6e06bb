import Basics
import CRDKafka

/// Asks whether this client may write to a topic, without writing to it.
///
/// The record asks for 2 acknowledgements, which Kafka does not know: a broker looks at the rights first and at that next (Kafka,
/// `KafkaApis.handleProduceRequest` and `ReplicaManager.appendRecords`), so that the error which comes back tells one from the other.
public enum WriteProbe {
    /// The broker's answer.
    public enum Answer: Sendable, Equatable {
        /// The record was refused for its acknowledgements alone.
        case allowed
        /// The record was taken after all: this is no broker of Kafka's own, or it is the embedded one.
        case written
        /// It was refused for another reason.
        case refused(KafkaError)
    }

    private static let ours = ["acks", "request.required.acks", "message.timeout.ms", "delivery.timeout.ms"]

    /// Offers the record to one partition of `topic`.
    ///
    /// - Parameters:
    ///   - topic: A topic that exists; others might be created by asking.
    ///   - configuration: The brokers and the user's properties.
    ///   - timeout: How long to wait.
    /// - Returns: What the broker said.
    /// - Throws: `isUnreachable`, `isAuthentication`, or a configuration that was refused.
    public static func ask(
        topic: String, configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> Answer {
        var configuration = configuration
        configuration.properties.removeAll { ours.contains($0.key) }
        let settings = try ClientSettings(
            configuration, defaults: [],
            fixed: [
                ("enable.idempotence", "false"), ("acks", "2"), ("message.timeout.ms", "\(max(timeout.timeoutMilliseconds, 1))"),
            ])
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG) }
        let client = try ClientHandle(RD_KAFKA_PRODUCER, settings: settings, inbox: nil)
        let events = try ClientQueue.main(of: client)
        let index = try client.addTopic(topic)
        let code = pushfan_rdkafka_produce(client.pointer, client.topic(index), -1, nil, 0, nil, 0, 0, nil)
        try KafkaError.check(code, what: "cannot ask for the right to write to '\(topic)'")
        return try answer(events, topic: topic, until: ContinuousClock.now + timeout + .seconds(2))
    }

    private static func answer(
        _ events: ClientQueue, topic: String, until deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Answer {
        var reason: KafkaError?
        while ContinuousClock.now < deadline {
            guard let event = events.nextEvent(waiting: 100) else { continue }
            defer { rd_kafka_event_destroy(event) }
            if case .error(let error) = ClientEvent(event, of: events.client) {
                if error.isAuthentication || error.isFatal { throw error }
                reason = error
            }
            guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR, let message = rd_kafka_event_message_next(event) else {
                continue
            }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS: return .allowed
            case RD_KAFKA_RESP_ERR_NO_ERROR: return .written
            case let code where KafkaError(code).isTimeout: throw reason ?? KafkaError(code)
            case let code:
                return .refused(KafkaError(code, message: "topic '\(topic)': \(String(cString: rd_kafka_err2str(code)))"))
            }
        }
        throw reason ?? KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, message: "no answer from the brokers")
    }
}
