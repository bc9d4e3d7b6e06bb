import Basics
import Delivery
import FanOut
import Payloads
import PushModel

/// One request in work, from the record to its final result, reused for the next request.
///
/// Belongs to the loop's thread. A class, so that the loop can hold thousands without moving them.
final class Flight {
    /// The state of one hub call.
    enum Phase {
        /// Waits for its turn. Goes to each of the others.
        case ready
        /// Handed to a connection. Goes to each of the others.
        case inFlight
        /// Waits for a timer. Goes to `ready`, or is over.
        case waiting
        /// Has its outcome. Goes nowhere.
        case done

        /// True if nothing of the call is in flight.
        var isWaiting: Bool { self == .ready || self == .waiting }
    }

    /// One hub call of the request.
    struct Call {
        private(set) var phase = Phase.ready
        /// The attempts made, the one in flight included.
        var attempt = 0
        /// True if an attempt ended without showing if the hub took it.
        var mayHaveArrived = false
        /// True if an attempt failed while calls of others succeeded: then what it shows is about the call, not about the hub.
        var failsAlone = false
        /// The role of the attempt in flight for the hub's circuit breaker.
        var circuitCall: CircuitBreaker.Call?
        /// The index of the payload that it sends, among the flight's.
        var payload = 0
        /// The number of the token that the attempt in flight was signed with.
        var tokenSerial: UInt64 = 0
        /// The moment when the wait for the next attempt is over, monotonic nanoseconds.
        var due = MonotonicTime.past
        /// The moment before which the next attempt must not be made, where it is known by the wall clock.
        var notBefore: Timestamp?
        /// The beginning of the attempt in flight: monotonic nanoseconds, and wall clock.
        var startedAt = MonotonicTime.past
        var startedAtWall = Timestamp(milliseconds: 0)

        /// Enters a phase.
        ///
        /// - Returns: The change of the number of calls that wait for a timer: -1, 0 or 1. The hub's port counts them.
        mutating func enter(_ new: Phase) -> Int {
            defer { phase = new }
            return (new == .waiting ? 1 : 0) - (phase == .waiting ? 1 : 0)
        }

        /// Goes on, before anything was done for the call, with the state that an earlier record has of it.
        mutating func resume(_ state: DeliveryHistory.CallState, attempts: Int) {
            attempt = attempts
            mayHaveArrived = state.mayHaveArrived
            notBefore = state.due
            if state.due == nil { phase = .done }
        }
    }

