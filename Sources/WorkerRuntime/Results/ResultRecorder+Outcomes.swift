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
            let start = names.add(id: written.resultID, at: written.finishedAt, to: &record)
            let span = generator.next() | 1
            guard let parent = call.traceParent else { return addNewTrace(span, to: &record, from: start) }
            addSpan(of: parent.span, span: span, to: &record, from: start)
            record.addHeader(names.eventTraceParent, from: start) { $0.append(parent.span) }
        }
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
}
