import Basics
import Delivery
import Outcomes
import PushModel

extension ResultRecorder {
    /// Adds the outcome result of a call.
    mutating func record(
        _ outcome: CallOutcome, of call: borrowing TrackedCall, for place: OutcomeBatch.Origin, now: Timestamp,
        into batch: inout OutcomeBatch
    ) {
        batch.add(.results, of: place) { record in
            record.setKey { $0.append(call.requestID) }
            let written = record.setValue { outcomes.append(outcome, of: call, at: now, to: &$0) }
            guard writesHeaders else { return }
            let start = names.add(id: written.resultID, at: written.finishedAt, to: &record)
            let span = generator.next() | 1
            guard let parent = call.traceParent else { return addNewTrace(span, to: &record, from: start) }
            addSpan(of: parent.span, span: span, to: &record, from: start)
            record.addHeader(names.eventTraceParent, from: start) { $0.append(parent.span) }
        }
    }

    /// Adds the outcome result of a call of which nothing can be learnt, in the transaction of its request's final result.
    ///
    /// - Returns: Whether it is there. False when the call, as it is written here, cannot be read.
    mutating func recordUnasked(
        _ index: Int, of flight: Flight, hub: String, now: Timestamp, into batch: inout OutcomeBatch
    ) -> Bool {
        var text = ByteWriter(capacity: 512)
        let origin = flight.place.origin
        lend(&flight.request, and: &flight.report) { request, report in
            TrackedCall.append(index, of: report, for: request, origin: origin, hub: hub, at: now, to: &text)
        }
        guard let call = try? TrackedCall(text.span) else { return false }
        record(.unavailable, of: call, for: flight.place.source, now: now, into: &batch)
        return true
    }
}

extension DelayRecorder {
    /// Adds a call whose outcome must be polled at `due`, for a delay lane by its place in `DelayLanes.lengths`. `place` is the
    /// record that this one follows from, and `write` writes the call as `TrackedCall` reads it.
    func recordPoll(
        in lane: Int, due: Timestamp, requestID: Span<UInt8>, for place: OutcomeBatch.Origin, into batch: inout OutcomeBatch,
        write: (inout ByteWriter) -> Void
    ) {
        batch.add(.poll(lane), of: place) { record in
            record.copyKey(requestID)
            record.setValue(write)
            record.addHeader("pushfan-not-before-ms") { $0.append(decimal: due.milliseconds) }
            record.addHeader("pushfan-group") { $0.append(group) }
            record.addHeader("pushfan-poll") { $0.append("1") }
        }
    }

    /// Adds a call that the hub has accepted just now, whose outcome must be polled at `due`.
    func recordPoll(
        ofCall index: Int, of flight: Flight, hub: String, in lane: Int, due: Timestamp, now: Timestamp,
        into batch: inout OutcomeBatch
    ) {
        let (place, origin) = (flight.place.source, flight.place.origin)
        lend(&flight.request, and: &flight.report) { request, report in
            recordPoll(in: lane, due: due, requestID: request.document.span(request.id), for: place, into: &batch) {
                TrackedCall.append(index, of: report, for: request, origin: origin, hub: hub, at: now, to: &$0)
            }
        }
    }
}
