import Basics
import Delivery
import EventLoop
import FanOut
import Kafka
import Observability
import Payloads
import PushModel

/// From a record to a flight with planned and formatted calls.
extension WorkerLoop {
    /// Records of one partition in a row before the next one has its turn.
    private static let recordsPerTurn = 64

    /// The interval at which it is seen to that more records are fetched: 10 ms in nanoseconds.
    private static let refillInterval: Int64 = 10_000_000

    /// Reads records while there is room for their calls, lane by lane, and of each lane partition by partition.
    func receiveRecords() {
        // What lay beyond its window is in memory and counted already, so it starts without room.
        guard canProceed else { return }
        if canReceive && now >= nextRefill {
            nextRefill = now + Self.refillInterval
            consumer.keepFetching()
        }
        for lane in Lane.allCases { receiveRecords(of: lane) }
    }

    private func receiveRecords(of lane: Lane) {
        guard lanes[lane.rawValue].mayHaveRecords, hasRoom(lane) else { return }
        let slots = lanes[lane.rawValue].slots
        let first = lanes[lane.rawValue].first
        var (mayHaveRecords, isBlocked) = (false, false)
        for step in slots.indices {
            let slot = slots[(first + step) % slots.count]
            startParked(slot)
            var budget = Self.recordsPerTurn
            while budget > 0 && canReceive && hasRoom(lane) && partitions[slot].canRead {
                receiveRecord(slot)
                budget -= 1
            }
            if partitions[slot].canRead { mayHaveRecords = true }
            if partitions[slot].isBlocked { isBlocked = true }
        }
        lanes[lane.rawValue].first = slots.isEmpty ? 0 : (first + 1) % slots.count
        lanes[lane.rawValue].mayHaveRecords = mayHaveRecords
        lanes[lane.rawValue].isBlocked = isBlocked
    }

    /// Notes that records have arrived in partitions of a lane.
    func noteArrivals(inLane lane: Int) {
        lanes[lane].mayHaveRecords = true
        for slot in lanes[lane].slots { partitions[slot].mayHaveRecords = true }
    }

    private func receiveRecord(_ slot: Int) {
        guard case .requests(let lane) = partitions[slot].role else { return }
        let result = consumer.read(slot: slot) { record in
            take(record, origin: record.origin(in: partitions[slot].id, now: wallClock), in: slot, lane: lane)
        }
        note(result, of: slot)
    }

    /// Takes in what a read gave beside a record.
    func note(_ result: ReadResult, of slot: Int) {
        switch result {
        case .record: break
        case .empty: partitions[slot].mayHaveRecords = false
        case .endOfPartition(let offset): partitions[slot].reachedEnd(offset)
        case .error(let error): noteKafkaError(error)
        }
    }

    /// Notes that a record was delivered. Nil when its outcome was published before, or a newer version wrote it.
    func receive(_ record: borrowing ConsumedRecord, of slot: Int) -> OffsetLedger.Reception? {
        let offset = record.offset
        if partitions[slot].begins(after: offset) { membership.foundBehindCommit(Membership.Partition(partitions[slot].id)) }
        // What is read before the assignment begins again is read again then.
        guard membership.behindCommit.isEmpty, !partitions[slot].leaves(at: record, group: configuration.groupID) else {
            return nil
        }
        partitions[slot].noteRead(record)
        partitions[slot].reserve.read(at: now)
        let reception = partitions[slot].received(offset, window: window(of: slot))
        if reception == .alreadyFinished { return nil }
        partitions[slot].consumed.increment()
        Failpoint.pass(.fetched)
        return reception
    }

    /// The number of offsets of a partition that may be in work.
    private func window(of slot: Int) -> Int {
        partitions[slot].role == .held ? configuration.heldWindow : configuration.window
    }

