internal import PushModel

extension PushRequest {
    /// The faults of a request that has expired at a moment, or does so before it may be sent, each at the field that says it. Those of a
    /// request that was rejected for others, too, as far as its fields could be read.
    func lateness(at now: Timestamp) -> [RequestFault] {
        let ends = ends(at: now)
        var faults = ends.filter { $0.moment <= now }.map {
            RequestFault(.expiredInQueue, at: $0.pointer, message: "The request has expired, at \($0.moment.text).")
        }
        if let start = notBefore, let end = ends.map(\.moment).filter({ $0 > now }).min(), end <= start {
            faults.append(
                RequestFault(
                    .expiredInQueue, at: pointer(to: "not_before", of: body) ?? "/not_before",
                    message: "The request expires at \(end.text), before it may be sent."))
        }
        return faults
    }

    /// The moments at which it expires, of which the first counts, each with the field that says it.
    private func ends(at now: Timestamp) -> [(pointer: String, moment: Timestamp)] {
        var ends: [(pointer: String, moment: Timestamp)] = []
        if let node = document.member("expires_at", of: body), document.kind(of: node) == .string,
            let moment = Timestamp(document.span(document.text(of: node)))
        {
            ends.append((document.pointer(to: node), moment))
        }
        if let life = timeToLive, let place = pointer(to: "ttl_seconds", of: body) {
            ends.append((place, (createdAt ?? now).adding(seconds: life)))
        }
        // The event's own, or its header's, which has no place in the body.
        if let end = expiresAt, !ends.contains(where: { $0.moment <= end }) {
            ends.append((pointer(to: "expirytime", of: document.root) ?? "", end))
        }
        return ends
    }

    /// The object with its fields: the record itself, or the `data` of an event.
    private var body: Node {
        guard document.value("specversion", of: document.root) != nil, let data = document.member("data", of: document.root),
            document.kind(of: data) == .object
        else { return document.root }
        return data
    }

    private func pointer(to name: StaticString, of object: Node) -> String? {
        document.member(name, of: object).map { document.pointer(to: $0) }
    }
}
