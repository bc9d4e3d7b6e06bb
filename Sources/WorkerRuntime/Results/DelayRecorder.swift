import Delivery
import PushModel

/// Puts requests that have to wait into a batch, for a delay lane or the topic of held requests. The record's value, key and headers
/// stay; what is needed to go on where the request was is added.
struct DelayRecorder {
    let group: String

    /// Adds the request that `flight` carries, for a delay lane or a partition of held requests. `history` is the text of a
    /// `DeliveryHistory`.
    func record(
        _ flight: Flight, to destination: OutcomeBatch.Destination, due: Timestamp, history: borrowing ByteWriter,
        into batch: inout OutcomeBatch
    ) {
        let request = flight.request
        batch.add(destination, of: .init(slot: flight.slot, offset: flight.offset)) { record in
            flight.envelope.forEachHeader { name, value in
                if DelayedRecord.Header(name) == nil { record.copyHeader(name, value: value) }
            }
            flight.envelope.withKey { record.copyKey($0) }
            record.copyValue(request.document.source(byteCount: flight.valueByteCount))
            record.addHeader("pushfan-not-before-ms") { $0.append(decimal: due.milliseconds) }
            record.addHeader("pushfan-group") { $0.append(group) }
            record.addHeader("pushfan-lane") { $0.append(flight.lane.name) }
            record.addHeader("pushfan-origin-topic") { $0.append(flight.origin.topic) }
            record.addHeader("pushfan-origin-partition") { $0.append(decimal: Int64(flight.origin.partition)) }
            record.addHeader("pushfan-origin-offset") { $0.append(decimal: flight.origin.offset) }
            record.addHeader("pushfan-origin-timestamp-ms") { $0.append(decimal: flight.origin.timestamp.milliseconds) }
            let attempts = flight.delayed?.report.attemptTotal ?? 0
            record.addHeader("pushfan-attempt") { $0.append(decimal: max(flight.report.attemptTotal, attempts)) }
            record.addHeader("pushfan-history") { $0.append(history) }
        }
    }
}
