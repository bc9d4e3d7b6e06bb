import Delivery
import FanOut
import Kafka
import Payloads
import PushModel

/// The desk of a loop at which records become requests, and requests planned and formatted calls. It looks at nothing but what lies on it,
/// and sends and buffers nothing.
struct RequestDesk {
    private let openReader = RequestReader(.tolerant)
    let ownReader = RequestReader(.tolerant, from: .own)
    let planner: FanOutPlanner
    /// The rules by which duplicates are detected, or nil when all are sent.
    let repetitions: RepetitionRules?
    private var formatter: PayloadFormatter
    /// The headers of the record that is being read.
    private var headers = RecordHeaders()

    init(_ configuration: WorkerConfiguration) {
        planner = FanOutPlanner(configuration.planning)
        formatter = PayloadFormatter(configuration: configuration.formatting)
        repetitions = configuration.dedupe.map { RepetitionRules($0) }
    }

    /// Reads the request that a record of a partition holds, in one walk over its headers.
    ///
    /// - Returns: What came of it, and the bytes of the record with key and headers.
    mutating func read(
        _ record: borrowing ConsumedRecord, of role: PartitionRole, into flight: Flight
    ) -> (reading: RequestReader.Reading, byteCount: Int) {
        headers.removeAll()
        let most = role.largestRecord
        var size = (record.key?.count ?? 0) + (record.value?.count ?? 0)
        if let key = record.key, size <= most { flight.place.envelope.setKey(key) }
        record.forEachHeader { name, value in
            size += name.count + (value?.count ?? 0)
            if size <= most { flight.place.envelope.addHeader(name, value: value) }
            if let value { headers.add(name: name, value: value) }
        }
        // Nobody needs the envelope of a record that is too large to be written again. Its room is counted nowhere.
        if size > most { flight.place.dropEnvelope() }
        flight.place.noteValue(byteCount: record.value?.count ?? 0)
        let origin = flight.place.origin
        guard let value = record.value else {
            let nothing: [UInt8] = []
            return (read(nothing.span, origin: origin, of: role, into: &flight.request), size)
        }
        return (read(value, origin: origin, of: role, into: &flight.request), size)
    }

    /// Reads the request that a buffered record of a partition holds.
    mutating func read(
        _ record: BufferedRecord, of role: PartitionRole, into request: inout PushRequest
    ) -> RequestReader.Reading {
        load(record.envelope)
        let value = record.value
        return read(value.span, origin: record.origin, of: role, into: &request)
    }

    /// Reads the request that `value` and `headers` hold.
    private mutating func read(
        _ value: Span<UInt8>, origin: RecordOrigin, of role: PartitionRole, into request: inout PushRequest
    ) -> RequestReader.Reading {
        let reader = role.isOpen ? openReader : ownReader
        return lend(&headers) { reader.read(value, headers: $0, origin: origin, into: &request) }
    }

    private mutating func load(_ envelope: RecordEnvelope) {
        headers.removeAll()
        envelope.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
    }

    /// The body of a request that was read, with which its parts are written, or nil when there is none.
    mutating func body(of flight: Flight) -> JSONDocument.Node? {
        load(flight.place.envelope)
        return ownReader.body(of: flight.request.document, headers: headers)
    }

    /// Plans the calls of a request and formats what they send. Whether that can be done is up to nothing but the request and the
    /// settings.
    mutating func plan(_ flight: Flight, now: Timestamp) throws(RequestFault) {
        try lend(&flight.request) { (request) throws(RequestFault) in try planner.plan(request, into: &flight.work.plan) }
        if flight.work.plan.calls.count > planner.maximumCalls || flight.route.spread != nil {
            try checkContent(of: flight, now: now)
        } else {
            try format(flight, now: now)
        }
    }

    /// Renders one payload for each platform of the plan. Calls of one platform share it.
    private mutating func format(_ flight: Flight, now: Timestamp) throws(RequestFault) {
        for call in flight.work.plan.calls {
            let isSamePlatform = !flight.work.calls.isEmpty && flight.report.calls.last?.platform == call.platform
            if !isSamePlatform { try render(flight, for: call.platform, now: now) }
            flight.addCall(on: call.platform)
        }
    }

    private mutating func render(_ flight: Flight, for platform: Platform?, now: Timestamp) throws(RequestFault) {
        do throws(PayloadError) {
            try flight.work.addPayload { (payload) throws(PayloadError) in
                try lend(&flight.request) { (request) throws(PayloadError) in
                    if let platform {
                        try formatter.format(request, for: platform, now: now, into: &payload)
                    } else {
                        try formatter.formatTemplate(request, now: now, into: &payload)
                    }
                }
            }
        } catch {
            let code: ErrorCode = error.code == .payloadTooLarge ? .payloadTooLarge : .payloadRejected
            throw RequestFault(code, at: error.pointer, message: error.sentence)
        }
    }

    /// Makes sure that the content of a request that is sent in parts can be sent, so that it is refused as a whole if not.
    private mutating func checkContent(of flight: Flight, now: Timestamp) throws(RequestFault) {
        guard flight.request.parent == nil || flight.route.spread == nil else {
            throw RequestFault(
                .unknownHub, at: "/hub", message: "A part of a request goes to one hub; this one would go to several.")
        }
        let calls = flight.work.plan.calls
        guard flight.request.parent == nil else {
            throw RequestFault(
                .tagLimitExceeded, at: "/audience",
                message: "This part of a request needs \(calls.count) hub calls; \(planner.maximumCalls) are allowed.")
        }
        for index in calls.indices where index == 0 || calls[index - 1].platform != calls[index].platform {
            try render(flight, for: calls[index].platform, now: now)
        }
    }
}
