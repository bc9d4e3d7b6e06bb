import Basics
import Delivery
import PushModel

/// The flights of one loop, each under a number that does not change while it carries a request.
///
/// Those that carry nothing are kept for the next requests, with their room, as far as that is little. The others are given back, and
/// nothing but their number and generation is left.
struct FlightPool {
    /// A flight by its number. Where there is none, `none` stands for it.
    private(set) var flights: [Flight] = []
    /// The flights that carry nothing. The one that did last is the last.
    private var spare: [Flight] = []
    /// The numbers without a flight, and the generations with which they go on: so nothing of former ones is taken for theirs.
    private var vacant: [(index: Int, generation: UInt32)] = []
    /// Stands for flights that were given back.
    private let none = Flight(index: 0)
    /// The most bytes of spare flights.
    private let mostSpareByteCount: Int
    /// The memory that the requests in work take, about. What waits for its time, or for its window, in a delay lane is not
    /// counted: it must not take the room that it will want.
    private(set) var byteCount = 0
    /// The same by the hubs' numbers, as far as they had any.
    private(set) var byteCounts: [Int] = []
    /// The memory that spare flights take.
    private(set) var spareByteCount = 0
    /// The sum of all that was counted so far, which only grows.
    private(set) var servedByteCount = 0
    /// The ends of waits of calls, monotonic nanoseconds.
    private var timers = MomentHeap<MonotonicTime, WaitingCall>()
    /// Buffers that carry nothing, for the next calls.
    private var buffers: [ByteWriter] = []
    /// The moments at which freed memory is given back to the system.
    private var rest = MemoryRest()

    /// A pool without flights, which keeps those that carry nothing as long as they take no more than so many bytes.
    init(mostSpareByteCount: Int = 8 << 20) { self.mostSpareByteCount = mostSpareByteCount }

    /// A flight that carried more does not wait in memory for its time in a delay lane: 64 KiB.
    static let longestKept = 64 << 10

    /// A flight that takes more is given back when it carries nothing: 32 KiB.
    static let largestSpare = 32 << 10

    /// Requests in work at once, waiting for retries included: what bounds the loop's memory.
    static let maximumCount = 65_536

    /// The bytes of a buffer that is kept for the next calls, 16 KiB.
    private static let largestSpareBuffer = 16 << 10

    /// The flights that carry a request.
    var activeCount: Int { flights.count - spare.count - vacant.count }

    /// True if another request may be in work.
    var hasRoom: Bool { activeCount < Self.maximumCount }

    /// A flight that carries nothing.
    mutating func take() -> Flight {
        if let flight = spare.popLast() {
            spareByteCount -= flight.size.held
            flight.size.held = 0
            return flight
        }
        guard let (index, generation) = vacant.popLast() else {
            let flight = Flight(index: flights.count)
            flights.append(flight)
            return flight
        }
        let flight = Flight(index: index)
        flight.generation = generation
        flights[index] = flight
        return flight
    }

    /// Gives a flight back.
    mutating func release(_ flight: Flight) {
        guard flight.isActive else { return }
        flight.end()
        count(0, of: flight)
        let size = max(flight.size.held, Flight.emptyByteCount)
        guard size <= Self.largestSpare, spareByteCount + size <= mostSpareByteCount else { return drop(flight) }
        flight.size.held = size
        spareByteCount += size
        spare.append(flight)
    }

    /// Gives back all that carry nothing, and what is kept for calls.
    mutating func dropSpare() {
        for flight in spare { drop(flight) }
        spare = []
        spareByteCount = 0
        buffers = []
        if timers.count == 0 { timers = MomentHeap() }
    }

    private mutating func drop(_ flight: Flight) {
        flight.size.held = 0
        flights[flight.index] = none
        vacant.append((flight.index, flight.generation))
    }

    /// True if a burst is over, so that freed memory is given back to the system now.
    mutating func isRestDue(now: MonotonicTime) -> Bool { rest.isDue(served: servedByteCount, now: now) }

    /// Counts what a flight holds whose record was read.
    mutating func account(for flight: Flight) {
        let size = flight.byteCount
        servedByteCount += size
        flight.size.held = size
        count(size, of: flight)
    }

    /// Counts what a flight holds whose payloads were rendered, or of which another attempt has failed: the plan, the payloads, and the
    /// attempts with their texts too.
    mutating func accountForCalls(of flight: Flight) {
        flight.size.calls = flight.work.byteCount + flight.report.byteCount
        account(for: flight)
    }

    /// Counts a flight that waited in a delay lane, because it goes on now.
    mutating func count(_ flight: Flight) { count(flight.size.held, of: flight) }

