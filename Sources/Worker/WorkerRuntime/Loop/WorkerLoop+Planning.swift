import Delivery
import Kafka
import Observability
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
            let most = partitions[flight.place.slot].role.largestRecord
            guard size > most else { return }
            let message = "The record has \(size) bytes with its key and headers; \(most) are allowed."
            flight.note([RequestFault(.recordTooLarge, at: "", message: message)])
        }
    }

    /// Reads the request that a record holds, and decides where it goes.
    ///
    /// - Returns: What came of it, and the bytes of the record with key and headers.
    func parse(_ record: borrowing ConsumedRecord, into flight: Flight) -> (reading: RequestReader.Reading, byteCount: Int) {
        let result = desk.read(record, of: partitions[flight.place.slot].role, into: flight)
        findHub(of: flight)
        flights.account(for: flight)
        return result
    }

    /// Decides whose a request is, and which hub it goes to. One without a route goes to none, and the gate finds it unrouted.
    func findHub(of flight: Flight) {
        flight.route.join(flight.namedTenant)
        flight.route.lead(to: lend(&flight.request) { ports.route(of: $0, tenant: flight.route.tenant) })
        flights.moved(flight)
    }

    /// Makes a flight of a buffered record.
    func resume(_ record: BufferedRecord) -> Flight {
        let flight = flights.take()
        flight.begin(
            epoch: epoch, slot: record.slot, lane: record.lane, origin: record.origin, now: wallClock,
            monotonic: record.receivedAt)
        flight.load(record)
        let reading = desk.read(record, of: partitions[record.slot].role, into: &flight.request)
        findHub(of: flight)
        flights.account(for: flight)
        if case .rejected(let faults) = reading { flight.note(faults) }
        return flight
    }

    /// Makes a dead letter of a record that cannot be understood.
    func noteUnreadable(_ record: borrowing ConsumedRecord, of flight: Flight, failure: UnreadableRecord) {
        let place = partitions[flight.place.slot].place(of: flight)
        var letter = OutcomeBatch()
        recorders.deadLetters.record(record, slot: flight.place.slot, origin: place, failure: failure, into: &letter)
        flight.wait.conclude(as: letter)
        flights.account(for: flight)
        metrics.deadLettered(failure.reason, topic: place.topic)
        log.warning(
            .deadLettered, "a record could not be understood and goes to the dead-letter topic",
            [
                .topic: .string(place.topic), .partition: LogValue(place.partition), .offset: LogValue(place.offset),
                .reason: .string(failure.reason),
            ])
    }

    /// Plans the calls of a request and formats what they send.
    func plan(_ flight: Flight) throws(RequestFault) {
        defer { flights.accountForCalls(of: flight) }
        try desk.plan(flight, now: wallClock)
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
        guard partitions[flight.place.slot].recent != nil, flight.wait.deadLetter == nil, flight.report.faults.isEmpty else {
            return
        }
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
        guard flight.wait.delayed == nil, isCompared(flight) else { return }
        guard let rules = desk.repetitions else {
            guard flight.request.dedupeKey == nil else {
                throw RequestFault(
                    .notConfigured, at: "/dedupe", message: "This worker looks for no repetitions: its dedupe.reach is 0.")
            }
            return
        }
        let names = lend(&flight.request) { rules.names(of: $0) }
        let repetition = partitions[flight.place.slot].recent?.received(
            key: names.key, id: names.id, offset: flight.place.offset, time: flight.place.origin.timestamp)
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
        let origin = TopicPartition(topic: flight.place.origin.topic, partition: flight.place.origin.partition)
        let slot = flight.wait.delayed == nil ? flight.place.slot : partitions.firstIndex { $0.id == origin }
        guard let rules = desk.repetitions, let slot, isCompared(flight) else { return }
        let names = lend(&flight.request) { rules.names(of: $0) }
        partitions[slot].recent?.refused(key: names.key, id: names.id, time: flight.place.origin.timestamp)
    }

    /// True for a request of which repetitions are looked for.
    private func isCompared(_ flight: Flight) -> Bool {
        flight.request.replay == nil && flight.request.parent == nil && !flight.request.options.dryRun
    }
}
