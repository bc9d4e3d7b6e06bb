import Crypto
import EventLoop
package import FanOut
package import GatewayAPI
import Kafka

/// Keeps the texts of secure push in a topic of Kafka, encrypted, and gives each to the user whom it is for.
///
/// Callers wait neither to write nor to read. What a gateway wrote any other can read.
package final class SecureMessages: Sendable {
    private let topic: String
    private let producer: RequestProducer
    private let reader: RecordReader

    /// Makes one that writes texts to `topic` by `producer`, and reads them by `reader`.
    package init(_ topic: String, producer: RequestProducer, reader: RecordReader) {
        self.topic = topic
        self.producer = producer
        self.reader = reader
    }

    // MARK: Writing

    /// Writes a text. Waits for nothing. `send` is called once it is written, in the producer's thread, and must not block. Else
    /// `reply` is answered.
    func keep(_ text: SecureText, reply: Reply, then send: @escaping @Sendable (SecureID) -> Void) {
        let secret: [UInt8]
        let value: [UInt8]
        do throws(CryptoError) {
            secret = try randomBytes(SecureID.secretByteCount)
            value = try text.sealed(by: secret)
        } catch {
            return reply.answer(APIProblem.textNotSealed)
        }
        do throws(KafkaError) {
            try producer.write(value, to: topic) { [topic] delivery in
                switch delivery {
                case .persisted(partition: let partition, offset: .some(let offset)):
                    send(SecureID(secret: secret, partition: partition, offset: offset))
                case .notPersisted(let error):
                    reply.answer(APIProblem.notTaken(error, in: topic, retryAfter: 1000, of: .text))
                // Perhaps it is written. But nobody knows where, so nobody can read it, and another attempt does no harm.
                case .persisted, .possiblyPersisted: reply.answer(APIProblem.notWritten)
                }
            }
        } catch {
            reply.answer(APIProblem.notTaken(error, in: topic, retryAfter: 1000, of: .text))
        }
    }

    // MARK: Reading

    /// Answers a text, or 404 where there is none for this user. Waits for nothing.
    func read(_ id: String, for user: UserTag, reply: Reply) {
        guard let id = SecureID(id) else { return reply.answer(APIProblem.notFound) }
        let place = StoredPlace(topic: topic, partition: id.partition, offset: id.offset)
        reader.read(place, for: user.folded) { found in
            switch found {
            case .success(let record): reply.answer(Self.answer(record, to: id, of: user))
            case .failure(let problem): reply.answer(problem)
            }
        }
    }

    /// The text of a record, or 404 for whoever asks with another id, is another user, or comes too late.
    ///
    /// An id has no check of its own that one could see without its record: only the record opens by the id's random bits.
    package static func answer(_ record: StoredRecord?, to id: SecureID, of user: UserTag) -> APIAnswer {
        guard let record, let written = record.timestamp,
            written >= WallClock.millisecondsSince1970() - SecureText.lifetime, let value = record.value,
            let found = try? SecureText.opened(value, by: id.secret), found.user == user.folded
        else { return APIAnswer(APIProblem.notFound) }
        return .payload(found.text)
    }
}
