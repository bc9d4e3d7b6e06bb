import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// New requests, lane by lane, and of each lane partition by partition.
extension WorkerLoop {
    /// Records of one partition in a row before the next one has its turn.
    private static let recordsPerTurn = 64

    /// Reads records while there is room for their calls, and calls `body` with those that are to start.
    func forEachRead(_ body: (Flight) -> Void) {
        // A parked record is in memory and counted already, so it starts without room.
        guard canProceed else { return }
        if canReceive && marks.isRefillDue(now) { consumer.keepFetching(marks.changed.slots) }
        for lane in Lane.allCases where lanes[lane.rawValue].mayHaveRecords && hasRoom(lane) {
            readRound(of: lane, startingBy: body)
        }
    }

    private func readRound(of lane: Lane, startingBy body: (Flight) -> Void) {
        for _ in 0..<lanes[lane.rawValue].beginRound() {
            guard let slot = lanes[lane.rawValue].takeFirst(isFull: !canReceive || !hasRoom(lane)) else { break }
            if let flight = takeParked(slot) { body(flight) }
            var budget = Self.recordsPerTurn
            while budget > 0 && canReceive && hasRoom(lane) && partitions[slot].canRead {
                if let flight = readRecord(slot, of: lane) { body(flight) }
                budget -= 1
            }
            lanes[lane.rawValue].noteRead(slot, canRead: partitions[slot].canRead, isBlocked: partitions[slot].isBlocked)
        }
    }

    /// Takes the signals of partitions, whose slots are counted from `first`. Where some are missing, any may have records.
    func noteArrivals(_ pipe: NumberPipe, from first: Int) {
        if !pipe.drain({ noteArrivals(in: first + Int($0)) }) { for slot in 0...partitions.count { noteArrivals(in: slot) } }
    }

    /// Notes that records may have arrived in a partition. A signal may be of an assignment that has ended.
    func noteArrivals(in slot: Int) {
        if slot == controlTopic.slot.map({ $0 + delayedPartitions.slots.lowerBound }) { controlTopic.noteArrivals() }
        guard partitions.indices.contains(slot) else { return }
        marks.noteArrivals(slot)
        partitions[slot].cursor.noteArrivals()
        withGroup(of: slot) { $0.noteArrivals(slot) }
    }

    private func readRecord(_ slot: Int, of lane: Lane) -> Flight? {
        var flight: Flight?
        let result = consumer.read(slot: slot) { record in
            flight = take(record, origin: record.origin(in: partitions[slot].id, now: wallClock), in: slot, lane: lane)
        }
        note(result, of: slot)
        return flight
    }

    /// Takes in what a read gave beside a record.
    func note(_ result: ReadResult, of slot: Int) {
        marks.touch(slot)
        switch result {
        case .record: break
        case .empty: partitions[slot].cursor.wasEmpty()
        case .endOfPartition(let offset) where partitions[slot].hasRead(beyond: offset): doubt(slot)
        case .endOfPartition(let offset): partitions[slot].reachedEnd(offset)
        case .error(let error): note(error, of: slot)
        }
    }

    /// Says what a reading of a partition reports. A topic that is not there may be another one when it is back.
    func note(_ error: KafkaError, of slot: Int) {
        noteKafkaError(error)
        if error.isUnknownTopicOrPartition { doubt(slot) }
    }