    private func take(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int, lane: Lane) {
        if takeEarlier(record, origin: origin, in: slot) { return }
        guard let reception = receive(record, of: slot) else { return remember(record, origin: origin, in: slot) }
        partitions[slot].lastTimestamp = origin.timestamp
        let flight = flights.take()
        flight.begin(epoch: epoch, slot: slot, lane: lane, origin: origin, now: wallClock, monotonic: now)
        read(record, into: flight)
        guard reception == .process else {
            partitions[slot].parked = flight
            return
        }
        startOrBuffer(flight)
    }

    /// Reads the request that a record holds, and takes in what is wrong with it.
    func read(_ record: borrowing ConsumedRecord, into flight: Flight) {
        let reading = parse(record, into: flight)
        if flight.request.unknownFieldCount > 0 { metrics.unknownFields.increment(by: UInt64(flight.request.unknownFieldCount)) }
        if case .unreadable(let failure) = reading { noteUnreadable(record, of: flight, failure: failure) }
        if case .rejected(let faults) = reading { flight.report.faults = faults }
        let (size, most) = (record.byteCount, partitions[flight.slot].role.largestRecord)
        guard case .request = reading, size > most else { return }
        let message = "The record has \(size) bytes with its key and headers; \(most) are allowed."
        flight.report.faults = [RequestFault(.recordTooLarge, at: "", message: message)]
    }

    /// Reads the request that a record holds.
    func parse(_ record: borrowing ConsumedRecord, into flight: Flight) -> RequestReader.Reading {
        headers.removeAll()
        // What is too large is not written anew, so nobody needs its envelope.
        let isKept = record.byteCount <= partitions[flight.slot].role.largestRecord
        if isKept, let key = record.key { flight.envelope.setKey(key) }
        record.forEachHeader { name, value in
            if isKept { flight.envelope.addHeader(name, value: value) }
            if let value, isKept || value.count <= RecordEnvelope.longestKnownHeader { headers.add(name: name, value: value) }
        }
        if let value = record.value {
            return read(value, into: flight)
        } else {
            let nothing: [UInt8] = []
            return read(nothing.span, into: flight)
        }
    }

    /// Reads the request that `value` and `headers` hold.
    func read(_ value: Span<UInt8>, into flight: Flight) -> RequestReader.Reading {
        let origin = flight.origin
        flight.valueByteCount = value.count
        let reader = partitions[flight.slot].role.isOpen ? openReader : ownReader
        let reading = lend(&headers) { reader.read(value, headers: $0, origin: origin, into: &flight.request) }
        nameTenant(of: flight)
        findHub(of: flight)
        flights.account(for: flight)
        return reading
    }

    /// Makes a dead letter of a record that cannot be understood.
    func noteUnreadable(_ record: borrowing ConsumedRecord, of flight: Flight, failure: UnreadableRecord) {
        var place = flight.origin
        if !partitions[flight.slot].role.hasRequests {
            place.topic = partitions[flight.slot].id.topic
            place.partition = partitions[flight.slot].id.partition
            place.offset = flight.offset
        }
        var letter = OutcomeBatch()
        recorders.deadLetters.record(record, slot: flight.slot, origin: place, failure: failure, into: &letter)
        flight.deadLetter = letter
        flights.account(for: flight)
        noteDeadLetter(place, failure: failure)
    }

    /// Starts a record that lay beyond the window, when the window has moved.
    func startParked(_ slot: Int) {
        guard let (flight, isFinished) = partitions[slot].takeParked() else { return }
        guard isFinished else { return startOrBuffer(flight) }
        remember(flight)
        abandon(flight)
    }

    private func noteDeadLetter(_ origin: RecordOrigin, failure: UnreadableRecord) {
        metrics.deadLettered(failure.reason, topic: origin.topic)
        log.warning(
            .deadLettered, "a record could not be understood and goes to the dead-letter topic",
            [
                .topic: .string(origin.topic), .partition: LogValue(origin.partition), .offset: LogValue(origin.offset),
                .reason: .string(failure.reason),
            ])
    }

