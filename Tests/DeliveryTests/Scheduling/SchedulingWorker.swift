import Basics
import PushModel

@testable import Delivery

/// A worker that performs what `Scheduler` decides: it reads requests, delay lanes and held requests, and has them sent.
struct SchedulingWorker {
    typealias Place = SchedulingBroker.Place
    typealias Copy = SchedulingBroker.Copy

    /// Something that the worker does wrongly, to see that it is found out.
    enum Sabotage: CaseIterable {
        case none, ignoresKeys, startsKeysBeforeAllIsRead, ignoresTheTime, keepsTheTurn, overtakesTenants, dropsTheDisplaced
    }

    private struct Flight {
        let request: Int
        let slot: Int
        let offset: Int64
        var due: Timestamp
        var attempts: Int
        var key: RequestIdentity?
        var mustDefer = false
    }

    static let window: Int64 = 12
    private static let heldWindow = 24
    private static let most = 2

    private let sabotage: Sabotage
    private var scheduler = Scheduler(heldWindow: heldWindow)
    private var places: [Place] = []
    private var positions: [Int64] = []
    private var heads: [Int: Flight] = [:]
    /// Calls that wait for their turn, by tenant; for their time; and those in flight.
    private var ready: [Int: [Flight]] = [:]
    private var waiting: [Flight] = []
    private var inFlight: [Flight] = []
    private var isFinished: Set<[Int64]> = []
    private var writes: [(slot: Int, offset: Int64, write: SchedulingBroker.Write)] = []
    private var results: [Int] = []
    private var finished: [(slot: Int, offset: Int64)] = []
    /// The attempts of which no record tells yet, by slot and offset.
    private var attempts: [[Int64]: (request: Int, count: Int)] = [:]
    private var buffered: [Int: [Int64]] = [:]
    private var said: Set<Int> = []
    private var assignedAt = MonotonicTime.past
    private(set) var isAlive = true
    private(set) var fault: String?
    private(set) var counts = SchedulingModel.Counts()

    init(_ sabotage: Sabotage, lanes: [Int]) {
        self.sabotage = sabotage
        scheduler.delays = DelayPolicy(DelayLanes(lanes))
        scheduler.buffers.addHub(0)
    }

    // MARK: Assignments

    /// Begins an assignment: of nothing is known more than the broker has.
    mutating func begin(_ places: [Place], at broker: SchedulingBroker) {
        forget()
        self.places = places.filter { !$0.isHeld } + places.filter(\.isHeld)
        positions = self.places.map { broker.records(at: $0).start }
        let held = places.count - places.count(where: \.isHeld)..<places.count
        let partitions = self.places.map { place in
            switch place {
            case .requests(let number): Scheduler.Partition(number: Int32(number), lane: .normal)
            case .delay(let number): Scheduler.Partition(number: Int32(number), lane: nil)
            case .held(let number):
                Scheduler.Partition(number: HeldRules.heldPartition(of: Int32(number), in: .normal) ?? 0, lane: nil)
            }
        }
        assignedAt = broker.monotonic
        scheduler.begin(partitions, held: held, movesPositions: false, now: assignedAt)
    }

    private func hasHeldPartition(_ slot: Int) -> Bool {
        if case .requests(let number) = places[slot] { places.contains(.held(number)) } else { true }
    }

    private mutating func forget() {
        scheduler.end()
        (heads, ready, waiting, inFlight, isFinished, writes, results, finished) = ([:], [:], [], [], [], [], [], [])
        (attempts, buffered, said) = ([:], [:], [])
    }

