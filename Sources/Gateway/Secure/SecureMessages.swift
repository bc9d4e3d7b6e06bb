import Basics
import Crypto
import Dispatch
import EventLoop
import FanOut
import Foundation
import Kafka
import Observability

/// Keeps the texts of secure push in a topic of Kafka, encrypted, and gives each to the user whom it is for.
///
/// Who writes waits for nothing. Reading is one thread's work; it opens a client of Kafka when a caller asks and none is open, and
/// closes it when no caller asks any more. What a gateway wrote any other can read.
final class SecureMessages: Sendable {
    /// How many calls may wait for the thread.
    private static let limit = 256
    /// How long a call waits for Kafka, the time before its turn included.
    private static let patience = Duration.seconds(5)
    /// After so many questions another client is opened: what a client has to tell waits in it until it is closed.
    private static let questionsOfAClient = 500
    /// Never reached while records are fetched in small portions, and it must not be: the client would pause for 1 s.
    private static let readAhead = 64 << 20
    /// One record is wanted, not those behind it.
    private static let defaults = [KafkaConfiguration.Property(key: "fetch.message.max.bytes", value: "131072")]

    /// A call for a text.
    private struct Question: Sendable {
        let id: SecureID
        let user: UserTag
        let deadline: MonotonicTime
        let reply: Reply

        var timeLeft: Duration { .nanoseconds(deadline.nanoseconds(since: .now())) }
    }

    private let topic: String
    private let kafka: KafkaConfiguration
    private let producer: RequestProducer
    private let log: Log
    private let questions = BoundedQueue<Question>(limit: SecureMessages.limit)
    private let ended = DispatchSemaphore(value: 0)

    /// Makes one whose thread does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: The gateway's configuration.
    ///   - producer: Writes the texts.
    ///   - log: The program's log.
    init(_ configuration: GatewayConfiguration, _ producer: RequestProducer, _ log: Log) {
        topic = configuration.secureTopic
        var kafka = configuration.kafka
        kafka.properties = Self.defaults + kafka.properties
        self.kafka = kafka
        self.producer = producer
        self.log = log
    }

    /// Starts the thread; it holds `self` until ``stop()``. To be called once.
    func start() {
        let thread = Thread { [self] in
            work()
            ended.signal()
        }
        thread.name = "pushfan-secure"
        thread.start()
    }

    /// Ends the thread, and waits up to 1 s for the question that it is at; those that wait are dropped.
    func stop() {
        questions.close()
        _ = ended.wait(timeout: .now() + .seconds(1))
    }

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
        let deadline = MonotonicTime.now().advanced(by: Self.patience)
        let isPut = questions.put(Question(id: id, user: user, deadline: deadline, reply: reply))
        if !isPut { reply.answer(APIProblem.overloaded(after: 1000)) }
    }

    private func work() {
        var fetcher: RecordFetcher?
        var count = 0
        while let question = questions.take() {
            question.reply.answer(answer(to: question, &fetcher))
            count += 1
            if questions.isEmpty || count.isMultiple(of: Self.questionsOfAClient) { fetcher = nil }
        }
    }

    private func answer(to question: Question, _ fetcher: inout RecordFetcher?) -> APIAnswer {
        guard question.timeLeft > .zero else { return APIAnswer(APIProblem.overloaded(after: 1000)) }
        do throws(KafkaError) {
            guard let record = try fetch(question, &fetcher), let text = try? Self.text(of: record, question)
            else { return APIAnswer(APIProblem.notFound) }
            return .payload(text)
        } catch {
            log.warning(.brokerConnection, "a text of secure push cannot be read", [.reason: .string(error.description)])
            return APIAnswer(APIProblem.textUnread)
        }
    }

    /// The record that an id names; nil when there is none.
    private func fetch(_ question: Question, _ fetcher: inout RecordFetcher?) throws(KafkaError) -> FetchedRecord? {
        let place = TopicPartition(topic: topic, partition: question.id.partition)
        do throws(KafkaError) {
            // A partition that is not there would be waited for.
            let count = try producer.partitionCount(of: topic, timeout: question.timeLeft)
            guard place.partition < count else { return nil }
            let client: RecordFetcher
            if let opened = fetcher { client = opened } else { client = try RecordFetcher(kafka, readAhead: Self.readAhead) }
            fetcher = client
            // So that nothing is fetched in the background before the next question.
            defer { client.stop() }
            switch try client.record(at: question.id.offset, of: place, timeout: question.timeLeft) {
            case .record(let record): return record
            case .gone: return nil
            }
        } catch {
            if error.isUnknownTopicOrPartition { return nil }
            throw error
        }
    }

    /// The text of a record; nil for whoever asks with another id, is another user, or comes too late.
    private static func text(of record: FetchedRecord, _ question: Question) throws(CryptoError) -> String? {
        guard let written = record.timestamp, written >= WallClock.millisecondsSince1970() - SecureText.lifetime,
            let value = record.value, let found = try SecureText.opened(value, by: question.id.secret),
            found.user == question.user.folded
        else { return nil }
        return found.text
    }
}
