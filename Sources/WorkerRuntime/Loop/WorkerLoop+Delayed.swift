import Basics
import Delivery
import FanOut
import Kafka
import Observability
import PushModel

/// Delay lanes as they are read: the first record of each partition has a timer, and what lies behind it stays unread until then. A large
/// one is unread itself meanwhile, and nothing that waits for its time takes room of what goes on.
extension WorkerLoop {
    /// Records that are taken from a partition in a row before the next one has its turn.
    private static let recordsPerTurn = 64
    /// The number of calls from delay lanes that may wait for their turn. More would only lie in memory.
    static let maximumReady = 1024
    /// Calls that may wait for a timer before delay lanes are left alone for a while: what is due is due in a lane as well.
    private static let maximumWaiting = 4096

    /// True if records of delay lanes may be read: there is room for their calls.
    var canReceiveDelayed: Bool {
        let hubs = ports.count
        return canReceive && delayedReadyCount < Self.maximumReady * hubs && waitingForRetry < Self.maximumWaiting * hubs
    }

    /// Takes the records of delay lanes whose time has come, and those that can be handed on.
    func receiveDelayed() {
        guard delayedPartitions.isWorthACheck(now) else { return }
        for slot in delayedPartitions.slots where partitions[slot].isHeadCancelled { startHead(of: slot) }
        guard canReceiveDelayed else { return }
        delayedPartitions.mayHaveRecords = false
        delayedPartitions.isBlocked = false
        delayedPartitions.nextCheck = .never
        for slot in delayedPartitions.slots {
            receiveDelayed(slot)
            let partition = partitions[slot]
            if let recheckTime = partition.recheckTime {
                let moment = now + recheckTime.nanoseconds(since: wallClock)
                delayedPartitions.nextCheck = min(delayedPartitions.nextCheck, moment)
            }
            if partition.canRead { delayedPartitions.mayHaveRecords = true }
            if partition.isBlocked { delayedPartitions.isBlocked = true }
        }
    }

    private func startHead(of slot: Int) { if let head = partitions[slot].takeHead() { start(head) } }

    private func receiveDelayed(_ slot: Int) {
        startHead(of: slot)
        startParked(slot)
        if canReceiveDelayed, partitions[slot].unread?.mayGoOn(controlTopic.cancellations, now: wallClock) ?? false {
            partitions[slot].unread?.isWanted = true
        }
        var budget = Self.recordsPerTurn
        while budget > 0 && canReceiveDelayed && partitions[slot].canRead {
            let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { record in
                if let flight = takeDelayed(record, in: slot) { start(flight) }
            }
            note(result, of: slot)
            budget -= 1
        }
    }

    /// Reads the first record of each partition that lies unread, so that it is known when it is due. It goes on when there is
    /// room for its calls. What holds no calls goes on at once.
    func checkDelayed() {
        guard mode == .running else { return }
        for slot in delayedPartitions.slots where partitions[slot].canRead {
            var budget = Self.recordsPerTurn
            while budget > 0 && partitions[slot].canRead {
                let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { record in
                    guard let flight = takeDelayed(record, in: slot) else { return }
                    if flight.recheckTime == nil && canReceive { start(flight) } else { keepFirst(flight) }
                }
                note(result, of: slot)
                budget -= 1
            }
            if partitions[slot].nextDelayed != nil { delayedPartitions.mayHaveRecords = true }
        }
    }

    /// Lets the first record of a partition wait: a small one in memory, where it is not counted, a large one unread.
    func keepFirst(_ flight: Flight) {
        let slot = flight.slot
        if flight.heldByteCount > FlightPool.longestKept, partitions[slot].ledger?.takeBack(flight.offset) ?? false {
            if goBack(to: flight) { return }
            _ = partitions[slot].ledger?.received(flight.offset)
        }
        flights.discount(flight)
        partitions[slot].head = flight
    }

    /// - Returns: Whether the record that was read just now is unread again, with all behind it.
    private func goBack(to flight: Flight) -> Bool {
        do throws(KafkaError) {
            try delayReader.goBack(slot: flight.slot - delayedPartitions.slots.lowerBound, to: flight.offset)
        } catch {
            noteKafkaError(error)
            return false
        }
        partitions[flight.slot].unread = DeferredHead(flight)
        flights.release(flight)
        return true
    }

