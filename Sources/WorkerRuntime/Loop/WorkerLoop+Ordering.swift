import Basics
import Delivery
import Kafka
import Observability
import PushModel

/// Requests with ordering keys: those of one key are sent one after the other, in the order in which they were published. All
/// others overtake them freely.
///
/// A request of a key starts only after its predecessor has completed: its final result is in the outbox, or its parts are. Until then it
/// is buffered as it was read. A refused one ends at once, because nothing is sent of it; one that expired or was cancelled ends when it
/// has its turn. What has to wait for longer than moments goes to the topic of held requests: see `WorkerLoop+Holding`.
extension WorkerLoop {
    /// Receives a new request that has a key.
    ///
    /// - Returns: Whether nothing else must be done with it at present; if not, it is its key's turn.
    func waitsForItsKey(_ flight: Flight) -> Bool {
        guard flight.key == nil, flight.delayed == nil, flight.deadLetter == nil, flight.report.faults.isEmpty,
            partitions[flight.slot].role.hasRequests, !Sabotage.isOn(.ignoreKeys), let key = orderingKey(of: flight)
        else { return false }
        ordered.isUsed = true
        let origin = KeyQueues<OrderedRecord>.Origin(flight.origin)
        if ordered.queues[flight.slot].isFree(key) {
            ordered.queues[flight.slot].begin(key, origin: origin, at: flight.offset)
            flight.key = key
            return false
        }
        // What it repeats is told in the order of the records.
        guard isNew(flight) else {
            start(flight)
            return true
        }
        let record = OrderedRecord(flight)
        let isAdded = ordered.queues[flight.slot].add(
            key,
            request: .init(
                origin: origin, place: .published(flight.offset), record: record, due: .past, byteCount: record.byteCount))
        noteRoomForKeys(flight.slot)
        // A copy is held already, with what has happened to it.
        if isAdded { flights.release(flight) } else { settle(flight) }
        return true
    }

    /// The identity that a request's key is known by, or nil when it has none.
    func orderingKey(of flight: Flight) -> RequestIdentity? {
        guard let key = flight.request.orderingKey else { return nil }
        return lend(&flight.request) { request in
            var identity = RequestIdentity(seed: 0)
            identity.add(request.document.span(key))
            return identity
        }
    }

    /// Notes that the request of a key has its end, so that the next one has its turn.
    func keyCompleted(_ key: RequestIdentity, by flight: Flight) {
        guard flight.epoch == epoch, let slot = ordered.requests(of: flight.slot) else { return }
        ordered.queues[slot].finish(key)
    }

    /// Starts the requests whose keys have their turn, as far as there is room in their lanes: they come before what was not read yet.
    func startKeys() {
        guard ordered.isUsed, canProceed else { return }
        for lane in Lane.allCases {
            for slot in lanes[lane.rawValue].slots {
                while canStartKeys(of: lane), let (key, request) = ordered.queues[slot].next(now: wallClock) {
                    if let record = request.record { start(record, of: key) }
                    noteRoomForKeys(slot)
                }
            }
        }
        relieveBlocked()
    }

    private func canStartKeys(of lane: Lane) -> Bool {
        canProceed && hasRoom(lane) && ports.delayedReadyCount < Self.maximumReady * ports.count
    }

    private func start(_ record: OrderedRecord, of key: RequestIdentity) {
        let flight = resume(record)
        flight.key = key
        flight.isKnownAsNew = record.delayed == nil
        startOrBuffer(flight)
    }

    /// Makes a flight of a buffered record.
    func resume(_ record: OrderedRecord) -> Flight {
        let flight = flights.take()
        flight.begin(
            epoch: epoch, slot: record.slot, lane: record.lane, origin: record.origin, now: wallClock,
            monotonic: record.receivedAt)
        flight.offset = record.offset
        flight.envelope = record.envelope
        headers.removeAll()
        record.envelope.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        let value = record.value
        if case .rejected(let faults) = read(value.span, into: flight) { flight.report.faults = faults }
        flight.delayed = record.delayed
        return flight
    }

    /// Notes whether a partition may be read although records of its keys are buffered.
    func noteRoomForKeys(_ slot: Int) {
        let isFull = ordered.queues[slot].byteCount >= memory.keys(of: ordered.queues.count)
        guard isFull != partitions[slot].isFullOfKeys else { return }
        partitions[slot].isFullOfKeys = isFull
        if !isFull, case .requests(let lane) = partitions[slot].role { lanes[lane.rawValue].mayHaveRecords = true }
    }

    /// The moment when there is something to do for keys, monotonic nanoseconds. Not after `now` for at once.
    func orderedMoment() -> MonotonicTime {
        guard ordered.isUsed || ordered.mayHaveRecords, canProceed else { return .never }
        if ordered.mayHaveRecords { return now }
        var moment = MonotonicTime.never
        for lane in Lane.allCases where canStartKeys(of: lane) {
            for slot in lanes[lane.rawValue].slots {
                guard let due = ordered.queues[slot].nextMoment else { continue }
                if due <= wallClock { return now }
                let wait = min(due.milliseconds(since: wallClock), Self.longestWait)
                moment = min(moment, now + wait * 1_000_000)
            }
        }
        return moment
    }
}
