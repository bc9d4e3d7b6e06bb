/// The time for which a hold concerned a request before its end.
public struct HeldSpan: Sendable, Hashable {
    /// The hold.
    public var order: OrderRecord
    /// The later of the hold's beginning and the request's publication.
    public var from: Timestamp
    /// The earlier of the hold's end and the request's, nil while the hold stands and the request has no end.
    public var to: Timestamp?

    /// A time for which a request was held.
    public init(order: OrderRecord, from: Timestamp, to: Timestamp?) {
        (self.order, self.from, self.to) = (order, from, to)
    }

    /// Appends it as a JSON object: id, reason and author of the hold, and the two moments. Who may ask about a request need not know who
    /// held everything: that author is `an operator`.
    public func append(to json: inout ByteWriter) {
        json.append("{\"id\":", json: order.id)
        json.append(",\"reason\":", json: order.reason)
        json.append(",\"by\":", json: order.scope.tenant == nil ? "an operator" : order.author)
        json.append(",\"from\":", moment: from)
        json.append(",\"to\":")
        if let to {
            json.append("\"")
            json.append(to)
            json.append("\"}")
        } else {
            json.append("null}")
        }
    }
}

extension Orders {
    /// The times for which holds concerned a request, the oldest hold first. Of a hold that has long ended nothing is known.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - hub: The name of the hub that its calls go to, or nil.
    ///   - lane: The word of its lane.
    ///   - published: The moment of its publication.
    ///   - final: The moment of its final result, nil while it has none.
    /// - Returns: The times, none of them empty.
    public func heldSpans(
        of request: borrowing PushRequest, hub: String?, lane: String, published: Timestamp, final: Timestamp?
    ) -> [HeldSpan] {
        let standing = Set(all.map(\.id))
        var spans: [HeldSpan] = []
        for order in history.reversed() where order.kind == .hold {
            guard order.scope.concerns(request, hub: hub, lane: lane) else { continue }
            let (from, end) = (max(order.since, published), standing.contains(order.id) ? nil : order.end)
            let to = [end, final].compactMap(\.self).min()
            if to.map({ from < $0 }) ?? true { spans.append(HeldSpan(order: order, from: from, to: to)) }
        }
        return spans
    }
}
