import Basics
import PushModel

@testable import Delivery

/// What waits in memory for its tenant's place or for its key, and moves where it must.
extension SchedulingWorker {
    func tenant(of request: SchedulingBroker.Request) -> TenantID { TenantID(Array("\(request.tenant)".utf8).span) }

    func hasPlace(_ tenant: Int) -> Bool {
        HubBuffers.hasPlace(waiting: ready[tenant]?.count ?? 0, tenantCount: ready.count, most: Self.most)
    }

    mutating func seat(_ flight: Flight, at broker: SchedulingBroker) {
        let request = broker.requests[flight.request]
        let tenant = tenant(of: request)
        let mustWait = sabotage != .overtakesTenants && scheduler.buffers.hasRecords(of: tenant, at: 0, in: .normal)
        guard mustWait || !hasPlace(request.tenant) else {
            if buffered[request.tenant]?.isEmpty == false { fault = "\(request) overtakes its tenant's others" }
            return start(flight, at: broker)
        }
        counts.buffered += 1
        scheduler.buffers.noteTenant(in: .normal, now: broker.monotonic)
        scheduler.buffers.append(record(flight, at: broker), of: tenant, at: 0)
        buffered[request.tenant, default: []].append(Int64(flight.request))
    }

    mutating func startKeys(_ broker: SchedulingBroker) {
        while let (_, record, key) = scheduler.nextOfKeys(in: .normal, now: broker.now) {
            guard var flight = resume(record, at: broker) else { return }
            flight.key = key
            if places[flight.slot].isHeld { start(flight, at: broker) } else { seat(flight, at: broker) }
        }
        if let due = scheduler.nextMoment(in: .normal), due <= broker.now { fault = "a key that has its turn is not started" }
    }

    mutating func startBuffered(_ broker: SchedulingBroker) {
        while let record = scheduler.buffers.nextDisplaced() {
            if sabotage != .dropsTheDisplaced { resume(record, at: broker).map { start($0, at: broker) } }
        }
        for tenant in Set(broker.requests.map(\.tenant)).sorted() {
            let id = TenantID(Array("\(tenant)".utf8).span)
            while hasPlace(tenant), let record = scheduler.buffers.nextOfTenant(id, at: 0, in: .normal) {
                guard let flight = resume(record, at: broker) else { return }
                if buffered[tenant]?.first != Int64(flight.request) {
                    fault = "\(broker.requests[flight.request]) overtakes its tenant's others"
                }
                buffered[tenant]?.removeFirst()
                start(flight, at: broker)
            }
            if hasPlace(tenant), scheduler.buffers.hasRecords(of: id, at: 0, in: .normal) {
                fault = "tenant \(tenant) is held up"
            }
        }
        if scheduler.buffers.count(at: 0) > 0, !scheduler.buffers.readsAhead(.normal, of: 0, now: broker.monotonic) {
            fault = "a lane is not read ahead"
        }
        if scheduler.buffers.isEmpty(at: 0, in: .normal) != (scheduler.buffers.count(at: 0) == 0) {
            fault = "the buffers are miscounted"
        }
    }

    /// Hubs are gone: what is buffered for them waits for nothing any more.
    mutating func displace() {
        scheduler.buffers.displace(hub: 0)
        buffered = [:]
    }

    /// Moves what is buffered out of a partition's way.
    mutating func moveAside(_ broker: inout SchedulingBroker) {
        for slot in places.indices where isBlocked(slot, broker) {
            for record in scheduler.buffers.removeAll(
                of: slot, in: .normal, at: 0, before: positions[slot] - Self.window / 2, readBefore: broker.monotonic)
            {
                guard var flight = resume(record, at: broker) else { return }
                let request = broker.requests[flight.request]
                buffered[request.tenant]?.removeAll { $0 == Int64(flight.request) }
                flight.mustDefer = true
                broker.requests[flight.request].wasDeferred = true
                counts.deferred += 1
                start(flight, at: broker)
            }
        }
    }

    mutating func hurry(_ broker: SchedulingBroker) {
        guard broker.requests.contains(where: \.isCancelled) else { return }
        let places = places
        scheduler.hurry { record in
            broker.records(at: places[record.slot]).records[record.offset].map { broker.requests[$0.request].isCancelled }
                ?? false
        }
    }

    mutating func relieve(_ broker: inout SchedulingBroker) {
        let blocked = Set(places.indices.filter { isBlocked($0, broker) })
        let relief = scheduler.relieve(where: blocked.contains, now: (broker.monotonic, broker.now))
        for move in relief.moves {
            counts.relieved += 1
            perform(move, at: broker)
        }
        for record in relief.refused {
            guard let flight = resume(record, at: broker) else { return }
            counts.refused += 1
            broker.requests[flight.request].hasDeadLetter = true
            end(flight)
        }
    }

    mutating func perform(_ move: Scheduler.Move, at broker: SchedulingBroker) {
        guard let flight = resume(move.record, at: broker) else { return }
        write(
            flight, to: .held(Int(move.partition) / Topics.heldLanes), due: max(flight.due, Timestamp(milliseconds: 0)),
            ownDue: flight.ownDue)
    }

    mutating func watch(_ broker: SchedulingBroker) {
        if scheduler.startsRefresh(now: broker.monotonic) {
            for slot in scheduler.heldSlots {
                for move in scheduler.renew(in: slot, now: broker.now) {
                    counts.renewed += 1
                    perform(move, at: broker)
                }
            }
        }
        scheduler.watchHeld(assignedAt: assignedAt, now: broker.monotonic)
        takeNotices()
        watchAge(broker)
    }

    /// What is held is read by the one who owns it, and written again before the topic forgets it.
    private mutating func watchAge(_ broker: SchedulingBroker) {
        let hour: Int64 = 3_600_000
        guard broker.monotonic - assignedAt > 3 * hour * 1_000_000 else { return }
        let inWork = Set((waiting + ready.values.joined() + inFlight.map(\.flight)).map { [Int64($0.slot), $0.offset] })
        for slot in scheduler.heldSlots {
            for (offset, copy) in broker.records(at: places[slot]).records
            where broker.now.milliseconds(since: copy.writtenAt) > 15 * hour {
                if offset < positions[slot], !isTaken(slot, offset), !inWork.contains([Int64(slot), offset]) {
                    fault = "\(broker.requests[copy.request]) is held for too long without being written again"
                }
            }
        }
    }

    mutating func takeNotices() {
        for notice in scheduler.takeNotices() {
            let kind =
                switch notice {
                case .heldMissing: 0
                case .heldFull: 1
                case .heldLate: 2
                case .foreign: 3
                }
            counts.notices += 1
            if !said.insert(kind).inserted { fault = "\(notice) is said twice" }
        }
    }
}