    /// Ends an assignment: what is in flight ends, and what has attempts is left to the next owner.
    mutating func leave(_ broker: inout SchedulingBroker) {
        while let flight = inFlight.popLast() { complete(flight, at: &broker) }
        for flight in waiting + ready.values.joined() where attempts[[Int64(flight.slot), flight.offset]] != nil {
            let hasPlace =
                flight.key == nil
                ? scheduler.delays.lanes.available.first == 0 : hasHeldPartition(flight.slot) && !said.contains(1)
            let isLeft = delay(flight, until: max(flight.due, broker.now), at: broker, isLeft: true)
            takeNotices()
            if hasPlace && !isLeft && !said.contains(1) {
                fault = "\(broker.requests[flight.request]) is not left to the next owner"
            }
        }
        commit(&broker)
        die(&broker)
        isAlive = true
    }

    /// Ends without a word: nobody knows of what is not committed.
    mutating func die(_ broker: inout SchedulingBroker) {
        for (request, count) in attempts.values { broker.requests[request].forgotten += count }
        forget()
        (places, positions, isAlive) = ([], [], false)
        scheduler.begin([], held: 0..<0, movesPositions: false, now: broker.monotonic)
    }

    /// Comes back.
    mutating func restart() { isAlive = true }

    // MARK: Turns

    /// One turn: what is read first is up to no more than how much of it, `value`.
    mutating func turn(_ broker: inout SchedulingBroker, value: Int) {
        guard isAlive, !places.isEmpty else { return }
        readHeld(broker, most: value % 4)
        readDelayed(broker, most: value / 4 % 4)
        readRequests(broker, most: value / 16 % 8)
        hurry(broker)
        startKeys(broker)
        startBuffered(broker)
        relieve(broker)
        let due = waiting.filter { $0.due <= broker.now }
        waiting.removeAll { $0.due <= broker.now }
        for flight in due { makeReady(flight, at: broker) }
        watch(broker)
    }

    private func key(of request: SchedulingBroker.Request) -> RequestIdentity? {
        guard let number = request.key, sabotage != .ignoresKeys else { return nil }
        var key = RequestIdentity(seed: 0)
        key.add(UInt64(number))
        return key
    }

    private func origin(of request: SchedulingBroker.Request) -> RecordOrigin {
        RecordOrigin(topic: "r", partition: Int32(request.partition), offset: request.offset, timestamp: request.publishedAt)
    }

    private func record(_ flight: Flight, at broker: SchedulingBroker) -> BufferedRecord {
        let request = broker.requests[flight.request]
        return BufferedRecord(
            slot: flight.slot, offset: flight.offset, lane: .normal, origin: origin(of: request), receivedAt: broker.monotonic,
            waitingSince: broker.now, key: flight.key, envelope: RecordEnvelope(), value: ByteWriter(),
            writtenAt: places[flight.slot].isHeld ? copy(flight.slot, flight.offset, broker)?.writtenAt ?? .never : .never)
    }

    private func copy(_ slot: Int, _ offset: Int64, _ broker: SchedulingBroker) -> Copy? {
        broker.records(at: places[slot]).records[offset]
    }

    /// Makes a flight of a record that was buffered.
    private mutating func resume(_ record: BufferedRecord, at broker: SchedulingBroker) -> Flight? {
        guard let copy = copy(record.slot, record.offset, broker) else {
            fault = "record \(record.offset) of \(places[record.slot]) waits though it is finished"
            return nil
        }
        return Flight(
            request: copy.request, slot: record.slot, offset: record.offset, due: copy.due, attempts: copy.attempts,
            key: record.key)
    }

    private func isTaken(_ slot: Int, _ offset: Int64) -> Bool { isFinished.contains([Int64(slot), offset]) }

    /// True if the window of a partition has to move before it can be read on.
    private func isBlocked(_ slot: Int, _ broker: SchedulingBroker) -> Bool {
        let window = places[slot].isHeld ? Int64(Self.heldWindow) : Self.window
        return positions[slot] - lowWaterMark(slot, broker) >= window
    }

    private func lowWaterMark(_ slot: Int, _ broker: SchedulingBroker) -> Int64 {
        let log = broker.records(at: places[slot])
        return log.records.keys.filter { !isTaken(slot, $0) && $0 < positions[slot] }.min() ?? positions[slot]
    }

