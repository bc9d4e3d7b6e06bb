import Basics
import Delivery
import Kafka
import PushModel

/// Delay lanes as they are read: the first record of each partition has a timer, and what lies behind it stays unread until then. A large
/// one is unread itself meanwhile, and nothing that waits for its time takes room of what goes on.
extension WorkerLoop {
    /// Records that are taken from a partition in a row before the next one has its turn.
    private static let recordsPerTurn = 64
    /// Calls that may wait for a timer before delay lanes are left alone for a while: what is due is due in a lane as well.
    private static let maximumWaiting = 4096

    /// True if records of delay lanes may be read: there is room for their calls.
    var canReceiveDelayed: Bool {
        let hubs = ports.count
        return canReceive && ports.delayedReadyCount < ReadyCalls.mostDelayed * hubs
            && ports.waitingForRetry < Self.maximumWaiting * hubs && !(ports.areSeveral && room.areDelaysHeldUp)
    }

    /// Takes the records of delay lanes whose time has come, and those that can be handed on. Calls `body` with those that are to start.
    func forEachDelayed(_ body: (Flight) -> Void) {
        while let slot = delayedPartitions.cancelledHeads.popLast() {
            if let head = partitions[slot].takeHead() { body(head) }
            // Another record is the first one now.
            delayedPartitions.group.mark(slot)
        }
        delayedPartitions.markDue(at: wallClock)
        for _ in 0..<delayedPartitions.group.beginRound() {
            guard canReceiveDelayed, let slot = delayedPartitions.group.takeFirst() else { break }
            readDelayed(slot, startingBy: body)
            noteReadDelayed(slot)
        }
    }

    private func noteReadDelayed(_ slot: Int) {
        if let moment = partitions[slot].recheckTime { delayedPartitions.check(slot, at: isSwept(slot) ? wallClock : moment) }
        // A record that is unread again waits for its time, or for the window like a parked one, until it is read once more.
        let isBlocked = partitions[slot].isBlocked || partitions[slot].unread.map { !$0.isWanted } ?? false
        delayedPartitions.group.noteRead(slot, canRead: partitions[slot].canRead, isBlocked: isBlocked)
    }

    private func readDelayed(_ slot: Int, startingBy body: (Flight) -> Void) {
        if let head = partitions[slot].takeHead() { body(head) }
        if let parked = takeParked(slot) { body(parked) }
        if canReceiveDelayed,
            isSwept(slot) || partitions[slot].unread?.mayGoOn(controlTopic.cancellations, now: wallClock) ?? false
        {
            partitions[slot].unread?.isWanted = true
        }
        var budget = Self.recordsPerTurn
        while budget > 0 && canReceiveDelayed && partitions[slot].canRead {
            if let flight = readDelayed(slot) { body(flight) }
            budget -= 1
        }
    }

    private func readDelayed(_ slot: Int) -> Flight? {
        var flight: Flight?
        let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { flight = takeDelayed($0, in: slot) }
        note(result, of: slot)
        if case .endOfPartition(let offset) = result { noteSweepEnd(of: slot, at: offset) }
        return flight
    }

