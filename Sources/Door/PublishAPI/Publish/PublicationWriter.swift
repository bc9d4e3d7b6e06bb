import FanOut
import GatewayAPI
import HubREST
import Intake
import Kafka
import Publishing
import PushModel
import Synchronization

/// Checks requests, writes them to Kafka, and reports what became of each. No thread waits. Any thread may call it.
///
/// A request whose caller has gone meanwhile is written all the same.
final class PublicationWriter: Sendable {
    /// The whole seconds after which callers are asked to come again after a failure, so that they do not come all at once.
    private static let waits: ClosedRange<Int64> = 1...5

    private let producer: RequestProducer
    private let writer: Mutex<RequestWriter>
    private let lookup: RequestLookup
    private let services: GatewayServices
    /// Those that no call uses now; at most as many as calls at a time.
    private let buffers = Mutex<[Publication.Buffers]>([])
    private let platforms: PlatformSet
    private let hubs: HubRoutes

    init(
        _ configuration: GatewayConfiguration, producer: RequestProducer, lookup: RequestLookup, services: GatewayServices
    ) {
        self.producer = producer
        self.lookup = lookup
        self.services = services
        platforms = configuration.worker.planning.defaultPlatforms
        hubs = configuration.worker.routes
        writer = Mutex(RequestWriter(topics: configuration.requestTopics, source: GatewayConfiguration.source))
    }

    func rights(of publisher: Publisher) -> PublishRights { PublishRights(publisher: publisher, hubs: hubs) }

    func newID(at now: Timestamp) -> String { writer.withLock { $0.newID(at: now) } }

    /// Checks a request, and writes it unless something is wrong with it. `then` is called once, before this returns or later,
    /// with what became of it, and where a look-up finds it if it was written.
    func write(
        _ submission: Submission, by publisher: Publisher, at now: Timestamp,
        then: @escaping @Sendable (PublishOutcome, PublishedRequests.Key?) -> Void
    ) {
        do throws(APIProblem) {
            let publication = try publication(submission, by: publisher, at: now)
            let record = writer.withLock { $0.record(of: publication.outgoing, at: now) }
            let owner = RequestOwner(source: publisher.source, tenant: publication.tenant)
            let request = PublishedRequest(
                id: record.id, owner: owner, acceptedAt: now, expiresAt: publication.expiresAt, notBefore: publication.notBefore,
                keptFor: Party(publisher))
            // Before it is written, or its result could come unseen.
            write(record, of: request, at: lookup.add(request), then: then)
        } catch {
            then(.refused(error), nil)
        }
    }

    /// Memory for one request, whose faults name the platforms in use.
    var newBuffers: Publication.Buffers { Publication.Buffers(trial: RequestTrial(inUse: platforms), hubs: hubs) }

    private func publication(
        _ submission: Submission, by publisher: Publisher, at now: Timestamp
    ) throws(APIProblem) -> Publication {
        var used = buffers.withLock { $0.popLast() } ?? newBuffers
        defer { buffers.withLock { [used] in $0.append(used) } }
        return try Publication(submission, by: publisher, at: now, buffers: &used) { newID(at: now) }
    }

    private func write(
        _ record: RequestRecord, of request: PublishedRequest, at place: PublishedRequests.Key,
        then: @escaping @Sendable (PublishOutcome, PublishedRequests.Key?) -> Void
    ) {
        let started = services.now()
        let wait = Int64.random(in: Self.waits) * 1000
        do throws(KafkaError) {
            // With the record's timestamp the request has one `accepted_at`: in the 202, in a look-up here, and of the record elsewhere.
            try producer.write(record, for: request.party, at: request.acceptedAt) {
                [services, lookup, topic = record.topic] delivery in
                services.countAck(delivery, since: started)
                lookup.note(delivery, of: place, topic: topic, time: request.acceptedAt)
                let outcome = PublishOutcome(delivery, of: request, in: topic, retryAfter: wait)
                if case .written = outcome { then(outcome, place) } else { then(outcome, nil) }
            }
        } catch {
            lookup.forget(place)
            then(.refused(.notTaken(error, in: record.topic, retryAfter: wait)), nil)
        }
    }
}