    /// The next record of a partition, or nil.
    private mutating func read(_ slot: Int, _ broker: SchedulingBroker) -> Flight? {
        let log = broker.records(at: places[slot])
        while positions[slot] < log.end, !isBlocked(slot, broker) {
            let offset = positions[slot]
            positions[slot] += 1
            guard let copy = log.records[offset] else { continue }
            return Flight(request: copy.request, slot: slot, offset: offset, due: copy.due, attempts: copy.attempts)
        }
        return nil
    }

    private mutating func readHeld(_ broker: SchedulingBroker, most: Int) {
        for slot in scheduler.heldSlots {
            for _ in 0..<most {
                guard let flight = read(slot, broker), let key = key(of: broker.requests[flight.request]) else { break }
                let isCancelled = broker.requests[flight.request].isCancelled
                if !scheduler.offer(record(flight, at: broker), of: key, due: isCancelled ? .past : flight.due) { settle(flight) }
            }
            let isAtEnd = positions[slot] == broker.records(at: places[slot]).end
            if scheduler.isReadingHeld(slot), isAtEnd || sabotage == .startsKeysBeforeAllIsRead { scheduler.heldIsRead(slot) }
            let mark = lowWaterMark(slot, broker)
            for move in scheduler.relocate(in: slot, lowWaterMark: mark, position: positions[slot]) {
                counts.relocated += 1
                perform(move, at: broker)
            }
        }
    }

    private mutating func readDelayed(_ broker: SchedulingBroker, most: Int) {
        for slot in places.indices {
            guard case .delay(let lane) = places[slot] else { continue }
            for _ in 0..<most {
                guard let flight = heads.removeValue(forKey: slot) ?? read(slot, broker) else { break }
                let written = copy(flight.slot, flight.offset, broker)?.writtenAt ?? broker.now
                let recheck = DelayLanes.recheckTime(in: lane, written: written, due: flight.due, now: broker.now)
                if recheck > broker.now, !broker.requests[flight.request].isCancelled, sabotage != .ignoresTheTime {
                    heads[slot] = flight
                    break
                }
                if !broker.requests[flight.request].isCancelled,
                    let next = scheduler.delays.nextLane(until: flight.due, expiresAt: nil, now: broker.now)
                {
                    counts.handedOn += 1
                    write(flight, to: .delay(next), due: flight.due)
                } else {
                    start(flight, at: broker)
                }
            }
        }
    }

    private mutating func readRequests(_ broker: SchedulingBroker, most: Int) {
        for slot in places.indices {
            guard case .requests = places[slot] else { continue }
            for _ in 0..<most {
                guard var flight = read(slot, broker) else { break }
                let request = broker.requests[flight.request]
                if let key = key(of: request) {
                    guard scheduler.takeTurn(of: key, in: slot, origin: origin(of: request)) else {
                        counts.behindKeys += 1
                        if !scheduler.offer(record(flight, at: broker), of: key) { settle(flight) }
                        continue
                    }
                    flight.key = key
                }
                seat(flight, at: broker)
            }
        }
    }

    private func tenant(of request: SchedulingBroker.Request) -> TenantID { TenantID(Array("\(request.tenant)".utf8).span) }

    private func hasPlace(_ tenant: Int) -> Bool {
        HubBuffers.hasPlace(waiting: ready[tenant]?.count ?? 0, tenantCount: ready.count, most: Self.most)
    }