    /// Ends the sweep of a partition whose end was read. What says so may be older than records behind it.
    private func noteSweepEnd(of slot: Int, at offset: Int64) {
        guard delayedPartitions.sweep.isSweeping(slot),
            let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound), marks.high <= offset
        else { return }
        delayedPartitions.sweep.reachedEnd(of: slot)
    }

    /// Reads the first record of each partition that lies unread, so that it is known when it is due. It goes on when there is
    /// room for its calls. What holds no calls goes on at once: `body` is called with it.
    func checkDelayed(_ body: (Flight) -> Void) {
        guard mode == .running else { return }
        for slot in Array(delayedPartitions.group.readySlots) where partitions[slot].canRead {
            var budget = Self.recordsPerTurn
            while budget > 0 && partitions[slot].canRead {
                if let flight = readDelayed(slot) {
                    if flight.wait.recheckTime == nil && canReceive { body(flight) } else { keepFirst(flight) }
                }
                budget -= 1
            }
        }
    }

    /// Lets the first record of a partition wait: a small one in memory, where it is not counted, a large one unread.
    func keepFirst(_ flight: Flight) {
        let slot = flight.place.slot
        if flight.size.held > FlightPool.longestKept, partitions[slot].ledger?.takeBack(flight.place.offset) ?? false {
            if goBack(to: flight) { return }
            _ = partitions[slot].ledger?.received(flight.place.offset)
        }
        flights.discount(flight)
        partitions[slot].head = flight
    }

    /// - Returns: Whether the record that was read just now is unread again, with all behind it.
    private func goBack(to flight: Flight) -> Bool {
        do throws(KafkaError) {
            try delayReader.goBack(slot: flight.place.slot - delayedPartitions.slots.lowerBound, to: flight.place.offset)
        } catch {
            noteKafkaError(error)
            return false
        }
        partitions[flight.place.slot].unread = DeferredHead(flight)
        flights.release(flight)
        return true
    }

    /// - Returns: What the record holds, to be started, or nil when it was finished before, or has to wait for the window.
    private func takeDelayed(_ record: borrowing ConsumedRecord, in slot: Int) -> Flight? {
        let readAt = partitions[slot].readAgain(record.offset) ?? wallClock
        guard case .delay(let delay) = partitions[slot].role, let reception = receive(record, of: slot) else { return nil }
        let flight = read(record, in: slot, delay: delay, at: readAt)
        if reception == .process {
            if let recheckTime = flight.wait.recheckTime { partitions[slot].lastCheck = recheckTime }
            return flight
        }
        if flight.size.held > FlightPool.longestKept && goBack(to: flight) { return nil }
        flights.discount(flight)
        park(flight, in: slot)
        return nil
    }

    /// Reads a record that waited, by the place of its lane in `DelayLanes.lengths`, or nil for a held one. What one says of its time is
    /// judged by the moment at which it was read first.
    private func read(_ record: borrowing ConsumedRecord, in slot: Int, delay: Int?, at readAt: Timestamp) -> Flight {
        let place = record.origin(in: partitions[slot].id, now: wallClock)
        let flight = flights.take()
        let reading = DelayedRecord.read(record, group: configuration.groupID, in: delay, now: readAt)
        guard case .request(let delayed) = reading else {
            flight.begin(epoch: epoch, slot: slot, origin: place, now: readAt, monotonic: .never)
            takeOther(reading, of: record, into: flight, isHeld: delay == nil)
            return flight
        }
        let moment = delay == nil ? now : .never
        flight.begin(epoch: epoch, slot: slot, lane: delayed.lane, origin: delayed.origin, now: readAt, monotonic: moment)
        flight.load(delayed, at: record.offset)
        read(record, into: flight)
        return flight
    }

    private func takeOther(
        _ reading: DelayedRecord.Reading, of record: borrowing ConsumedRecord, into flight: Flight, isHeld: Bool
    ) {
        switch reading {
        case .poll(let poll) where !isHeld:
            flight.wait.setPoll(poll)
            flight.place.noteValue(byteCount: record.value?.count ?? 0)
            flights.account(for: flight)
        case .foreign(let owner):
            if let owner { scheduler.add(.foreign(slot: flight.place.slot, group: owner)) }
            // Its own group sees to it, and here nothing is recorded of it.
            flight.wait.conclude(as: OutcomeBatch())
        default: noteUnreadable(record, of: flight, failure: .notDelayed)
        }
    }
}

/// The topic of held requests: where a key waits whose first request must not be sent for long, so that it causes no head-of-line
/// blocking.
///
/// The first request goes there at once, in the transaction that counts it as read, as others go to delay lanes. Those behind it are
/// buffered in memory, and go there too when their partition cannot be read on because of them. Each record says where its request was
/// published, which is its place in the key's order, whatever its own offset is.
///
/// A partition of it is written and read by the owner of its partition of requests alone, and its position is committed like that one's.
/// Who begins to own them reads what is held to its end before any request of a key is started. The end is the high watermark, not the
/// last stable offset. What the previous owner has committed may not show yet, and what it has not cannot be committed any more, because
/// the group's positions are not reported before that is settled.
extension WorkerLoop {
    /// The age of a held record that was parked: it was read not long ago, and how long it lay there before does not matter much. 6 h in
    /// milliseconds.
    private static let ageOfParked: Int64 = 21_600_000

