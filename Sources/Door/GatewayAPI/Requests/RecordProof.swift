import Groups
import Kafka
package import Results
import Publishing
package import PushModel
import Replay
import ResultQuery

/// The place of a request's record, and its time: a topic that was made again has another record at the same place.
package struct RequestPlace: Sendable, Equatable {
    package var record: StoredPlace
    /// The time that its publisher gave it, or nil where that is not known.
    var time: Timestamp?

    package init(record: StoredPlace, time: Timestamp? = nil) {
        self.record = record
        self.time = time
    }

    /// True if a record found at the place can be the one that is meant. A time that a broker gave says nothing.
    func admits(_ found: StoredRecord) -> Bool {
        time == nil || found.isTimedByBroker || found.timestamp == time?.milliseconds
    }
}

extension PublishedRequest {
    /// Reads the request of a record that was found, or nothing if it has another id or time. What is wrong with it does not matter.
    package init?(_ record: StoredRecord, at place: RequestPlace, withID id: String) {
        var request = PushRequest()
        guard request.read(record, at: place) else { return nil }
        let document = request.document
        guard document.string(request.id) == id else { return nil }
        let owner = RequestOwner(
            source: request.source.map { document.string($0) }, tenant: request.tenant.map { document.string($0) })
        self.init(
            id: id, owner: owner, acceptedAt: Timestamp(milliseconds: record.timestamp ?? 0), expiresAt: request.expiresAt,
            notBefore: request.notBefore,
            foundAt: RequestPlace(record: place.record, time: record.timestamp.map { Timestamp(milliseconds: $0) }))
    }
}

extension PushRequest {
    /// Reads a record that was found. Returns false for a record of another time. What is wrong with it does not matter. One of the lane that
    /// workers write may be a part.
    package mutating func read(_ record: StoredRecord, at place: RequestPlace, isOwn: Bool = false) -> Bool {
        guard place.admits(record) else { return false }
        let written = Timestamp(milliseconds: record.timestamp ?? 0)
        let (partition, offset) = (place.record.partition, place.record.offset)
        let origin = RecordOrigin(topic: partition.topic, partition: partition.partition, offset: offset, timestamp: written)
        var headers = RecordHeaders()
        for (name, value) in record.headers {
            if let value { headers.add(name: name.span, value: value.span) }
        }
        let value = record.value ?? []
        _ = (isOwn ? RequestReader(from: .own) : RequestReader()).read(value.span, headers: headers, origin: origin, into: &self)
        return true
    }
}

extension ResultRecord {
    /// The place of the record that it is of, and the moment at which that was published, as far as it says so.
    var origin: RequestPlace? {
        var document = JSONDocument()
        guard (try? document.read(json.span)) != nil, let found = RecordPlace(document, originOf: document.root)
        else { return nil }
        let text = document.member("timings", of: document.root).flatMap { document.text("published_at", of: $0) }
        return RequestPlace(
            record: StoredPlace(topic: found.topic, partition: found.partition, offset: found.offset),
            time: text.flatMap { Timestamp(Array($0.utf8).span) })
    }
}

extension ResultRecord {
    /// The index of the call that an outcome is of.
    var call: Int64? {
        var document = JSONDocument()
        return document.readResult(json.span) ? document.call : nil
    }
}

extension WhereaboutsReport {
    /// The place of the record with which the request was published.
    package var place: RequestPlace? {
        whereabouts.found.map {
            let origin = $0.request.origin
            let record = StoredPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
            return RequestPlace(record: record, time: origin.isDated ? origin.timestamp : nil)
        }
    }
}

extension PublishedRequest {
    /// A request that is known by its results alone, of which there is one at least.
    package init(_ life: RequestLife, at now: Timestamp) {
        let result = life.final ?? life.latest
        let origin = result?.origin
        self.init(
            id: life.id, owner: RequestOwner(source: result?.source, tenant: result?.tenant),
            acceptedAt: origin?.time ?? result.map { Timestamp(milliseconds: $0.timestamp) } ?? now,
            foundAt: origin)
        isFound = true
    }
}