    /// Counts a flight for the hub that it goes to now.
    mutating func moved(_ flight: Flight) { count(flight.size.counted.byteCount, of: flight) }

    /// Counts a flight no more, because it waits in a delay lane.
    mutating func discount(_ flight: Flight) { count(0, of: flight) }

    private mutating func count(_ size: Int, of flight: Flight) {
        byteCount += size - flight.size.counted.byteCount
        while byteCounts.count <= max(flight.route.port, flight.size.counted.port) { byteCounts.append(0) }
        byteCounts[flight.size.counted.port] -= flight.size.counted.byteCount
        byteCounts[flight.route.port] += size
        flight.size.counted = (size, flight.route.port)
    }

    subscript(index: Int) -> Flight { flights[index] }

    /// The flight of a call that waits, or nil when the call is in another phase now, or was given up.
    func flight(of entry: WaitingCall, in phase: Flight.Phase) -> Flight? {
        let flight = flights[entry.flight]
        let isPresent = flight.isActive && flight.generation == entry.generation
        return isPresent && flight.work.calls[entry.call].phase == phase ? flight : nil
    }

    /// The flight of a poll that waits for its turn, or nil when it does not any more.
    func flight(ofPoll entry: WaitingCall) -> Flight? {
        let flight = flights[entry.flight]
        return flight.isActive && flight.generation == entry.generation && flight.wait.poll?.phase == .ready ? flight : nil
    }

    /// The requests in work of the assignment `epoch`.
    func work(in epoch: Int) -> PartitionWork {
        var work = PartitionWork()
        for flight in flights where flight.isActive && flight.place.epoch == epoch {
            work.counts[flight.place.slot, default: 0] += 1
            if flight.place.offset < work.oldest[flight.place.slot]?.place.offset ?? .max {
                work.oldest[flight.place.slot] = flight
            }
        }
        return work
    }

    /// Wakes the loop for a call that waits.
    mutating func setTimer(of flight: Flight, call: Int, at due: MonotonicTime) {
        timers.add(WaitingCall(flight, call: call), at: due)
    }

    /// The end of the first wait.
    var nextTimer: MonotonicTime? { timers.first }

    /// The next call whose wait is over.
    mutating func nextDue(_ now: MonotonicTime) -> (flight: Flight, call: Int)? {
        while let entry = timers.removeDue(now) {
            if let flight = flight(of: entry, in: .waiting) { return (flight, entry.call) }
        }
        return nil
    }

    /// The ends of the first waits of the oldest requests, by their indices.
    func firstDue(of work: PartitionWork) -> [Int: MonotonicTime] { timers.firstDue(of: work.generations) }

    /// An empty buffer for the request of a call.
    mutating func takeBuffer() -> ByteWriter { buffers.popLast() ?? ByteWriter(capacity: 2048) }

    /// Keeps the room of a call that has ended for the next ones, unless `most` are kept: as many as may be in flight at once.
    mutating func keepBuffer(_ room: consuming [UInt8], most: Int) {
        if buffers.count < most, room.count <= Self.largestSpareBuffer { buffers.append(ByteWriter(reusing: room)) }
    }
}

/// The requests in work of each partition of an assignment, by slot.
struct PartitionWork {
    fileprivate(set) var counts: [Int: Int] = [:]
    /// The requests with the lowest offsets.
    fileprivate(set) var oldest: [Int: Flight] = [:]

    /// The generations of the oldest, by their indices in the pool.
    var generations: [Int: UInt32] {
        Dictionary(oldest.values.map { ($0.index, $0.generation) }) { first, _ in first }
    }
}

/// The number of an exchange: the call, its lane, and 15 bits of its flight's generation. So an answer to a request that was given up is
/// not taken for one to the request that has its place now.
struct ExchangeID {
    let number: Int

    init(_ flight: Flight, call: Int) {
        number = Int(flight.generation & 0x7FFF) << 48 | flight.index << 16 | flight.route.lane.rawValue << 14 | call
    }

    init(number: Int) { self.number = number }

    var flight: Int { number >> 16 & 0xFFFF_FFFF }
    /// The lane, one of four, so that 2 bits hold it.
    var lane: Int { number >> 14 & 0x3 }
    /// The number of the call. Calls per request are few, so that 14 bits hold it.
    var call: Int { number & 0x3FFF }

    /// True if the exchange belongs to what `flight` carries now.
    func belongs(to flight: Flight) -> Bool {
        flight.isActive && number >> 48 == Int(flight.generation & 0x7FFF) && call < flight.work.calls.count
            && flight.work.calls[call].phase == .inFlight
    }
}