    /// Lets keys begin at once whose partition of held requests ends where the group stands: to read that it has nothing would take the
    /// reader up to 1.5 s.
    func beginWithoutReading(_ ends: [Int32: Int64]) {
        for slot in held.slots where partitions[slot].left == nil && scheduler.isReadingHeld(slot) {
            guard let end = ends[partitions[slot].id.partition], end == partitions[slot].committed?.offset ?? 0 else { continue }
            scheduler.heldIsRead(slot)
        }
    }

    /// Takes what has come in the partitions of held requests. Calls `body` with what is to start.
    func forEachHeld(_ body: (Flight) -> Void) {
        guard held.mayHaveRecords, canProceed else { return }
        for _ in 0..<held.beginRound() {
            guard canProceed, let slot = held.takeFirst() else { break }
            let writtenAt = wallClock.adding(milliseconds: -Self.ageOfParked)
            if let parked = takeParked(slot) { keep(parked, writtenAt: writtenAt, startingBy: body) }
            var budget = Self.recordsPerTurn
            while budget > 0 && canProceed && partitions[slot].canRead {
                readHeld(slot, startingBy: body)
                budget -= 1
            }
            held.noteRead(slot, canRead: partitions[slot].canRead, isBlocked: partitions[slot].isBlocked)
            relocate(in: slot)
        }
    }

    private func readHeld(_ slot: Int, startingBy body: (Flight) -> Void) {
        var taken: (flight: Flight, writtenAt: Timestamp)?
        let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { record in
            guard let reception = receive(record, of: slot) else { return }
            let flight = read(record, in: slot, delay: nil, at: wallClock)
            let writtenAt = record.origin(in: partitions[slot].id, now: wallClock).timestamp
            if reception == .process { taken = (flight, writtenAt) } else { park(flight, in: slot) }
        }
        note(result, of: slot)
        if let (flight, writtenAt) = taken { keep(flight, writtenAt: writtenAt, startingBy: body) }
        if case .endOfPartition(let offset) = result { reachedEnd(of: slot, at: offset) }
    }

    /// All is known that is held when nothing is left before the high watermark. Less may be shown as long as transactions are
    /// open.
    private func reachedEnd(of slot: Int, at offset: Int64) {
        guard scheduler.isReadingHeld(slot),
            let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound), marks.high <= offset
        else { return }
        scheduler.heldIsRead(slot)
    }

    /// True if a held record may wait for the end of an order that was released before. What was written later waits for something else.
    private func waitedForRelease(_ writtenAt: Timestamp) -> Bool {
        controlTopic.orders.lastRelease(now: orderTime).map { writtenAt < $0.adding(milliseconds: 2000) } ?? false
    }

    /// Lets a held request wait for its moment and its key's turn.
    private func keep(_ flight: Flight, writtenAt: Timestamp, startingBy body: (Flight) -> Void) {
        guard let delayed = flight.wait.delayed, flight.wait.deadLetter == nil, flight.report.faults.isEmpty,
            scheduler.requests(of: flight.place.slot) != nil, flight.request.orderingKey != nil
        else { return body(flight) }
        let mayGoOn = cancellation(of: flight) != nil || waitedForRelease(writtenAt)
        waitForKey(flight, due: mayGoOn ? .past : delayed.due, writtenAt: writtenAt)
    }

    /// Writes what waits in the older half of a partition to its end, when it fills too much of the window.
    private func relocate(in slot: Int) {
        guard let ledger = partitions[slot].ledger else { return }
        move(scheduler.relocate(in: slot, lowWaterMark: ledger.lowWaterMark, position: ledger.position))
    }

    /// Once a second: commits positions again that the group would forget, and says what is amiss.
    func watchHeld() {
        guard !held.slots.isEmpty else { return }
        if mode == .running, scheduler.startsRefresh(now: now) {
            for slot in held.slots where partitions[slot].ledger != nil {
                markDirty(slot)
                move(scheduler.renew(in: slot, now: wallClock))
            }
        }
        scheduler.watchHeld(assignedAt: membership.assignedAt, now: now)
    }
}
