import Crypto
import EventLoop
import HTTPServing
import Intake
import Kafka
import Keys
import Publishing
import PushModel
import Synchronization

/// Serves `POST /v1/requests`: checks a request, writes it to Kafka, and answers when Kafka has said what became of it. No thread waits.
///
/// A request whose caller has gone meanwhile is written all the same. Of calls with one `Idempotency-Key` the first is carried out.
final class PublishRoute: Sendable {
    /// The whole seconds after which callers are asked to come again after a failure, so that they do not come all at once.
    private static let waits: ClosedRange<Int64> = 1...5

    private let producer: RequestProducer
    private let writer: Mutex<RequestWriter>
    private let trial = RequestTrial()
    private let idempotency: Idempotency
    private let lookups: LookupEndpoints
    private let reach: RetryReachWarning
    private let topic: String
    private let services: GatewayServices

    init(
        _ configuration: GatewayConfiguration, _ producer: RequestProducer, _ idempotency: Idempotency,
        _ lookups: LookupEndpoints,
        _ services: GatewayServices
    ) {
        self.producer = producer
        self.idempotency = idempotency
        self.lookups = lookups
        self.services = services
        reach = RetryReachWarning(offsets: configuration.dedupeReach, services)
        topic = configuration.requestsTopic
        writer = Mutex(RequestWriter(topics: configuration.requestTopics, source: Sending.source))
    }

    /// Answers a call, now or later; waits for nothing.
    func answer(_ call: PublishCall) {
        do throws(APIProblem) {
            guard call.publisher.scopes.contains(.publish) else { throw .forbiddenScope(.publish) }
            guard let key = try IdempotencyKey.read(call.request.headers) else { return publish(call, nil, noting: { _ in }) }
            let (scope, fingerprint) = try Self.identity(of: call, key)
            // Before the request is checked: the repetition of one that has expired since gets the answer to the first.
            idempotency.begin(scope, fingerprint) { [self] verdict in
                switch verdict {
                case .first(let turn): publish(call, key) { turn.end(with: StoredAnswer(certain: $0)) }
                case .replayed(let answer): call.reply.answer(answer.replay)
                case .mismatch: call.reply.answer(APIProblem.idempotencyMismatch)
                case .inFlight: call.reply.answer(APIProblem.conflictInFlight)
                }
            }
        } catch {
            call.reply.answer(error)
        }
    }

    /// Lets time pass. To be called by the producer's thread, several times a second.
    func tick() {
        reach.tick {
            let current = producer.current
            guard let handle = try? current.topic(named: topic) else { return nil }
            return (try? current.partitionCount(of: handle, timeout: .milliseconds(500))).map { Int($0) }
        }
    }

    private static func identity(
        of call: PublishCall, _ key: IdempotencyKey
    ) throws(APIProblem) -> (IdempotencyScope, CallFingerprint) {
        do throws(CryptoError) {
            let scope = try IdempotencyScope(key.text, apiKey: call.publisher.keyID, route: "publish")
            return (scope, try CallFingerprint(call.request.body, call.request.headers))
        } catch {
            throw .failedBeforeWriting
        }
    }

    /// Carries out a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - key: Its `Idempotency-Key`, or nil for none.
    ///   - note: Gets the answer as soon as there is one, which does not wait for a result.
    private func publish(_ call: PublishCall, _ key: IdempotencyKey?, noting note: @escaping @Sendable (APIAnswer) -> Void) {
        let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        do throws(APIProblem) {
            let publication = try Publication(call.request, key, by: call.publisher, at: now, trial) {
                writer.withLock { $0.newID(at: now) }
            }
            let record = writer.withLock { $0.record(of: publication.outgoing, at: now) }
            let owner = RequestOwner(keyID: call.publisher.keyID, source: call.publisher.source, tenant: publication.tenant)
            let request = PublishedRequest(
                id: record.id, owner: owner, acceptedAt: now, expiresAt: publication.expiresAt, notBefore: publication.notBefore)
            // Before it is written, or its result could come unseen.
            let place = lookups.lookup.add(request)
            write(record, place, expiresAt: publication.expiresAt) { [lookups] answer in
                note(answer)
                guard answer.status == 202 else { return call.reply.answer(answer) }
                lookups.answer(place, to: call.request.headers, accepted: answer) { call.reply.answer($0) }
            }
        } catch {
            let answer = APIAnswer(error)
            note(answer)
            call.reply.answer(answer)
        }
    }

    private func write(
        _ record: RequestRecord, _ place: PublishedRequests.Key, expiresAt expiry: Timestamp?,
        then: @escaping @Sendable (APIAnswer) -> Void
    ) {
        let started = services.now()
        let wait = Int64.random(in: Self.waits) * 1000
        do throws(KafkaError) {
            try producer.write(record) { [services, lookups, reach] delivery in
                services.countAck(delivery, since: started)
                lookups.lookup.note(delivery, of: place, topic: record.topic)
                if case .persisted = delivery { reach.notePublished() }
                let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
                then(APIAnswer(delivery, of: record, expiresAt: expiry, now: now, retryAfter: wait))
            }
        } catch {
            lookups.lookup.forget(place)
            then(APIAnswer(APIProblem.notTaken(error, retryAfter: wait)))
        }
    }
}