    /// - Returns: What the record holds, to be started, or nil when it was finished before, or has to wait for the window.
    private func takeDelayed(_ record: borrowing ConsumedRecord, in slot: Int) -> Flight? {
        let readAt = partitions[slot].readAgain(record.offset) ?? wallClock
        guard case .delay(let delay) = partitions[slot].role, let reception = receive(record, of: slot) else { return nil }
        let place = record.origin(in: partitions[slot].id, now: wallClock)
        let flight = flights.take()
        switch DelayedRecord.read(record, group: configuration.groupID, in: delay, now: readAt) {
        case .request(let delayed):
            flight.begin(epoch: epoch, slot: slot, lane: delayed.lane, origin: delayed.origin, now: readAt, monotonic: .never)
            flight.offset = record.offset
            read(record, into: flight)
            flight.delayed = delayed
        case .poll(let poll):
            flight.begin(epoch: epoch, slot: slot, origin: place, now: readAt, monotonic: .never)
            flight.poll = poll
        case .foreign(let owner):
            flight.begin(epoch: epoch, slot: slot, origin: place, now: readAt, monotonic: .never)
            skipForeignRecord(owner, in: slot)
            // Its own group sees to it; here nothing is recorded of it.
            flight.deadLetter = OutcomeBatch()
        case .invalid:
            flight.begin(epoch: epoch, slot: slot, origin: place, now: readAt, monotonic: .never)
            noteUnreadable(record, of: flight, failure: .notDelayed)
        }
        guard reception == .process else {
            if flight.heldByteCount > FlightPool.longestKept && goBack(to: flight) { return nil }
            flights.discount(flight)
            partitions[slot].parked = flight
            return nil
        }
        if let recheckTime = flight.recheckTime { partitions[slot].lastCheck = recheckTime }
        return flight
    }

    /// Says, once for each assignment, that requests of another group wait: that one may be no more, because it has another name now.
    func skipForeignRecord(_ owner: String?, in slot: Int) {
        guard let owner, !delayedPartitions.hasSaidForeign else { return }
        delayedPartitions.hasSaidForeign = true
        let reason =
            "they belong to the group '\(owner)', and are left to it; if it is no more, `pushfan group adopt` takes them over"
        log.warning(
            .requestDelayed, "the topic holds records of another consumer group; skipping them",
            [.topic: .string(partitions[slot].id.topic), .reason: .string(reason)])
    }

    /// True if a request that comes from a delay lane may go on now. Else it waits there, or in the next one.
    func isDue(_ flight: Flight, delayed: DelayedRecord) -> Bool {
        if partitions[flight.slot].role == .held {
            flight.receivedAt = now
            return true
        }
        if delayed.recheckTime > wallClock {
            keepFirst(flight)
            return false
        }
        if delayFurther(flight, delayed: delayed) { return false }
        flight.receivedAt = now
        return true
    }

    /// Goes on with a request where it was: its calls are planned again, and have what happened to them before.
    ///
    /// - Returns: Whether its calls must be made; if not, it is finished.
    func restore(_ flight: Flight, from delayed: DelayedRecord) -> Bool {
        let history = delayed.history
        var report = delayed.report
        guard history.plan == flight.plan.digest, history.calls.count == flight.calls.count else {
            if report.attemptCount > 0 {
                giveUp(flight, delayed: delayed)
                return false
            }
            flight.report.consumedAt = report.consumedAt
            return true
        }
        for index in flight.calls.indices {
            report.calls[index].platform = flight.report.calls[index].platform
            report.calls[index].payloadByteCount = flight.report.calls[index].payloadByteCount
        }
        flight.report = report
        resume(flight, after: history)
        return true
    }

    /// Ends a request of which attempts were made, because another version, or other settings, would make other calls of it.
    func giveUp(_ flight: Flight, delayed: DelayedRecord) {
        flight.report = delayed.report
        flight.calls = delayed.history.calls.map { _ in Flight.Call() }
        flight.openCalls = flight.calls.count
        resume(flight, after: delayed.history)
        for index in flight.calls.indices where flight.calls[index].phase != .done {
            end(
                flight, call: index, as: .transient, code: .internal,
                detail: "other settings gave the request other calls while it waited")
        }
    }

    private func resume(_ flight: Flight, after history: DeliveryHistory) {
        for (index, state) in history.calls.enumerated() {
            flight.calls[index].attempt = flight.report.calls[index].attemptCount
            flight.calls[index].mayHaveArrived = state.mayHaveArrived
            flight.calls[index].notBefore = state.due
            if state.due == nil {
                flight.calls[index].phase = .done
                flight.openCalls -= 1
            }
        }
    }
}
