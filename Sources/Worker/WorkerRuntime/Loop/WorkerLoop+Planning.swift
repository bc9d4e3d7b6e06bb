import Basics
import Delivery
import FanOut
import HubREST
import Kafka
import Observability
import Payloads
import PushModel

/// From a record to a request with planned and formatted calls, or to what is wrong with it. Nothing is sent or buffered here.
extension WorkerLoop {
    /// Reads the request that a record holds, and takes in what is wrong with it.
    func read(_ record: borrowing ConsumedRecord, into flight: Flight) {
        let (reading, size) = parse(record, into: flight)
        if flight.request.unknownFieldCount > 0 { metrics.unknownFields.increment(by: UInt64(flight.request.unknownFieldCount)) }
        switch reading {
        case .unreadable(let failure): noteUnreadable(record, of: flight, failure: failure)
        case .rejected(let faults): flight.note(faults)
        case .request:
            let most = partitions[flight.slot].role.largestRecord
            guard size > most else { return }
            let message = "The record has \(size) bytes with its key and headers; \(most) are allowed."
            flight.note([RequestFault(.recordTooLarge, at: "", message: message)])
        }
    }

    /// Reads the request that a record holds, in one walk over its headers.
    ///
    /// - Returns: What came of it, and the bytes of the record with key and headers.
    func parse(_ record: borrowing ConsumedRecord, into flight: Flight) -> (reading: RequestReader.Reading, byteCount: Int) {
        headers.removeAll()
        let most = partitions[flight.slot].role.largestRecord
        var size = (record.key?.count ?? 0) + (record.value?.count ?? 0)
        if let key = record.key, size <= most { flight.envelope.setKey(key) }
        record.forEachHeader { name, value in
            size += name.count + (value?.count ?? 0)
            if size <= most { flight.envelope.addHeader(name, value: value) }
            if let value { headers.add(name: name, value: value) }
        }
        // Nobody needs the envelope of a record that is too large to be written again. Its room is counted nowhere.
        if size > most { flight.dropEnvelope() }
        guard let value = record.value else {
            let nothing: [UInt8] = []
            return (read(nothing.span, into: flight), size)
        }
        return (read(value, into: flight), size)
    }

    /// Reads the request that `value` and `headers` hold.
    func read(_ value: Span<UInt8>, into flight: Flight) -> RequestReader.Reading {
        let origin = flight.origin
        flight.noteValue(byteCount: value.count)
        let reader = partitions[flight.slot].role.isOpen ? openReader : ownReader
        let reading = lend(&headers) { reader.read(value, headers: $0, origin: origin, into: &flight.request) }
        findHub(of: flight)
        flights.account(for: flight)
        return reading
    }

    /// Decides whose a request is, and which hub it goes to. One without a route goes to none, and the gate finds it unrouted.
    func findHub(of flight: Flight) {
        flight.nameTenant()
        flight.setDestination(lend(&flight.request) { ports.route(of: $0, tenant: flight.tenant) })
        flights.moved(flight)
    }

    /// Makes a flight of a buffered record.
    func resume(_ record: BufferedRecord) -> Flight {
        let flight = flights.take()
        flight.begin(
            epoch: epoch, slot: record.slot, lane: record.lane, origin: record.origin, now: wallClock,
            monotonic: record.receivedAt)
        flight.load(record)
        headers.removeAll()
        record.envelope.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        let value = record.value
        if case .rejected(let faults) = read(value.span, into: flight) { flight.note(faults) }
        return flight
    }

    /// Makes a dead letter of a record that cannot be understood.
    func noteUnreadable(_ record: borrowing ConsumedRecord, of flight: Flight, failure: UnreadableRecord) {
        let place = partitions[flight.slot].place(of: flight)
        var letter = OutcomeBatch()
        recorders.deadLetters.record(record, slot: flight.slot, origin: place, failure: failure, into: &letter)
        flight.conclude(as: letter)
        flights.account(for: flight)
        metrics.deadLettered(failure.reason, topic: place.topic)
        log.warning(
            .deadLettered, "a record could not be understood and goes to the dead-letter topic",
            [
                .topic: .string(place.topic), .partition: LogValue(place.partition), .offset: LogValue(place.offset),
                .reason: .string(failure.reason),
            ])
    }

    /// Plans the calls of a request and formats what they send. Whether that can be done is up to nothing but the request and the
    /// settings.
    func plan(_ flight: Flight) throws(RequestFault) {
        defer { flights.accountForCalls(of: flight) }
        try lend(&flight.request) { (request) throws(RequestFault) in try planner.plan(request, into: &flight.plan) }
        if flight.plan.calls.count > planner.maximumCalls || flight.spread != nil {
            try checkContent(flight)
        } else {
            try format(flight)
        }
    }

