import Basics
import Delivery
import PushModel

/// Tenants that share a lane: one that has more requests than places does not cause head-of-line blocking for others.
///
/// A lane whose requests name tenants is read beyond what has places. Of what is read, a tenant has some calls waiting for their turn,
/// and the rest of its records are buffered. The lane is read as far as its buffered records and the windows of its partitions allow.
extension WorkerLoop {
    /// The time that a lane is read ahead after a request that names its tenant: 10 s in nanoseconds.
    private static let memory: Int64 = 10_000_000_000

    /// About how many calls of a lane's tenants wait for their turn at most, when they are many.
    private static let waitingCalls = 1024

    /// True if a lane has requests of tenants, or had some lately, or of several hubs. Then it is read beyond what has places.
    func hasTenants(_ lane: Lane) -> Bool {
        guard let port = ports.only else { return true }
        return now < lanes[lane.rawValue].readsAheadUntil || !port.buffered[lane.rawValue].isEmpty
    }

    /// True if a lane's records may be read, as far as its own calls go.
    func hasRoom(_ lane: Lane) -> Bool {
        guard let port = ports.only else { return canDefer || ports.allSatisfy { !ports.isFull($0, for: lane, of: memory) } }
        return hasTenants(lane) ? port.buffered[lane.rawValue].byteCount < memory.buffered : port.hasRoom(lane)
    }

    /// Notes whose request a flight carries.
    func nameTenant(of flight: Flight) { flight.nameTenant() }

    /// Starts a new request, or buffers its record while its tenant has enough calls waiting.
    func startOrBuffer(_ flight: Flight) {
        if flight.request.remaining != nil, flight.report.faults.isEmpty { return expand(flight) }
        if flight.request.orderingKey != nil, waitsForItsKey(flight) { return }
        let lane = flight.lane
        guard flight.delayed == nil, flight.deadLetter == nil, flight.report.faults.isEmpty, flight.routeFault == nil,
            flight.spread == nil
        else {
            start(flight)
            return
        }
        if flight.tenant != .none { lanes[lane.rawValue].readsAheadUntil = now + Self.memory }
        guard hasTenants(lane) else {
            start(flight)
            return
        }
        let port = ports[flight.port]
        flight.tenant = port.ready.fresh(in: lane).queue(of: flight.tenant)
        guard
            port.buffered[lane.rawValue].hasRecords(of: flight.tenant)
                || !mayHaveMoreCalls(flight.tenant, in: lane, at: port, flight: flight)
        else {
            start(flight)
            return
        }
        // It is deferred then.
        if ports.areSeveral, canDefer, ports.isFull(port, for: lane, of: memory) {
            start(flight)
            return
        }
        guard flight.isKnownAsNew || isNew(flight) else {
            start(flight)
            return
        }
        let request = flight.request
        var value = ByteWriter(capacity: flight.valueByteCount)
        value.append(request.document.source(byteCount: flight.valueByteCount))
        let record = BufferedRecords.Record(
            slot: flight.slot, origin: flight.origin, receivedAt: flight.receivedAt, waitingSince: flight.waitingSince,
            key: flight.key, envelope: flight.envelope, value: value)
        port.buffered[lane.rawValue].append(record, of: flight.tenant)
        flights.release(flight)
    }

    /// True if a request can be sent and repeats none, which is detected in the order of the records, so before it is buffered.
    /// If not, why is noted.
    func isNew(_ flight: Flight) -> Bool {
        guard repetitions != nil || flight.request.dedupeKey != nil else { return true }
        do throws(RequestFault) {
            try plan(flight)
            try refuseRepetition(flight)
            return true
        } catch {
            flight.report.faults.append(error)
            return false
        }
    }

    /// Starts requests whose records are buffered, as far as their tenants have had turns.
    func startBufferedRecords() {
        for port in ports {
            for lane in Lane.allCases where !port.buffered[lane.rawValue].isEmpty { startBufferedRecords(of: port, in: lane) }
        }
    }

    private func startBufferedRecords(of port: HubPort, in lane: Lane) {
        var tenants = port.buffered[lane.rawValue].tenants
        // Where a hub's share is short, none of them is always the first.
        if ports.areSeveral { tenants.shuffle(using: &generator) }
        for tenant in tenants {
            while canProceed, mayHaveMoreCalls(tenant, in: lane, at: port),
                let record = port.buffered[lane.rawValue].removeFirst(of: tenant)
            {
                start(record, of: tenant, in: lane)
            }
        }
    }

    /// True if a tenant has fewer calls waiting than it is sure to need until more can be started, at least one of each waits,
    /// and its hub has memory for `flight`, or another one.
    private func mayHaveMoreCalls(_ tenant: TenantID, in lane: Lane, at port: HubPort, flight: Flight? = nil) -> Bool {
        let queues = port.ready.fresh(in: lane)
        let limit = max(1, min(port.settings.maxInFlight, Self.waitingCalls / max(queues.tenantCount, 1)))
        return queues.count(of: tenant) < limit && ports.hasShare(port, for: flight, among: flights.byteCounts, of: memory)
    }

    private func start(_ record: BufferedRecords.Record, of tenant: TenantID, in lane: Lane) {
        let flight = resume(record, in: lane)
        flight.tenant = tenant
        start(flight)
    }

    /// Makes a flight of a buffered record.
    func resume(_ record: BufferedRecords.Record, in lane: Lane) -> Flight {
        let flight = flights.take()
        flight.begin(
            epoch: epoch, slot: record.slot, lane: lane, origin: record.origin, now: wallClock, monotonic: record.receivedAt)
        flight.envelope = record.envelope
        headers.removeAll()
        record.envelope.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        if case .rejected(let faults) = read(record.value.span, into: flight) { flight.report.faults = faults }
        flight.key = record.key
        flight.isKnownAsNew = true
        return flight
    }
}
