import EventLoop
import HTTPServing
import Intake
import Keys
import Kafka
import Publishing
import PushModel
import Synchronization

/// Serves `POST /v1/requests`: checks a request, writes it to Kafka, and answers when Kafka has said what became of it. No thread waits.
///
/// A request whose caller has gone meanwhile is written all the same.
final class PublishRoute: Sendable {
    /// Between which whole seconds callers are asked to come again after a failure, so that they do not come all at once.
    private static let waits: ClosedRange<Int64> = 1...5

    private let producer: RequestProducer
    private let writer: Mutex<RequestWriter>
    private let trial = RequestTrial()
    private let services: GatewayServices

    init(_ configuration: GatewayConfiguration, _ producer: RequestProducer, _ services: GatewayServices) {
        self.producer = producer
        self.services = services
        writer = Mutex(RequestWriter(topics: configuration.requestTopics, source: Sending.source))
    }

    /// Answers a call, now or later; waits for nothing.
    func answer(_ call: PublishCall) {
        let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        do throws(APIProblem) {
            let publication = try Publication(call.request, by: call.publisher, at: now, trial) {
                writer.withLock { $0.newID(at: now) }
            }
            let record = writer.withLock { $0.record(of: publication.outgoing, at: now) }
            write(record, expiresAt: publication.expiresAt, call.reply)
        } catch {
            call.reply.answer(error)
        }
    }

    private func write(_ record: RequestRecord, expiresAt expiry: Timestamp?, _ reply: Reply) {
        let started = services.now()
        let wait = Int64.random(in: Self.waits) * 1000
        do throws(KafkaError) {
            try producer.write(record) { [services] delivery in
                services.countAck(delivery, since: started)
                let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
                reply.answer(APIAnswer(delivery, of: record, expiresAt: expiry, now: now, retryAfter: wait))
            }
        } catch {
            reply.answer(APIProblem.notTaken(error, retryAfter: wait))
        }
    }
}
