import Basics
import Delivery
import Kafka
import Observability
import PushModel

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
    /// Records of a partition in a row before the next one has its turn.
    private static let heldRecordsPerTurn = 64
    /// The most that is written again, or moves, in one turn.
    private static let movesPerTurn = 1024
    /// The longest time that a record lies there before it is written again, so that the topic's retention does not reach it:
    /// 12 h in milliseconds.
    private static let longestStay: Int64 = 43_200_000
    /// The interval at which partitions without room are looked at: 20 ms in nanoseconds.
    private static let reliefInterval: Int64 = 20_000_000
    /// The interval at which positions are committed that have not moved: 1 h in nanoseconds. The group forgets positions of
    /// topics that it has not subscribed to some days after they were committed.
    private static let refreshInterval: Int64 = 3_600_000_000_000
    /// The time after which that is done first: an assignment that others who join end at once should have nothing to commit.
    /// 1 min in nanoseconds.
    static let firstRefresh: Int64 = 60_000_000_000

    /// Puts a request of a key, which is in work, into the topic of held requests.
    ///
    /// - Returns: Whether it is there; false when the wait is short, or there is no room or no topic: then it waits in memory.
    func hold(
        _ flight: Flight, key: RequestIdentity, until due: Timestamp, history: borrowing ByteWriter, isLeft: Bool
    ) -> Bool {
        guard isLeft || due.milliseconds(since: wallClock) >= DelayLanes.lengths[0] + DelayLanes.margin,
            let slot = ordered.requests(of: flight.slot), let held = heldPartition(of: slot)
        else { return false }
        let size = flight.valueByteCount + flight.envelope.byteCount + history.count
        // What comes from there leaves room for itself.
        guard held.slot == flight.slot || hasRoomForHeld(slot, size: size) else {
            noteFull(slot)
            return false
        }
        write(flight, to: held.number, due: due, history: history)
        ordered.queues[slot].moved(key, byteCount: size)
        flight.key = nil
        ports[flight.port].waitingForRetry -= flight.calls.count { $0.phase == .waiting }
        log.debug(
            .requestDelayed, "request held; later requests with this ordering key are blocked behind it",
            [
                .requestID: .string(flight.request.document.string(flight.request.id)),
                .delayMilliseconds: LogValue(due.milliseconds(since: wallClock)),
                .topic: .string(configuration.topics.held),
            ])
        settle(flight)
        return true
    }

    /// The partition of held requests that belongs to a partition of requests.
    private func heldPartition(of slot: Int) -> (slot: Int, number: Int32)? {
        if let held = ordered.held(of: slot) { return (held, partitions[held].id.partition) }
        guard let number = OrderedPartitions.heldPartition(of: partitions[slot].id.partition, in: lane(of: slot)),
            !ordered.hasSaidMissing
        else { return nil }
        ordered.hasSaidMissing = true
        log.warning(
            .requestDelayed,
            "the topic of held requests lacks a partition; keyed requests wait in memory and may cause head-of-line blocking",
            [
                .topic: .string(configuration.topics.held),
                .partition: LogValue(number),
            ])
        return nil
    }

    private func lane(of slot: Int) -> Lane {
        if case .requests(let lane) = partitions[slot].role { lane } else { .normal }
    }

    private func hasRoomForHeld(_ slot: Int, size: Int) -> Bool {
        ordered.queues[slot].heldCount < OrderedPartitions.maximumHeld(window: configuration.heldWindow)
            && ordered.queues[slot].heldByteCount + size <= OrderedPartitions.maximumHeldBytes
    }

    private func noteFull(_ slot: Int) {
        guard !ordered.hasSaidFull else { return }
        ordered.hasSaidFull = true
        log.warning(
            .requestDelayed,
            "no more requests can be held; others with ordering keys wait in memory and may cause head-of-line blocking",
            [
                .topic: .string(partitions[slot].id.topic), .partition: LogValue(partitions[slot].id.partition),
                .count: LogValue(ordered.queues[slot].heldCount),
            ])
    }

    private func write(_ flight: Flight, to partition: Int32, due: Timestamp, history: borrowing ByteWriter) {
        recorders.delays.record(flight, to: .held(partition), due: due, history: history, into: &outbox)
        metrics.held()
    }

    /// Lets keys begin at once whose partition of held requests ends where the group stands: to read that it has nothing would take the
    /// reader up to 1.5 s.
    func beginWithoutReading(_ ends: [Int32: Int64]) {
        for slot in ordered.slots {
            guard partitions[slot].left == nil, let requests = ordered.requests(of: slot),
                let end = ends[partitions[slot].id.partition], end == partitions[slot].committed?.offset ?? 0
            else { continue }
            ordered.queues[requests].complete()
        }
    }

    /// Notes that records may have arrived.
    func noteHeldArrivals() {
        for slot in ordered.slots { partitions[slot].mayHaveRecords = true }
        ordered.mayHaveRecords = !ordered.slots.isEmpty
    }

    /// Takes what has come in the partitions of held requests.
    func receiveHeld() {
        guard ordered.mayHaveRecords, canProceed else { return }
        ordered.mayHaveRecords = false
        for slot in ordered.slots {
            resumeParked(slot)
            var budget = Self.heldRecordsPerTurn
            while budget > 0 && canProceed && partitions[slot].canRead {
                let result = delayReader.read(slot: slot - delayedPartitions.slots.lowerBound) { takeHeld($0, in: slot) }
                note(result, of: slot)
                if case .endOfPartition(let offset) = result { reachedEnd(of: slot, at: offset) }
                budget -= 1
            }
            rewrite(slot)
            if partitions[slot].canRead { ordered.mayHaveRecords = true }
        }
    }

    /// All is known that is held when nothing is left before the high watermark. Less may be shown as long as transactions are
    /// open.
    private func reachedEnd(of slot: Int, at offset: Int64) {
        guard let requests = ordered.requests(of: slot), !ordered.queues[requests].isComplete,
            let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound), marks.high <= offset
        else { return }
        ordered.queues[requests].complete()
    }

    private func takeHeld(_ record: borrowing ConsumedRecord, in slot: Int) {
        guard let reception = receive(record, of: slot) else { return }
        let flight = flights.take()
        let place = record.origin(in: partitions[slot].id, now: wallClock)
        switch DelayedRecord.read(record, group: configuration.groupID, in: nil, now: wallClock) {
        case .request(let delayed):
            flight.begin(epoch: epoch, slot: slot, lane: delayed.lane, origin: delayed.origin, now: wallClock, monotonic: now)
            flight.offset = record.offset
            read(record, into: flight)
            flight.delayed = delayed
        case .foreign(let owner):
            flight.begin(epoch: epoch, slot: slot, origin: place, now: wallClock, monotonic: .never)
            skipForeignRecord(owner, in: slot)
            flight.deadLetter = OutcomeBatch()
        case .invalid, .poll:
            flight.begin(epoch: epoch, slot: slot, origin: place, now: wallClock, monotonic: .never)
            noteUnreadable(record, of: flight, failure: .notDelayed)
        }
        guard reception == .process else {
            partitions[slot].parked = flight
            return
        }
        keep(flight, writtenAt: place.timestamp)
    }

    private func resumeParked(_ slot: Int) {
        guard let (flight, isFinished) = partitions[slot].takeParked() else { return }
        if isFinished { return abandon(flight) }
        // Read not long ago; how long it lay there before does not matter much.
        keep(flight, writtenAt: wallClock.adding(milliseconds: -Self.longestStay / 2))
    }

    /// Lets a held request wait for its moment and its key's turn.
    private func keep(_ flight: Flight, writtenAt: Timestamp) {
        guard let delayed = flight.delayed, flight.deadLetter == nil, flight.report.faults.isEmpty,
            let requests = ordered.requests(of: flight.slot), let key = orderingKey(of: flight)
        else {
            start(flight)
            return
        }
        ordered.isUsed = true
        let record = OrderedRecord(flight, writtenAt: writtenAt)
        let isAdded = ordered.queues[requests].add(
            key,
            request: .init(
                origin: .init(flight.origin), place: .held(flight.offset), record: record,
                due: cancellation(of: flight) == nil ? delayed.due : .past, byteCount: record.byteCount))
        noteRoomForKeys(requests)
        if isAdded { flights.release(flight) } else { settle(flight) }
    }

    /// Ends what waits for its moment and is cancelled by now.
    func hurryCancelledKeys() {
        guard ordered.isUsed else { return }
        for slot in ordered.queues.indices where ordered.queues[slot].count > 0 {
            ordered.queues[slot].hurry { record in
                guard let name = record.name else { return false }
                return controlTopic.cancellations.cancellation(of: name, published: record.origin.timestamp) != nil
            }
        }
    }

    /// Moves what lies behind requests that wait for their moment, where a partition cannot be read on.
    func relieveBlocked() {
        guard now >= ordered.nextRelief else { return }
        ordered.nextRelief = now + Self.reliefInterval
        for slot in ordered.queues.indices where partitions[slot].isBlocked && ordered.queues[slot].count > 0 {
            let room = OrderedPartitions.maximumHeld(window: configuration.heldWindow) - ordered.queues[slot].heldCount
            let bytes = OrderedPartitions.maximumHeldBytes - ordered.queues[slot].heldByteCount
            guard let held = heldPartition(of: slot) else { continue }
            guard room > 0, bytes > 0 else {
                noteFull(slot)
                continue
            }
            let followers = ordered.queues[slot].removeFollowers(now: wallClock, limit: (min(room, Self.movesPerTurn), bytes))
            for (_, request) in followers { if let record = request.record { move(record, to: held.number) } }
            noteRoomForKeys(slot)
        }
    }

    /// Writes what waits in the older half of a partition to its end, when it fills too much of the window.
    private func rewrite(_ slot: Int) {
        guard let ledger = partitions[slot].ledger, let requests = ordered.requests(of: slot),
            let start = OrderedPartitions.relocationStart(
                lowWaterMark: ledger.lowWaterMark, position: ledger.position, window: configuration.heldWindow)
        else { return }
        rewrite(slot, requests: ordered.queues[requests].removeHeld(limit: Self.movesPerTurn) { place, _ in place < start })
    }

    private func rewrite(_ slot: Int, requests: [(key: RequestIdentity, request: KeyQueues<OrderedRecord>.Request)]) {
        for (_, request) in requests { if let record = request.record { move(record, to: partitions[slot].id.partition) } }
    }

    /// Writes a record to the end of a partition of held requests, with what it says of the past if it was held before.
    private func move(_ record: OrderedRecord, to partition: Int32) {
        let flight = resume(record)
        if let delayed = record.delayed {
            write(flight, to: partition, due: delayed.due, history: delayed.text)
        } else {
            var history = ByteWriter()
            DeliveryHistory(plan: 0, calls: []).append(flight.report, to: &history)
            // It waits for nothing but its turn.
            let due = min(max(record.origin.timestamp.milliseconds, 0), wallClock.milliseconds)
            write(flight, to: partition, due: Timestamp(milliseconds: due), history: history)
        }
        settle(flight)
    }

    /// Once a second: commits positions again that the group would forget, and says what is amiss.
    func watchHeld() {
        guard !ordered.slots.isEmpty else { return }
        if now >= ordered.nextRefresh, mode == .running {
            for slot in ordered.slots where partitions[slot].ledger != nil {
                partitions[slot].isDirty = true
                ordered.isRefreshDue = true
                guard let requests = ordered.requests(of: slot) else { continue }
                let end = wallClock.adding(milliseconds: -Self.longestStay)
                rewrite(
                    slot, requests: ordered.queues[requests].removeHeld(limit: .max) { _, record in record.writtenAt < end })
            }
            ordered.nextRefresh = now + Self.refreshInterval
        }
        guard !ordered.hasSaidLate, (now - membership.assignedAt) > Self.heldPatience,
            let slot = ordered.queues.indices.first(where: { !ordered.queues[$0].isComplete && ordered.queues[$0].count > 0 }),
            let number = OrderedPartitions.heldPartition(of: partitions[slot].id.partition, in: lane(of: slot))
        else { return }
        ordered.hasSaidLate = true
        log.warning(
            .requestDelayed, "requests with ordering keys wait until the held requests before them are restored",
            [
                .topic: .string(configuration.topics.held),
                .partition: LogValue(number),
            ])
    }

    /// The time that the held requests may take to be read before that is said: 10 s in nanoseconds.
    private static let heldPatience: Int64 = 10_000_000_000
}