    /// Renders one payload for each platform of the plan. Calls of one platform share it.
    private func format(_ flight: Flight) throws(RequestFault) {
        for call in flight.plan.calls {
            let isSamePlatform = !flight.calls.isEmpty && flight.report.calls.last?.platform == call.platform
            if !isSamePlatform { try render(flight, for: call.platform) }
            flight.addCall(on: call.platform)
        }
    }

    private func render(_ flight: Flight, for platform: Platform?) throws(RequestFault) {
        if flight.payloads.count == flight.payloadCount { flight.payloads.append(.init()) }
        do throws(PayloadError) {
            try lend(&flight.request) { (request) throws(PayloadError) in
                if let platform {
                    try formatter.format(request, for: platform, now: wallClock, into: &flight.payloads[flight.payloadCount])
                } else {
                    try formatter.formatTemplate(request, now: wallClock, into: &flight.payloads[flight.payloadCount])
                }
            }
        } catch {
            let code: ErrorCode = error.code == .payloadTooLarge ? .payloadTooLarge : .payloadRejected
            throw RequestFault(code, at: error.pointer, message: error.sentence)
        }
        flight.addPayload()
    }

    /// Makes sure that the content of a request that is sent in parts can be sent, so that it is refused as a whole if not.
    private func checkContent(_ flight: Flight) throws(RequestFault) {
        guard flight.request.parent == nil || flight.spread == nil else {
            throw RequestFault(
                .unknownHub, at: "/hub", message: "A part of a request goes to one hub; this one would go to several.")
        }
        guard flight.request.parent == nil else {
            throw RequestFault(
                .tagLimitExceeded, at: "/audience",
                message: "This part of a request needs \(flight.plan.calls.count) hub calls; \(planner.maximumCalls) are allowed."
            )
        }
        for index in flight.plan.calls.indices {
            let platform = flight.plan.calls[index].platform
            if index == 0 || flight.plan.calls[index - 1].platform != platform { try render(flight, for: platform) }
        }
    }
}

/// Deduplication: a repeated request gets a result and no call.
///
/// A duplicate is detected by the records before it in its partition. So a partition is read from as far before the group's position as
/// duplicates are looked for, and what lies before the position is only looked at. Records of delay lanes are not looked at: that was
/// done when they were read first.
extension WorkerLoop {
    /// Takes in a request that was read and is finished.
    func remember(_ flight: Flight) {
        guard partitions[flight.slot].recent != nil, flight.deadLetter == nil, flight.report.faults.isEmpty else { return }
        do throws(RequestFault) {
            try plan(flight)
            try refuseRepetition(flight)
        } catch {
            // Its refusal then is one now. It does not matter any more if it was a repetition itself.
        }
    }

    /// Takes in a request that could be sent, and refuses it if it comes again.
    ///
    /// One at fault does not count, so that it can be corrected and sent again under its id. One that failed or came too late does. A dry
    /// run may be followed by the real one, and a replay is a request of its own, as is a part of a large one. One without a hub counts,
    /// because it may wait for that and be sent, until it is refused (`takeBack`).
    ///
    /// - Throws: A fault that names what it repeats, or says that repetitions of its key are not looked for: that must not be ignored.
    func refuseRepetition(_ flight: Flight) throws(RequestFault) {
        guard flight.delayed == nil, isCompared(flight) else { return }
        guard let rules = repetitions else {
            guard flight.request.dedupeKey == nil else {
                throw RequestFault(
                    .notConfigured, at: "/dedupe", message: "This worker looks for no repetitions: its dedupe.reach is 0.")
            }
            return
        }
        let names = lend(&flight.request) { rules.names(of: $0) }
        let repetition = partitions[flight.slot].recent?.received(
            key: names.key, id: names.id, offset: flight.offset, time: flight.origin.timestamp)
        switch repetition {
        case .key(let offset):
            throw RequestFault(
                .duplicate, at: "/dedupe/key", message: "The request at offset \(offset) of its partition has the same key.")
        case .id(let offset):
            throw RequestFault(
                .duplicate, at: "/id", message: "The request at offset \(offset) of its partition has the same source and id.")
        case nil: return
        }
    }

    /// Lets a request that is refused because it has no hub be sent again as it is, where this loop remembers it.
    func takeBack(_ flight: Flight) {
        let origin = TopicPartition(topic: flight.origin.topic, partition: flight.origin.partition)
        let slot = flight.delayed == nil ? flight.slot : partitions.firstIndex { $0.id == origin }
        guard let rules = repetitions, let slot, isCompared(flight) else { return }
        let names = lend(&flight.request) { rules.names(of: $0) }
        partitions[slot].recent?.refused(key: names.key, id: names.id, time: flight.origin.timestamp)
    }

    /// True for a request of which repetitions are looked for.
    private func isCompared(_ flight: Flight) -> Bool {
        flight.request.replay == nil && flight.request.parent == nil && !flight.request.options.dryRun
    }
}
