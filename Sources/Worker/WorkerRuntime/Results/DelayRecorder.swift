import Basics
import Delivery
import PushModel

/// Puts requests that have to wait into a batch, for a delay lane or the topic of held requests. The record's value, key and headers
/// stay; what is needed to go on where the request was is added.
struct DelayRecorder {
    let group: String

    /// The most bytes of the headers that it adds, beside the group's name and the history.
    private static let ownByteCount = 1024

    /// The history of a request, for its record, or nil if whoever reads the record would refuse it as too large.
    func history(of flight: Flight, isInDoubt: Bool, now: MonotonicTime, at time: Timestamp) -> ByteWriter? {
        let history = flight.history(isInDoubt: isInDoubt, now: now, at: time)
        return mayWrite(flight, history: history) ? history : nil
    }

    /// True if a record that has the history beside all else is not too large.
    func mayWrite(_ flight: Flight, history: borrowing ByteWriter) -> Bool {
        let own = flight.place.valueByteCount + history.count + group.utf8.count + Self.ownByteCount
        if own + flight.place.envelope.byteCount <= PartitionRole.largestOwnRecord { return true }
        // The history that it came with is replaced.
        var size = own
        flight.place.envelope.withKey { size += $0.count }
        flight.place.envelope.forEachHeader { name, value in
            if DelayedRecord.Header(name) == nil { size += name.count + (value?.count ?? 0) }
        }
        return size <= PartitionRole.largestOwnRecord
    }

    /// Adds the request that `flight` carries, for a delay lane or a partition of held requests. `history` is the text of a
    /// `DeliveryHistory`.
    func record(
        _ flight: Flight, to destination: OutcomeBatch.Destination, due: Timestamp, history: borrowing ByteWriter,
        into batch: inout OutcomeBatch
    ) {
        let (request, origin, byteCount) = (flight.request, flight.place.origin, flight.place.valueByteCount)
        let source: OutcomeBatch.Source? =
            flight.mustFinish ? .init(time: origin.timestamp, byteCount: byteCount, id: KnownRequest(flight).id) : nil
        batch.add(destination, of: flight.place.source) { record in
            record.source = source
            flight.place.envelope.forEachHeader { name, value in
                if DelayedRecord.Header(name) == nil { record.copyHeader(name, value: value) }
            }
            flight.place.envelope.withKey { record.copyKey($0) }
            record.copyValue(request.document.source(byteCount: byteCount))
            record.addHeader("pushfan-not-before-ms") { $0.append(decimal: due.milliseconds) }
            record.addHeader("pushfan-group") { $0.append(group) }
            record.addHeader("pushfan-lane") { $0.append(flight.route.lane.name) }
            record.addHeader("pushfan-origin-topic") { $0.append(origin.topic) }
            record.addHeader("pushfan-origin-partition") { $0.append(decimal: Int64(origin.partition)) }
            record.addHeader("pushfan-origin-offset") { $0.append(decimal: origin.offset) }
            record.addHeader("pushfan-origin-timestamp-ms") { $0.append(decimal: origin.timestamp.milliseconds) }
            let attempts = flight.wait.delayed?.report.attemptTotal ?? 0
            record.addHeader("pushfan-attempt") { $0.append(decimal: max(flight.report.attemptTotal, attempts)) }
            record.addHeader("pushfan-history") { $0.append(history) }
        }
    }
}