    /// The flight's index in the pool.
    let index: Int
    /// Counts the requests that the flight has carried. It marks timers of former ones.
    var generation: UInt32 = 0
    /// True while the flight carries a request.
    var isActive = false
    /// The assignment that the record came with.
    var epoch = 0
    /// The partition's slot in that assignment.
    var slot = 0
    /// The lane whose queue its calls wait in.
    var lane = Lane.normal
    /// In whose queue of the lane they wait.
    var tenant = TenantID.none
    /// The hub that its calls go to, by its number among the loop's.
    var port = 0
    /// The spread to whose hubs its parts go, by number, when it goes to several.
    var spread: Int?
    /// The reason that it goes to no hub, if it does not.
    var routeFault: HubRouter.Fault?
    /// The ordering key whose turn it is. The next request of the key waits for this one's end.
    var key: RequestIdentity?
    /// The place of the record with which the request was published.
    var origin = RecordOrigin(topic: "", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
    /// The offset of the record that holds it now, which is another one when the request comes from a delay lane.
    var offset: Int64 = 0
    /// The bytes of the record's value.
    var valueByteCount = 0
    /// The memory that the flight takes with its request, about.
    fileprivate(set) var heldByteCount = 0
    /// The part of that which its calls take, those of the requests before this one too: their room is kept.
    private var callsByteCount = 0
    /// The part that the pool counts, and the hub for which it does.
    fileprivate(set) var counted = (byteCount: 0, port: 0)
    /// The record's key and headers.
    var envelope = RecordEnvelope()
    /// The data of the record, for a request that comes from a delay lane.
    var delayed: DelayedRecord?
    /// The call whose outcome must be polled, when the record holds one instead of a request.
    var poll: OutcomePoll?
    /// True if it is to make room for what was read behind it.
    var mustDefer = false
    /// True if a call was made since the record was read.
    var wasSent = false
    /// The cancellation of the request, if there is one: then no call is begun any more.
    var cancellation: Cancellations.Cancellation?
    /// The moment when the record was taken, monotonic nanoseconds.
    var receivedAt = MonotonicTime.past
    var request = PushRequest()
    var plan = FanOutPlan()
    var report = DeliveryReport()
    var calls: [Call] = []
    /// Calls without an outcome.
    var openCalls = 0
    /// The rendered payloads. The first `payloadCount` belong to this request.
    var payloads: [RenderedPayload] = []
    var payloadCount = 0
    /// The dead letter of a record that cannot be understood and must wait for the window, or an empty one for a record of
    /// another group.
    var deadLetter: OutcomeBatch?

    init(index: Int) { self.index = index }

    /// Gets the flight ready for the next record.
    func begin(epoch: Int, slot: Int, lane: Lane = .normal, origin: RecordOrigin, now: Timestamp, monotonic: MonotonicTime) {
        generation &+= 1
        isActive = true
        self.epoch = epoch
        self.slot = slot
        self.lane = lane
        tenant = .none
        port = 0
        spread = nil
        routeFault = nil
        key = nil
        self.origin = origin
        offset = origin.offset
        envelope.removeAll()
        delayed = nil
        poll = nil
        mustDefer = false
        wasSent = false
        cancellation = nil
        receivedAt = monotonic
        report.removeAll()
        report.consumedAt = now
        calls.removeAll(keepingCapacity: true)
        openCalls = 0
        payloadCount = 0
        valueByteCount = 0
        deadLetter = nil
    }

    /// The bytes of a flight that carries nothing, with the heads of its lists: 2 KiB.
    static let emptyByteCount = 2048

    /// Forgets what no other request uses again.
    fileprivate func forget() {
        delayed = nil
        poll = nil
        deadLetter = nil
    }

    /// The memory that it takes with its request, about: the text, which is read into as much again, the list of its values, what the
    /// record has beside, and what its calls take.
    fileprivate var byteCount: Int {
        let texts = max(2 * valueByteCount, request.document.textByteCount) + envelope.roomByteCount
        let waiting = (delayed.map { 2 * $0.text.count + 1024 } ?? 0) + (deadLetter?.byteCount ?? 0)
        return Self.emptyByteCount + texts + request.document.valuesByteCount + waiting + callsByteCount
    }

    /// Measures what its calls take beside that: the plan, the rendered payloads, and the attempts with their texts. It is the room of
    /// lists that the next request uses again.
    fileprivate func measureCalls() {
        callsByteCount = plan.byteCount + report.byteCount + calls.capacity * MemoryLayout<Call>.stride
        for index in payloads.indices { callsByteCount += payloads[index].byteCount }
    }

    /// The time to check the record again that the flight has from a delay lane.
    var recheckTime: Timestamp? { delayed?.recheckTime ?? poll?.recheckTime }

    /// The time of that record.
    var writtenAt: Timestamp? { delayed?.writtenAt ?? poll?.writtenAt }

    /// The time when it is due, by that record.
    var due: Timestamp? { delayed?.due ?? poll?.due }

    /// The time since which the request could have been sent. A dead letter counts from its publication, one of another group never.
    var waitingSince: Timestamp {
        guard let deadLetter else {
            return WaitingSince.moment(published: origin.timestamp, notBefore: request.notBefore, due: due)
        }
        return deadLetter.records.isEmpty ? Timestamp(milliseconds: .max) : origin.timestamp
    }

    /// True if a call of the flight is with a connection.
    var hasCallInFlight: Bool { calls.contains { $0.phase == .inFlight } }
}

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

