import Delivery
import HubREST
import Intake
import Kafka
import Publishing
import PushModel
import ResultQuery

/// Says for which times requests were held.
struct HeldRequests: Sendable {
    /// The orders at this moment, nil while they are not known.
    var orders: @Sendable () -> Orders? = { nil }
    /// The names of the workers' hubs by their numbers, and the ways to them, nil where they are not known.
    var sketch: (routes: HubRoutes, names: [String?])?
    /// The topics of the lanes.
    var topics: RequestTopics?

    init() {}

    /// Those of a gateway with these settings.
    init(_ configuration: GatewayConfiguration, orders: @escaping @Sendable () -> Orders?) {
        self.orders = orders
        sketch = (configuration.worker.routes, configuration.worker.hubs.map(\.name))
        topics = configuration.requestTopics
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
            of: request, hub: hub(of: request), lane: lane(of: place.record.partition.topic), published: published.acceptedAt,
            final: published.isFinal ? published.ending?.finishedAt : nil)
    }

    /// The hub that workers call for a request, as this gateway's settings say, else the one that it names.
    private func hub(of request: borrowing PushRequest) -> String? {
        let tenant = request.tenant.map { TenantID(request.document.string($0)) } ?? .none
        if let sketch, case .hub(let number)? = try? sketch.routes.route(of: request, tenant: tenant),
            sketch.names.indices.contains(number), let name = sketch.names[number]
        {
            return name
        }
        return request.hub.map { request.document.string($0) }
    }

    private func lane(of topic: String) -> String {
        switch topic {
        case topics?.high: "high"
        case topics?.normal: "normal"
        case topics?.bulk: "bulk"
        default: "own"
        }
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
