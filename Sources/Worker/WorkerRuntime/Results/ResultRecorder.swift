import Delivery
import Kafka
import Outcomes
import PushModel

/// Puts final results into a batch, with the headers that page Results lists, or without any.
struct ResultRecorder {
    private var writer: ResultWriter
    var outcomes: OutcomeResultWriter
    let names: ResultHeaders
    /// False if results have no headers at all.
    let writesHeaders: Bool
    var generator = QuickRandom()

    init(workerID: String, version: String, writesHeaders: Bool = true) {
        writer = ResultWriter(workerID: workerID, version: version)
        outcomes = OutcomeResultWriter(workerID: workerID, version: version)
        names = ResultHeaders(workerID: workerID)
        self.writesHeaders = writesHeaders
    }

    /// Adds the final result of what `flight` carries, and returns how it ended. `hub` is the member that names its hub.
    mutating func record(
        _ flight: Flight, hub: borrowing ByteWriter, now: Timestamp, into batch: inout OutcomeBatch
    ) -> Conclusion {
        let (origin, source, byteCount) = (flight.place.origin, flight.place.source, flight.place.valueByteCount)
        return lend(&flight.request, and: &flight.report) { request, report in
            var record = batch.begin()
            record.copyKey(request.document.span(request.id))
            let place = record.bytes.count
            let written = writer.append(report, of: request, hub: hub, origin: origin, at: now, to: &record.bytes)
            record.value = place..<record.bytes.count
            if writesHeaders {
                let start = names.add(id: written.resultID, at: written.finishedAt, to: &record)
                addTrace(of: request, to: &record, from: start)
            }
            if written.conclusion.mayHaveArrived { record.source = .init(time: origin.timestamp, byteCount: byteCount) }
            batch.end(&record, for: .results, of: source)
            return written.conclusion
        }
    }

    /// Adds the final result of a request that was sent in parts, and returns how it ended. `hub` is the member that names its
    /// hub, or spread, `origin` where it was published, and `source` the record with which its last part ended.
    mutating func record(
        _ parent: ParentRecord, totals: PartTotals, hub: ByteWriter, origin: RecordOrigin, from source: OutcomeBatch.Origin,
        now: Timestamp,
        into batch: inout OutcomeBatch
    ) -> Conclusion {
        batch.add(.results, of: source) { record in
            record.setKey { $0.append(parent.id) }
            let written = record.setValue { writer.append(parent, totals: totals, hub: hub, origin: origin, at: now, to: &$0) }
            guard writesHeaders else { return written.conclusion }
            let start = names.add(id: written.resultID, at: written.finishedAt, to: &record)
            if let trace = parent.traceParent, trace.utf8.count == 55 {
                addSpan(of: trace.utf8Span.span, span: generator.next() | 1, to: &record, from: start)
            } else {
                addNewTrace(generator.next() | 1, to: &record, from: start)
            }
            return written.conclusion
        }
    }

    /// Carries the trace on: the same trace id, with a span id of this hop. A request without a trace starts one.
    private mutating func addTrace(of request: borrowing PushRequest, to record: inout OutcomeBatch.Builder, from start: Int) {
        let span = generator.next() | 1
        if let parent = request.traceParent {
            let text = request.document.span(parent)
            addSpan(of: text, span: span, to: &record, from: start)
            record.addHeader(names.eventTraceParent, from: start) { $0.append(text) }
            if let state = request.traceState {
                record.addHeader(names.traceState, from: start) { $0.append(request.document.span(state)) }
            }
        } else {
            addNewTrace(span, to: &record, from: start)
        }
    }

    /// Carries a trace on with a span of ours.
    func addSpan(of parent: Span<UInt8>, span: UInt64, to record: inout OutcomeBatch.Builder, from start: Int) {
        record.addHeader(names.traceParent, from: start) {
            $0.append(parent.extracting(0..<36))
            $0.append(hexadecimal: span)
            $0.append(parent.extracting(52..<55))
        }
    }

    /// Starts a trace with a span of ours.
    mutating func addNewTrace(_ span: UInt64, to record: inout OutcomeBatch.Builder, from start: Int) {
        let high = generator.next()
        let low = generator.next() | 1
        record.addHeader(names.traceParent, from: start) {
            $0.append("00-")
            $0.append(hexadecimal: high)
            $0.append(hexadecimal: low)
            $0.append("-")
            $0.append(hexadecimal: span)
            $0.append("-00")
        }
    }
}

/// The names of a result's headers, and the values that never change, one after the other.
struct ResultHeaders {
    let text: ByteWriter
    let contentType, specificationVersion, id, source, type, time, subject, dataSchema: OutcomeBatch.Header
    let traceParent, eventTraceParent, traceState: OutcomeBatch.Header

    init(workerID: String) {
        var text = ByteWriter()
        func add(_ header: ResultHeader, ownValue: String? = nil) -> OutcomeBatch.Header {
            let (start, value) = (text.count, ownValue ?? header.fixedValue)
            text.append(header.rawValue)
            let end = text.count
            if let value { text.append(value) }
            return .init(name: start..<end, value: value == nil ? nil : end..<text.count)
        }
        contentType = add(.contentType)
        specificationVersion = add(.specificationVersion)
        id = add(.id)
        source = add(.source, ownValue: "/pushfan/\(workerID)")
        type = add(.type)
        time = add(.time)
        subject = add(.subject)
        dataSchema = add(.dataSchema)
        traceParent = add(.traceParent)
        eventTraceParent = add(.eventTraceParent)
        traceState = add(.traceState)
        self.text = text
    }

    /// Adds the headers that every result has. `id` and `moment` are places in the record's value. Returns where the shared text
    /// begins.
    @inline(__always) func add(
        id: Range<Int>, at moment: Range<Int>, to record: inout OutcomeBatch.Builder
    ) -> Int {
        let start = record.share(text.span)
        record.addHeader(contentType, from: start)
        record.addHeader(specificationVersion, from: start)
        record.addHeader(self.id, from: start, value: id)
        record.addHeader(source, from: start)
        record.addHeader(type, from: start)
        record.addHeader(time, from: start, value: moment)
        record.addHeader(subject, from: start, value: record.key)
        record.addHeader(dataSchema, from: start)
        return start
    }
}
