import Kafka
import PushModel

extension PublishedRequest {
    /// Reads the request of a record that was found, or nothing if it has another id. What is wrong with it does not matter.
    init?(_ record: StoredRecord, at place: RecordPlace, withID id: String) {
        let written = Timestamp(milliseconds: record.timestamp ?? 0)
        let origin = RecordOrigin(
            topic: place.partition.topic, partition: place.partition.partition, offset: place.offset, timestamp: written)
        var headers = PushModel.RecordHeaders()
        for (name, value) in record.headers {
            if let value { headers.add(name: name.span, value: value.span) }
        }
        var request = PushRequest()
        let value = record.value ?? []
        _ = RequestReader().read(value.span, headers: headers, origin: origin, into: &request)
        let document = request.document
        guard document.string(request.id) == id else { return nil }
        let owner = RequestOwner(
            source: request.source.map { document.string($0) }, tenant: request.tenant.map { document.string($0) })
        self.init(
            id: id, owner: owner, acceptedAt: written, expiresAt: request.expiresAt, notBefore: request.notBefore,
            foundAt: place)
    }
}