    /// The flights that carry a request.
    var activeCount: Int { flights.count - spare.count - vacant.count }

    /// True if another request may be in work.
    var hasRoom: Bool { activeCount < Self.maximumCount }

    /// A flight that carries nothing.
    mutating func take() -> Flight {
        if let flight = spare.popLast() {
            spareByteCount -= flight.heldByteCount
            flight.heldByteCount = 0
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
        flight.isActive = false
        flight.generation &+= 1
        count(0, of: flight)
        flight.forget()
        let size = max(flight.heldByteCount, Flight.emptyByteCount)
        guard size <= Self.largestSpare, spareByteCount + size <= mostSpareByteCount else { return drop(flight) }
        flight.heldByteCount = size
        spareByteCount += size
        spare.append(flight)
    }

    /// Gives back all that carry nothing.
    mutating func dropSpare() {
        for flight in spare { drop(flight) }
        spare = []
        spareByteCount = 0
    }

    private mutating func drop(_ flight: Flight) {
        flight.heldByteCount = 0
        flights[flight.index] = none
        vacant.append((flight.index, flight.generation))
    }

    /// True if a burst is over, so that freed memory is given back to the system now.
    mutating func isRestDue(now: MonotonicTime) -> Bool { rest.isDue(served: servedByteCount, now: now) }

    /// Counts what a flight holds whose record was read.
    mutating func account(for flight: Flight) {
        let size = flight.byteCount
        servedByteCount += size
        flight.heldByteCount = size
        count(size, of: flight)
    }

    /// Counts what a flight holds whose payloads were rendered, or of which another attempt has failed.
    mutating func accountForCalls(of flight: Flight) {
        flight.measureCalls()
        account(for: flight)
    }

    /// Counts a flight that waited in a delay lane, because it goes on now.
    mutating func count(_ flight: Flight) { count(flight.heldByteCount, of: flight) }

    /// Counts a flight for the hub that it goes to now.
    mutating func moved(_ flight: Flight) { count(flight.counted.byteCount, of: flight) }

    /// Counts a flight no more, because it waits in a delay lane.
    mutating func discount(_ flight: Flight) { count(0, of: flight) }

    private mutating func count(_ size: Int, of flight: Flight) {
        byteCount += size - flight.counted.byteCount
        while byteCounts.count <= max(flight.port, flight.counted.port) { byteCounts.append(0) }
        byteCounts[flight.counted.port] -= flight.counted.byteCount
        byteCounts[flight.port] += size
        flight.counted = (size, flight.port)
    }

    subscript(index: Int) -> Flight { flights[index] }
}

/// One call of one flight, as the number under which a connection knows it.
struct CallID: Equatable {
    var flight: Int
    var call: Int
}

/// The number of an exchange: the call, its lane, and 15 bits of its flight's generation. So an answer to a request that was given up is
/// not taken for one to the request that has its place now.
struct ExchangeID {
    let number: Int

    init(_ flight: Flight, call: Int) {
        number = Int(flight.generation & 0x7FFF) << 48 | flight.index << 16 | flight.lane.rawValue << 14 | call
    }

    init(number: Int) { self.number = number }

    var flight: Int { number >> 16 & 0xFFFF_FFFF }
    /// The lane, one of four, so that 2 bits hold it.
    var lane: Int { number >> 14 & 0x3 }
    /// The number of the call. Calls per request are few, so that 14 bits hold it.
    var call: Int { number & 0x3FFF }

    /// True if the exchange belongs to what `flight` carries now.
    func belongs(to flight: Flight) -> Bool {
        flight.isActive && number >> 48 == Int(flight.generation & 0x7FFF) && call < flight.calls.count
            && flight.calls[call].phase == .inFlight
    }
}