    /// Notes that a record was delivered. Nil when its outcome was published before, or a newer version wrote it.
    func receive(_ record: borrowing ConsumedRecord, of slot: Int) -> OffsetLedger.Reception? {
        let offset = record.offset
        if partitions[slot].begins(after: offset) { membership.foundBehindCommit(Membership.Partition(partitions[slot].id)) }
        // All that is read before the assignment begins again is read again then.
        guard membership.behindCommit.isEmpty, !partitions[slot].leaves(at: record, group: configuration.groupID) else {
            return nil
        }
        guard !partitions[slot].hasRead(beyond: offset) else {
            doubt(slot)
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

    /// - Returns: The request that a record holds, to be started, or nil when nothing else must be done with it at present.
    private func take(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int, lane: Lane) -> Flight? {
        if takeEarlier(record, origin: origin, in: slot) { return nil }
        guard let reception = receive(record, of: slot) else {
            remember(record, origin: origin, in: slot)
            return nil
        }
        partitions[slot].lastTimestamp = origin.timestamp
        if partitions[slot].isElsewhere(record) { metrics.requestsElsewhere.increment() }
        let flight = flights.take()
        flight.begin(epoch: epoch, slot: slot, lane: lane, origin: origin, now: wallClock, monotonic: now)
        read(record, into: flight)
        guard reception == .process else {
            park(flight, in: slot)
            return nil
        }
        return flight
    }

    /// Lets a record that lies beyond the window, or beyond the reserve, wait until that moves.
    func park(_ flight: Flight, in slot: Int) {
        partitions[slot].parked = flight
        if partitions[slot].isReserveShort { marks.noteShort(slot) }
    }

    /// - Returns: The request that lay beyond the window, to be started now that the window has moved.
    func takeParked(_ slot: Int) -> Flight? {
        guard let (flight, isFinished) = partitions[slot].takeParked() else { return nil }
        guard isFinished else { return flight }
        remember(flight)
        abandon(flight)
        return nil
    }

    /// Looks at a record from before the group's position.
    ///
    /// - Returns: Whether nothing else must be done with it.
    private func takeEarlier(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int) -> Bool {
        // All that is read before the assignment begins again is read again then.
        if !membership.behindCommit.isEmpty { return true }
        guard partitions[slot].isLookingBack(at: origin.offset) else { return false }
        if let end = consumer.watermarks(slot: slot)?.high, end < partitions[slot].firstOffset {
            membership.foundBehindCommit(Membership.Partition(partitions[slot].id))
        } else {
            remember(record, origin: origin, in: slot)
        }
        return true
    }

    /// Takes in a request whose outcome was published before, if it was not taken in yet.
    private func remember(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int) {
        guard let end = partitions[slot].recent?.end, end <= origin.offset else { return }
        let flight = flights.take()
        flight.begin(epoch: epoch, slot: slot, origin: origin, now: wallClock, monotonic: now)
        if case .request = parse(record, into: flight).reading { remember(flight) }
        flights.release(flight)
        partitions[slot].recent?.passed(origin.offset)
    }
}

/// Partitions whose logs may not be those that were read: a topic may be deleted and made again while it is read, and then other records
/// have the places of those that are known.
extension WorkerLoop {
    /// Says what is worth it. A partition that is missing may be another one when it is back.
    func note(_ line: LibraryLine) {
        if let missing = line.missingPartition {
            if missing.topic == configuration.topics.control { return loseControl() }
            for slot in partitions.indices where partitions[slot].id == missing { doubt(slot) }
        } else if line.level <= 4 {
            log.warning(.kafkaError, "the Kafka client reports", [.reason: .string("\(line.facility): \(line.message)")])
        }
    }

    /// Reads a partition no further until it is known whether it holds what was read of it. One of which nothing was read has nothing to
    /// be taken for.
    func doubt(_ slot: Int) {
        let id = partitions[slot].id
        guard partitions[slot].left == nil, partitions[slot].refusal == nil, partitions[slot].readPosition != nil else { return }
        partitions[slot].left = .doubted
        if parents.slots.contains(slot) { parents.leave(slot) }
        marks.touch(slot)
        membership.foundDoubt(Membership.Partition(id), now: now)
        log.warning(
            .kafkaError, "a topic may not be the one that was read; brokers are asked what it holds",
            [.topic: .string(id.topic), .partition: LogValue(id.partition)])
    }

    /// Has brokers asked what partitions hold.
    func examine(_ list: [Membership.Partition], epoch: Int) {
        let wanted = Set(list.map { TopicPartition($0) })
        committer.submit(
            .examine(
                partitions.filter { wanted.contains($0.id) }.compactMap { state in
                    state.readPosition.map { CommittedOffset(partition: state.id, offset: $0.offset, metadata: $0.metadata) }
                }, epoch: epoch))
    }

    /// Reads on where partitions hold what was read. Where one does not, the assignment begins again.
    func examined(_ findings: GroupReader.Findings, epoch: Int) {
        let (same, changed) = (findings.same.map { Membership.Partition($0) }, findings.changed.map { Membership.Partition($0) })
        let known = Set(
            membership.examined(same: same, changed: changed, epoch: epoch, now: now).map { TopicPartition($0) })
        let missing = Set(epoch == self.epoch ? findings.missing : [])
        for slot in partitions.indices where partitions[slot].left == .doubted {
            if known.contains(partitions[slot].id) { goOn(slot) }
            if missing.contains(partitions[slot].id) { discard(slot) }
        }
    }

    /// Has a partition read from another offset.
    func goBack(_ slot: Int, to offset: Int64) throws(KafkaError) {
        guard !partitions[slot].role.hasRequests else { return try consumer.goBack(slot: slot, to: offset) }
        try delayReader.goBack(slot: slot - delayedPartitions.slots.lowerBound, to: offset)
    }

    /// Reads a partition on that was in doubt.
    private func goOn(_ slot: Int) {
        do throws(KafkaError) {
            if let offset = partitions[slot].takeReturn() { try goBack(slot, to: offset) }
        } catch {
            noteKafkaError(error)
            return membership.foundBehindCommit(Membership.Partition(partitions[slot].id))
        }
        partitions[slot].left = nil
        if parents.slots.contains(slot) { parents.goOn(slot) }
        noteArrivals(in: slot)
    }

    /// Drops what has come of a partition that is not there: the library adds an error several times a second.
    private func discard(_ slot: Int) {
        partitions[slot].noteDiscarded()
        let other = slot - delayedPartitions.slots.lowerBound
        while (other < 0 ? consumer.read(slot: slot) { _ in } : delayReader.read(slot: other) { _ in }) != .empty {}
    }
}