    private mutating func seat(_ flight: Flight, at broker: SchedulingBroker) {
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

    private mutating func startKeys(_ broker: SchedulingBroker) {
        while let (_, record, key) = scheduler.nextOfKeys(in: .normal, now: broker.now) {
            guard var flight = resume(record, at: broker) else { return }
            flight.key = key
            if places[flight.slot].isHeld { start(flight, at: broker) } else { seat(flight, at: broker) }
        }
        if let due = scheduler.nextMoment(in: .normal), due <= broker.now { fault = "a key that has its turn is not started" }
    }

    private mutating func startBuffered(_ broker: SchedulingBroker) {
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
                counts.deferred += 1
                start(flight, at: broker)
            }
        }
    }

    private mutating func hurry(_ broker: SchedulingBroker) {
        guard broker.requests.contains(where: \.isCancelled) else { return }
        let places = places
        scheduler.hurry { record in
            broker.records(at: places[record.slot]).records[record.offset].map { broker.requests[$0.request].isCancelled }
                ?? false
        }
    }

    private mutating func relieve(_ broker: SchedulingBroker) {
        let blocked = Set(places.indices.filter { isBlocked($0, broker) })
        let relief = scheduler.relieve(where: blocked.contains, now: (broker.monotonic, broker.now))
        for move in relief.moves {
            counts.relieved += 1
            perform(move, at: broker)
        }
    }

    private mutating func perform(_ move: Scheduler.Move, at broker: SchedulingBroker) {
        guard let flight = resume(move.record, at: broker) else { return }
        write(flight, to: .held(Int(move.partition) / Topics.heldLanes), due: max(flight.due, Timestamp(milliseconds: 0)))
    }

    private mutating func watch(_ broker: SchedulingBroker) {
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
        let inWork = Set((waiting + ready.values.joined() + inFlight).map { [Int64($0.slot), $0.offset] })
        for slot in scheduler.heldSlots {
            for (offset, copy) in broker.records(at: places[slot]).records
            where broker.now.milliseconds(since: copy.writtenAt) > 15 * hour {
                if offset < positions[slot], !isTaken(slot, offset), !inWork.contains([Int64(slot), offset]) {
                    fault = "\(broker.requests[copy.request]) is held for too long without being written again"
                }
            }
        }
    }

    private mutating func takeNotices() {
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

    // MARK: Requests

    private mutating func start(_ flight: Flight, at broker: SchedulingBroker) {
        let request = broker.requests[flight.request]
        if request.isCancelled { return end(flight) }
        let isFirst = if case .requests = places[flight.slot] { true } else { false }
        if isFirst, request.notBefore > broker.now, delay(flight, until: request.notBefore, at: broker) { return }
        if flight.mustDefer,
            delay(flight, until: DelayPolicy.deferral(publishedAt: request.publishedAt, now: broker.now), at: broker)
        {
            return
        }
        var flight = flight
        flight.due = max(flight.due, request.notBefore)
        if flight.due > broker.now, sabotage != .ignoresTheTime {
            // A held one is held again.
            if flight.key == nil || !delay(flight, until: flight.due, at: broker) { waiting.append(flight) }
        } else {
            makeReady(flight, at: broker)
        }
    }

    private mutating func makeReady(_ flight: Flight, at broker: SchedulingBroker) {
        if broker.requests[flight.request].isCancelled { return end(flight) }
        ready[broker.requests[flight.request].tenant, default: []].append(flight)
    }

    /// Puts a request where it waits. False if it waits in memory.
    private mutating func delay(_ flight: Flight, until due: Timestamp, at broker: SchedulingBroker, isLeft: Bool = false) -> Bool
    {
        if let key = flight.key {
            guard let number = scheduler.hold(key, in: flight.slot, until: due, byteCount: 100, isLeft: isLeft, now: broker.now)
            else { return false }
            counts.held += 1
            var flight = flight
            flight.key = nil
            write(flight, to: .held(Int(number) / Topics.heldLanes), due: due)
        } else {
            guard let lane = scheduler.delays.lane(until: due, expiresAt: nil, isLeft: isLeft, now: broker.now) else {
                return false
            }
            counts.delayed += 1
            write(flight, to: .delay(lane), due: due)
        }
        return true
    }

    private mutating func write(_ flight: Flight, to place: Place, due: Timestamp) {
        let copy = Copy(request: flight.request, due: due, attempts: flight.attempts, writtenAt: .past)
        writes.append((flight.slot, flight.offset, .init(place: place, copy: copy)))
        settle(flight)
    }

    private mutating func settle(_ flight: Flight) {
        if let key = flight.key, sabotage != .keepsTheTurn { scheduler.completed(key, in: flight.slot) }
        if !isFinished.insert([Int64(flight.slot), flight.offset]).inserted {
            fault = "record \(flight.offset) of \(places[flight.slot]) ends twice"
        }
        finished.append((flight.slot, flight.offset))
    }

    private mutating func end(_ flight: Flight) {
        results.append(flight.request)
        settle(flight)
    }

    /// Makes the call of a tenant whose turn it is.
    mutating func send(_ broker: inout SchedulingBroker, value: Int, others: Set<Int>) {
        let tenants = ready.keys.sorted()
        guard isAlive, !tenants.isEmpty, inFlight.count < Self.most else { return }
        let tenant = tenants[value % tenants.count]
        guard var flight = ready[tenant]?.removeFirst() else { return }
        if ready[tenant]?.isEmpty ?? false { ready[tenant] = nil }
        let request = broker.requests[flight.request]
        if request.isCancelled { return end(flight) }
        if broker.now < max(request.notBefore, flight.due) { fault = "\(request) is sent before its time" }
        if let key = request.key {
            let earlier = broker.requests.indices.first { index in
                let other = broker.requests[index]
                return other.key == key && other.partition == request.partition && other.offset < request.offset
                    && other.results == 0
                    && !results.contains(index)
            }
            if let earlier { fault = "\(request) is sent before \(broker.requests[earlier])" }
            if others.contains(where: { broker.requests[$0].key == key && broker.requests[$0].partition == request.partition }) {
                fault = "\(request) is sent while another of its key is in flight"
            }
        }
        flight.attempts += 1
        broker.requests[flight.request].attempts += 1
        attempts[[Int64(flight.slot), flight.offset], default: (flight.request, 0)].count += 1
        inFlight.append(flight)
    }

    /// The requests in flight.
    var requestsInFlight: [Int] { inFlight.map(\.request) }

    /// A call ends.
    mutating func complete(_ broker: inout SchedulingBroker, value: Int) {
        guard !inFlight.isEmpty else { return }
        complete(inFlight.remove(at: value % inFlight.count), at: &broker)
    }

    private mutating func complete(_ flight: Flight, at broker: inout SchedulingBroker) {
        let request = broker.requests[flight.request]
        guard flight.attempts <= request.failures, !request.isCancelled else { return end(flight) }
        var flight = flight
        flight.due = broker.now.adding(milliseconds: request.wait)
        if !delay(flight, until: flight.due, at: broker) { waiting.append(flight) }
    }

    /// Commits what has ended. A broker may reject one write, which never arrives then: it has a dead letter as its result.
    mutating func commit(_ broker: inout SchedulingBroker, rejecting value: Int? = nil) {
        guard isAlive else { return }
        if let value,
            let index = writes.indices.first(where: { $0 >= value % max(writes.count, 1) && writes[$0].write.place.isHeld })
        {
            let (slot, offset, write) = writes[index]
            if case .requests = places[slot] {
                counts.rejected += 1
                writes.remove(at: index)
                results.append(write.copy.request)
                broker.requests[write.copy.request].hasDeadLetter = true
                scheduler.neverArrives(publishedAt: offset, in: slot)
            }
        }
        let ended = finished.map { (place: places[$0.slot], offset: $0.offset) }
        if let wrong = broker.commit(writes.map(\.write), results: results, finished: ended) { fault = wrong }
        for (slot, offset) in finished { attempts[[Int64(slot), offset]] = nil }
        (writes, results, finished) = ([], [], [])
    }
}

extension SchedulingBroker {
    /// The same moment by the clock that does not jump.
    var monotonic: MonotonicTime { MonotonicTime(nanoseconds: now.milliseconds * 1_000_000) }
}
