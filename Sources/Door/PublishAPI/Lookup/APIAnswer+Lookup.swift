import GatewayAPI
import HTTPServing
import Kafka
import PushModel
import Results

extension PublishedRequest {
    /// The request as JSON: the members of a 202 in their order, with `outcome_state`, then `due_at`, `repeated`, `held` and `result`, as far as they are known.
    func json(at now: Timestamp, held: [HeldSpan] = []) -> [UInt8] {
        let standing = standing(at: now)
        var json = ByteWriter(capacity: 512 + (ending?.json.count ?? 0))
        json.append("{\"id\":", json: id)
        json.append(",\"state\":", json: word(at: now))
        if let outcome = outcomeState(at: now) { json.append(",\"outcome_state\":", json: outcome.rawValue) }
        if let place = place?.record {
            json.append(placeIn: place.partition.topic, partition: place.partition.partition, offset: place.offset)
        }
        json.append(",\"accepted_at\":\"")
        json.append(acceptedAt)
        json.append("\"")
        if let expiresAt, !isFinal { json.append(",\"expires_at\":\"", moment: expiresAt) }
        if case .waiting(let due) = standing { json.append(",\"due_at\":\"", moment: due) }
        if isRepeated { json.append(",\"repeated\":true") }
        for (index, span) in held.enumerated() {
            json.append(index == 0 ? ",\"held\":[" : ",")
            span.append(to: &json)
        }
        if !held.isEmpty { json.append("]") }
        if case .final(let ending) = standing {
            json.append(",\"result\":")
            json.append(ending.json.span)
        }
        json.append("}")
        return json.bytes
    }
}

extension ByteWriter {
    /// Appends the members for a record's place. The offset is a text, because not every reader of JSON keeps 64 bits.
    mutating func append(placeIn topic: String, partition: Int32, offset: Int64?) {
        append(",\"topic\":", json: topic)
        append(",\"partition\":", decimal: Int(partition))
        guard let offset else { return }
        append(",\"offset\":\"")
        append(decimal: offset)
        append("\"")
    }

    fileprivate mutating func append(_ name: StaticString, moment: Timestamp) {
        append(name)
        append(moment)
        append("\"")
    }
}

extension APIAnswer {
    /// 200 with what is known of a request, or 304 for whoever has its final state already. `applied` is the seconds of a
    /// preference `wait` that was respected.
    init(
        _ published: PublishedRequest, at now: Timestamp, held: [HeldSpan] = [], to call: HTTPFields, applied: Int? = nil
    ) {
        self.init(status: 200, json: published.json(at: now, held: held))
        if let applied { headers.append("Preference-Applied", value: "wait=\(applied)") }
        tag(isFinal: published.isSettled(at: now), to: call)
    }

    /// Adds the tag of a final state, and becomes 304 for whoever has what there is.
    mutating func tag(isFinal: Bool, to call: HTTPFields) {
        let tag = isFinal ? EntityTag.of(body) : nil
        if let tag { headers.append("ETag", value: tag) }
        headers.append("Cache-Control", value: isFinal ? "private, no-cache" : "no-store")
        guard !call.wants(tag) else { return }
        status = 304
        body = []
        headers.remove("Content-Type")
    }
}

extension APIProblem {
    /// 404: the caller may see no request of this id, or there is none.
    static let unknownRequest = APIProblem(
        404, code: .notFound,
        detail: "No such request of yours is known: this gateway has not published it in the last minutes, and it has no result. "
            + "?at= of its Location shows one that waits.")

    /// 503: results are not read yet, so none can be waited for.
    static let resultsUnwatched = APIProblem(
        503, code: .brokerUnavailable, detail: "Results are not read from Kafka yet, so they cannot be waited for.", retry: .safe,
        retryAfter: 1000)
}
