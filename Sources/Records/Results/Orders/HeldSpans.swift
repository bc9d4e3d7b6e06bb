import Delivery
import Groups
package import JobSupport
import Kafka
import Publishing
package import PushModel
package import Replay
import ResultQuery

extension JobContext {
    /// The times for which holds concerned a request, by its record, the oldest hold first. None where the record is gone, or is another's.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - place: The place of the record that its publisher wrote.
    ///   - hub: The name of the hub that its calls go to. Nil for the one that it names.
    ///   - final: The moment of its final result, nil while it has none.
    /// - Returns: The times.
    /// - Throws: The orders or the record cannot be read.
    package func heldSpans(
        ofRequest id: String, at place: RecordPlace, hub: String?, final: Timestamp?
    ) throws(JobFailure) -> [HeldSpan] {
        let book = try orderBook()
        guard book.orders.history.contains(where: { $0.kind == .hold }) else { return [] }
        guard let (request, moment) = try request(id, at: place) else { return [] }
        let published = moment ?? Timestamp(milliseconds: 0)
        let lane = Lane.allCases.first { topics.requests(of: $0) == place.topic }
        return book.orders.heldSpans(
            of: request, hub: hub ?? request.hub.map { request.document.string($0) }, lane: lane?.name ?? "",
            published: published,
            final: final)
    }

    /// The request in a record, and the record's time. Nil where the record is gone, or is another's.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - place: The place of the record that its publisher wrote.
    /// - Returns: The request.
    /// - Throws: The record cannot be read.
    package func request(_ id: String, at place: RecordPlace) throws(JobFailure) -> (PushRequest, Timestamp?)? {
        guard let found = try request(at: place), found.0.document.string(found.0.id) == id else { return nil }
        return found
    }

    /// The request in a record, whosever it is, and the record's time. Nil where the record is gone.
    package func request(at place: RecordPlace) throws(JobFailure) -> (PushRequest, Timestamp?)? {
        let record: FetchedRecord?
        do throws(KafkaError) {
            record = try OriginalReader(kafka, readAhead: 1 << 20, timeout: timeout).record(at: place)
        } catch {
            throw .kafka(error, .read(topic: place.topic))
        }
        guard let record else { return nil }
        let origin = RecordOrigin(
            topic: place.topic, partition: place.partition, offset: place.offset,
            timestamp: record.publishedAt ?? Timestamp(milliseconds: 0), isDated: record.publishedAt != nil)
        var request = PushRequest()
        let value = record.value ?? []
        _ = RequestReader(from: .own).read(value.span, headers: record.knownHeaders, origin: origin, into: &request)
        return (request, record.publishedAt)
    }
}

extension RequestLife {
    /// The place of the record that the request's publisher wrote, or nil where no result names it.
    package var place: RecordPlace? {
        guard let latest else { return nil }
        var document = JSONDocument()
        guard document.readResult(latest.json.span) else { return nil }
        return RecordPlace(document, originOf: document.root)
    }
}

extension HeldSpan {
    /// `from 12:00:00.000Z to … by key abc: wrong text`, with whole moments. While the hold stands, until when.
    package func text(at now: Timestamp) -> String {
        let end = to.map { "to \($0.text)" } ?? order.endText(at: now)
        return "from \(from.text) \(end) by \(order.author): \(order.reason)"
    }
}
