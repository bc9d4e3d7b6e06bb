import Crypto
import FanOut
import Kafka
import Observability

/// Keeps the texts of secure push in a topic of Kafka, encrypted, and gives each to the user whom it is for.
///
/// Callers wait neither to write nor to read. What a gateway wrote any other can read.
final class SecureMessages: Sendable {
    private let topic: String
    private let producer: RequestProducer
    private let reader: TextReader

    /// Makes one whose threads do not run yet.
    ///
    /// - Parameters:
    ///   - configuration: The gateway's configuration.
    ///   - producer: Writes the texts.
    ///   - log: The program's log.
    init(_ configuration: GatewayConfiguration, _ producer: RequestProducer, _ log: Log) {
        topic = configuration.secureTopic
        self.producer = producer
        reader = TextReader(log) { [topic, kafka = configuration.kafka] () throws(KafkaError) -> any TextSource in
            try TopicTexts(topic, kafka)
        }
    }

    /// Starts the threads that read; they run until ``stop()``. To be called once.
    func start() { reader.start() }

    /// Ends them, and waits up to 1 s for the questions that they are at; those that wait are dropped.
    func stop() { reader.stop() }

    // MARK: Writing

    /// Writes a text; waits for nothing.
    ///
    /// - Parameters:
    ///   - text: The text and its user.
    ///   - reply: Is answered when the text is not written; nothing was sent then.
    ///   - send: Is called once the text is written, in the producer's thread; must not block.
    func keep(_ text: SecureText, _ reply: Reply, then send: @escaping @Sendable (SecureID) -> Void) {
        let secret: [UInt8]
        let value: [UInt8]
        do throws(CryptoError) {
            secret = try randomBytes(SecureID.secretByteCount)
            value = try text.sealed(by: secret)
        } catch {
            return reply.answer(APIProblem.textNotSealed)
        }
        do throws(KafkaError) {
            try producer.write(value, to: topic) { delivery in
                switch delivery {
                case .persisted(partition: let partition, offset: .some(let offset)):
                    send(SecureID(secret: secret, partition: partition, offset: offset))
                case .notPersisted(let error) where error.refusesRecords: reply.answer(APIProblem.textTooLong)
                // Perhaps it is written. But nobody knows where, so nobody can read it, and another attempt does no harm.
                case .persisted, .notPersisted, .possiblyPersisted: reply.answer(APIProblem.notWritten)
                }
            }
        } catch {
            reply.answer(error.refusesRecords ? APIProblem.textTooLong : APIProblem.notWritten)
        }
    }

    // MARK: Reading

    /// Answers a text, or 404 where there is none for this user; waits for nothing.
    ///
    /// - Parameters:
    ///   - id: The id as the caller has it.
    ///   - user: Who asks.
    ///   - reply: Takes the answer.
    func read(_ id: String, for user: UserTag, _ reply: Reply) {
        guard let id = SecureID(id) else { return reply.answer(APIProblem.notFound) }
        reader.ask(id, for: user) { reply.answer($0) }
    }
}