    /// Plans and formats a request. Everything that can be refused is refused before any call.
    func start(_ flight: Flight) {
        flights.count(flight)
        if let letter = flight.deadLetter ?? uncommittedResult(of: flight) {
            outbox.append(contentsOf: letter)
            settle(flight)
            return
        }
        if let poll = flight.poll { return start(flight, poll: poll) }
        flight.cancellation = cancellation(of: flight)
        if let delayed = flight.delayed, flight.cancellation == nil, !isDue(flight, delayed: delayed) { return }
        if Sabotage.isOn(.commitEarly) { partitions[flight.slot].ledger?.finished(flight.offset) }
        if flight.report.faults.isEmpty { prepare(flight) }
        guard flight.report.faults.isEmpty else { return reject(flight) }
        if flight.routeFault != nil, flight.cancellation == nil { return startUnrouted(flight) }
        if flight.calls.isEmpty { return startLarge(flight) }
        if flight.request.options.dryRun {
            for index in flight.calls.indices {
                end(flight, call: index, as: .cancelled, code: .cancelled, detail: "dry run: nothing was sent")
            }
            return
        }
        if let delayed = flight.delayed {
            guard restore(flight, from: delayed) else { return }
        } else if isTooLate(flight) {
            for index in flight.calls.indices {
                end(
                    flight, call: index, as: .expired, code: .expiredInQueue,
                    detail: "the request expired; a worker that died may have sent it")
            }
            return
        } else if flight.cancellation == nil, delayStart(flight) {
            return
        }
        if let cancellation = flight.cancellation {
            cancel(flight, by: cancellation)
            return
        }
        if hasSeveralHubs, postpone(flight) { return }
        for index in flight.calls.indices where flight.calls[index].phase == .ready { schedule(flight, call: index) }
    }

    /// Puts a call into the queue, or lets it wait for the request's `not_before` or for what is left of its own wait.
    private func schedule(_ flight: Flight, call index: Int) {
        if let start = flight.calls[index].notBefore ?? flight.request.notBefore, start > wallClock {
            wait(flight, call: index, for: start)
        } else {
            queue(flight, call: index)
        }
    }

    private func isTooLate(_ flight: Flight) -> Bool { flight.request.expiresAt.map { $0 <= wallClock } ?? false }

    private func prepare(_ flight: Flight) {
        do throws(RequestFault) {
            try plan(flight)
            if !flight.isKnownAsNew { try refuseRepetition(flight) }
            // What is wrong with a request is worth more to its publisher than that it came too late.
            if isTooLate(flight), flight.delayed == nil, flight.calls.isEmpty || !mayHaveBeenBegun(flight) {
                throw RequestFault(.expiredInQueue, at: "", message: "The request expired before it was read.")
            }
        } catch {
            flight.report.faults.append(error)
        }
    }

    /// Plans the calls of a request and formats what they send. Whether that can be done is up to nothing but the request and the
    /// settings.
    func plan(_ flight: Flight) throws(RequestFault) {
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
            var state = Flight.Call()
            state.payload = flight.payloadCount - 1
            flight.calls.append(state)
            var report = DeliveryReport.Call(platform: call.platform)
            report.payloadByteCount = flight.payloads[state.payload].body.count
            flight.report.calls.append(report)
        }
        flight.openCalls = flight.calls.count
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
        flight.payloadCount += 1
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

    func reject(_ flight: Flight) {
        // What was tried already is not forgotten because other settings would refuse it now.
        if let delayed = flight.delayed, delayed.report.attemptCount > 0 {
            giveUp(flight, delayed: delayed)
            return
        }
        flight.report.calls.removeAll(keepingCapacity: true)
        let code = flight.report.faults.first?.code ?? .schemaInvalid
        metrics.rejected(code, topic: flight.origin.topic)
        log.info(
            .requestRejected, "a request was refused before any hub call",
            [.requestID: .string(flight.request.document.string(flight.request.id)), .code: .string(code.rawValue)])
        finish(flight)
    }
}
