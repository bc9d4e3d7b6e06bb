internal import HTTPServing
internal import Kafka
internal import Publishing
internal import PushModel

extension APIAnswer {
    /// The answer once it is known what became of a request's record.
    ///
    /// - Parameters:
    ///   - delivery: What Kafka has said of it.
    ///   - record: The record.
    ///   - expiry: When the request is of no more use; nil for never.
    ///   - now: The present moment.
    ///   - wait: When to try again where that helps, in milliseconds.
    init(
        _ delivery: Producer.Delivery, of record: RequestRecord, expiresAt expiry: Timestamp?, now: Timestamp,
        retryAfter wait: Int64
    ) {
        switch delivery {
        case .persisted(let partition, let offset):
            let place = SendOutcome.Record.written(topic: record.topic, partition: partition, offset: offset)
            self.init(
                status: 202,
                headers: ["Location": RequestPath.of(record.id, place), "Content-Type": "application/json; charset=utf-8"],
                body: Self.accepted(record, partition, offset, expiresAt: expiry, now: now))
        case .notPersisted(let error): self.init(APIProblem.notTaken(error, retryAfter: wait))
        case .possiblyPersisted: self.init(APIProblem.ackUnknown(record.id))
        }
    }

    /// The body of a 202. The offset is a string, because not every reader of JSON keeps 64 bits.
    private static func accepted(
        _ record: RequestRecord, _ partition: Int32, _ offset: Int64?, expiresAt expiry: Timestamp?, now: Timestamp
    ) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"id\":")
        json.append(json: record.id)
        json.append(",\"state\":\"accepted\",\"topic\":")
        json.append(json: record.topic)
        json.append(",\"partition\":")
        json.append(decimal: Int(partition))
        if let offset {
            json.append(",\"offset\":")
            json.append(json: String(offset))
        }
        json.append(",\"accepted_at\":\"")
        json.append(now)
        if let expiry {
            json.append("\",\"expires_at\":\"")
            json.append(expiry)
        }
        json.append("\"}")
        return json.bytes
    }
}
