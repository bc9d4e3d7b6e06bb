import PushModel

/// Puts final results into a batch, with the headers of the message contract (section 3.3).
struct ResultRecorder {
    private let writer: ResultWriter
    private let source: String
    private var generator: TraceNumbers

    init(workerID: String, version: String, hubName: String) {
        writer = ResultWriter(workerID: workerID, version: version, defaultHub: hubName)
        source = "/pushfan/\(workerID)"
        var system = SystemRandomNumberGenerator()
        generator = TraceNumbers(seed: system.next())
    }

    /// Adds the final result of what `flight` carries.
    mutating func record(_ flight: Flight, now: Timestamp, into batch: inout OutcomeBatch) {
        let request = flight.request
        let id = request.id
        batch.add(.results, of: .init(slot: flight.slot, offset: flight.origin.offset)) { record in
            record.setKey { $0.append(request.document.span(id)) }
            record.setValue { writer.append(flight.report, of: request, origin: flight.origin, at: now, to: &$0) }
            record.addHeader("content-type", "application/json")
            record.addHeader("ce_specversion", "1.0")
            record.addHeader("ce_id") { ResultWriter.appendResultID(flight.origin, to: &$0) }
            record.addHeader("ce_source") { $0.append(source) }
            record.addHeader("ce_type", "push.result.v1")
            record.addHeader("ce_time") { $0.append(now) }
            record.addHeader("ce_subject") { $0.append(request.document.span(id)) }
            record.addHeader("ce_dataschema", "urn:pushfan:schema:push.result:1")
            addTrace(of: request, to: &record)
        }
    }

    /// Carries the trace on: the same trace id, with a span id of this hop; a request without a trace starts one.
    private mutating func addTrace(of request: borrowing PushRequest, to record: inout OutcomeBatch.Builder) {
        let span = generator.next() | 1
        if let parent = request.traceParent {
            let text = request.document.span(parent)
            record.addHeader("traceparent") {
                $0.append(text.extracting(0..<36))
                $0.append(hexadecimal: span)
                $0.append(text.extracting(52..<55))
            }
            record.addHeader("ce_traceparent") { $0.append(text) }
            if let state = request.traceState {
                record.addHeader("tracestate") { $0.append(request.document.span(state)) }
            }
        } else {
            let high = generator.next()
            let low = generator.next() | 1
            record.addHeader("traceparent") {
                $0.append("00-")
                $0.append(hexadecimal: high)
                $0.append(hexadecimal: low)
                $0.append("-")
                $0.append(hexadecimal: span)
                $0.append("-00")
            }
        }
    }
}

/// Random numbers for trace and span ids, which must differ and need not be secret: SplitMix64 (Steele, Lea, Flood: Fast
/// Splittable Pseudorandom Number Generators, 2014). The system's generator is a system call for each number.
private struct TraceNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }
}
