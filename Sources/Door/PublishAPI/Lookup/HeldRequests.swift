import Delivery
package import GatewayAPI
import Intake
import JobSupport
import Kafka
package import PushModel

/// Says for which times requests were held.
package struct HeldRequests: Sendable {
    /// The orders at this moment, nil while they are not known.
    var orders: @Sendable () -> Orders? = { nil }
    /// The names of the hubs that requests go to, nil where they are not known.
    var hubs: HubNames?
    /// The names of topics, which say the lanes.
    var topics = Topics()

    package init() {}

    /// Those of a gateway with these settings.
    package init(_ configuration: GatewayConfiguration, orders: @escaping @Sendable () -> Orders?) {
        self.orders = orders
        hubs = HubNames(configuration.worker.routes, names: configuration.worker.hubs.map(\.name))
        topics = configuration.topics
    }

    /// True if some hold may have concerned a request, so that its record is worth reading.
    func mayConcern(_ request: PublishedRequest) -> Bool {
        guard let orders = orders() else { return false }
        let final = request.ending?.finishedAt ?? .never
        return orders.history.contains { $0.kind == .hold && $0.end > request.acceptedAt && $0.since < final }
    }

    /// The times for which a request was held, by its record.
    func spans(of record: StoredRecord, at place: RequestPlace, of published: PublishedRequest) -> [HeldSpan] {
        guard let orders = orders() else { return [] }
        var request = PushRequest()
        guard request.read(record, at: place), request.document.isEqual(request.id, to: published.id) else { return [] }
        return orders.heldSpans(
            of: request, hub: hubs?.name(of: request), lane: topics.lane(of: place.record.partition.topic)?.name ?? "",
            published: published.acceptedAt,
            final: published.isFinal ? published.ending?.finishedAt : nil)
    }
}

extension PublishedRequest.Ending {
    /// The moment of the result, nil where it says none.
    var finishedAt: Timestamp? {
        var document = JSONDocument()
        guard (try? document.read(json.span)) != nil, let timings = document.member("timings", of: document.root),
            let text = document.text("finished_at", of: timings)
        else { return nil }
        return Timestamp(text.utf8.span)
    }
}
