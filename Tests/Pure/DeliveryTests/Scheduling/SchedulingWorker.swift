import Basics
import PushModel

@testable import Delivery

/// A worker that performs what `Scheduler` decides: it reads requests, delay lanes and held requests, and has them sent.
struct SchedulingWorker {
    typealias Place = SchedulingBroker.Place
    typealias Copy = SchedulingBroker.Copy

    /// Something that the worker does wrongly, to see that it is found out.
    enum Sabotage: CaseIterable {
        case none, ignoresKeys, startsKeysBeforeAllIsRead, ignoresTheTime, keepsTheTurn, overtakesTenants, dropsTheDisplaced,
            forgetsWhatIsDone, keepsWhatRang, ignoresHolds, neverSweeps, sweepsOnlyWhatItHears
    }

    struct Flight {
        let request: Int
        let slot: Int
        let offset: Int64
        var due: Timestamp
        var ownDue = Timestamp.past
        var calls: [SchedulingBroker.Call]
        var key: RequestIdentity?
        var mustDefer = false

        /// The call to make next: the open one that was tried least.
        var next: Int {
            calls.indices.filter { !calls[$0].isDone }.min { calls[$0].attempts < calls[$1].attempts } ?? 0
        }
    }

    static let window: Int64 = 12
    static let heldWindow = 24
    static let most = 2

    let sabotage: Sabotage
    var scheduler = Scheduler(heldWindow: heldWindow)
    var places: [Place] = []
    var positions: [Int64] = []
    var heads: [Int: Flight] = [:]
    /// Calls that wait for their turn, by tenant; for their time; and those in flight.
    var ready: [Int: [Flight]] = [:]
    var waiting: [Flight] = []
    var inFlight: [(flight: Flight, call: Int)] = []
    var isFinished: Set<[Int64]> = []
    var writes: [(slot: Int, offset: Int64, write: SchedulingBroker.Write)] = []
    var results: [Int] = []
    var finished: [(slot: Int, offset: Int64)] = []
    /// The attempts of which no record tells yet, by slot and offset.
    var attempts: [[Int64]: (request: Int, counts: [Int])] = [:]
    var buffered: [Int: [Int64]] = [:]
    var said: Set<Int> = []
    var assignedAt = MonotonicTime.past
    var sweep = LaneSweep(0..<0)
    /// The last release that it has heard of, and the time when it began.
    var heardRelease = Timestamp.past
    var heardAt: Timestamp?
    private(set) var bornAt = Timestamp.past
    private(set) var isAlive = true
    var fault: String?
    var counts = SchedulingModel.Counts()

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
        sweep = LaneSweep(0..<self.places.count)
        if bornAt == .past {
            bornAt = broker.now
            heardRelease = broker.release?.at ?? .past
        }
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
        let (born, heard) = (bornAt, heardAt)
        defer { (bornAt, heardAt) = (born, heard) }
        while !inFlight.isEmpty { complete(&broker, value: inFlight.count - 1) }
        for flight in waiting + ready.values.joined() { leave(flight, at: &broker) }
        commit(&broker)
        die(&broker)
        isAlive = true
    }

    private mutating func leave(_ flight: Flight, at broker: inout SchedulingBroker) {
        var facts: DrainFacts = sabotage == .keepsWhatRang && flight.calls.contains(where: \.isDone) ? [] : .isCommittable
        if broker.requests[flight.request].isCancelled { facts.insert(.isCancelled) }
        if attempts[[Int64(flight.slot), flight.offset]] != nil {
            facts.insert(.wasSent)
            if flight.calls.contains(where: \.isDone) { facts.insert(.mayHaveArrived) }
        }
        let hasPlace =
            flight.key == nil
            ? scheduler.delays.lanes.available.first == 0 : hasHeldPartition(flight.slot) && !said.contains(1)
        let mayBeLeft = DrainGate.next(facts) == .handOver
        let isLeft = mayBeLeft && delay(flight, until: max(flight.due, broker.now), at: broker, isLeft: true)
        takeNotices()
        if facts.isSuperset(of: [.wasSent]), !facts.contains(.isCancelled), hasPlace, !isLeft, !said.contains(1) {
            fault = "\(broker.requests[flight.request]) is not left to the next owner"
        }
        if isLeft {
            if facts.contains(.mayHaveArrived) { counts.handedOver += 1 }
            return
        }
        facts.insert(.hasNoPlace)
        // Time is up for what stays: its open calls are told as they are.
        guard DrainGate.next(facts) == .stay else { return }
        broker.requests[flight.request].isCut = true
        end(flight)
    }

    /// Ends without a word: nobody knows of what is not committed.
    mutating func die(_ broker: inout SchedulingBroker) {
        for (request, made) in attempts.values {
            for call in made.indices { broker.requests[request].forgotten[call] += made[call] }
        }
        forget()
        (places, positions, isAlive, bornAt, heardAt) = ([], [], false, .past, nil)
        scheduler.begin([], held: 0..<0, movesPositions: false, now: broker.monotonic)
    }

    /// Comes back.
    mutating func restart() { isAlive = true }

    // MARK: Turns

    /// One turn: what is read first is up to no more than how much of it, `value`.
    mutating func turn(_ broker: inout SchedulingBroker, value: Int) {
        guard isAlive, !places.isEmpty else { return }
        beginSweep(broker)
        readHeld(broker, most: value % 4)
        readDelayed(broker, most: value / 4 % 4)
        readRequests(broker, most: value / 16 % 8)
        hurry(broker)
        startKeys(broker)
        startBuffered(broker)
        relieve(&broker)
        let due = waiting.filter { $0.due <= broker.now }
        waiting.removeAll { $0.due <= broker.now }
        for flight in due { makeReady(flight, at: broker) }
        watch(broker)
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
