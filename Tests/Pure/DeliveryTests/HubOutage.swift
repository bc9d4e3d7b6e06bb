import Basics
import Delivery
import TestSupport

/// A worker with a circuit breaker and a hub that is out for a while, on a clock of their own.
struct HubOutage {
    /// What the hub does to a call.
    enum Answer {
        case success, failure
        /// The call fails when its time is over.
        case hang
        /// The answer comes when its time is almost over.
        case slow
    }

    private struct Flight {
        let call: CircuitBreaker.Call
        let end: Int64
        let isFailure: Bool
    }

    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    private(set) var breaker: CircuitBreaker
    private(set) var now: Int64 = 0
    /// When calls were started.
    private(set) var starts: [Int64] = []
    private(set) var openedAt: Int64?
    private(set) var closedAt: Int64?
    private var flights: [Flight] = []
    private var random: SeededRandom
    private let limit: Int
    private let latency: Int64
    private let timeout: Int64

    init(seed: Int, limit: Int = 16, latency: Int64 = millisecond, timeout: Int64 = 10 * second) {
        breaker = CircuitBreaker()
        random = SeededRandom(seed)
        self.limit = limit
        self.latency = latency
        self.timeout = timeout
    }

    /// Starts as many calls as it may until `end`, or until the circuit closes again; `answer` says what the hub does at a moment.
    mutating func run(until end: Int64, _ answer: (Int64, inout SeededRandom) -> Answer) {
        let isClosed = breaker.state == .closed
        while now < end && (isClosed || breaker.state != .closed) {
            endCalls()
            while flights.count < limit && breaker.mayStart(now: .at(now)) { start(answer(now, &random)) }
            let wakeUps = flights.map(\.end) + [end] + (flights.count < limit ? [breaker.nextChange?.nanoseconds ?? end] : [])
            now = max(now + 1, wakeUps.min() ?? end)
        }
    }

    private mutating func start(_ answer: Answer) {
        starts.append(now)
        let duration =
            switch answer {
            case .success, .failure: latency / 2 + Int64(random.below(Int(latency)))
            case .hang: timeout
            case .slow: timeout - latency
            }
        let isFailure = answer == .failure || answer == .hang
        flights.append(Flight(call: breaker.started(now: .at(now)), end: now + duration, isFailure: isFailure))
    }

    private mutating func endCalls() {
        for flight in flights where flight.end <= now {
            let isClosed = breaker.state == .closed
            if flight.isFailure {
                breaker.noteFailure(flight.call, now: .at(now), using: &random)
            } else {
                breaker.succeeded(flight.call, now: .at(now))
            }
            if isClosed && breaker.state != .closed { openedAt = now }
            if !isClosed && breaker.state == .closed { closedAt = now }
        }
        flights.removeAll { $0.end <= now }
    }

    /// The most calls started within any second from `start` to before `end`.
    func mostInASecond(from start: Int64, to end: Int64) -> Int {
        let moments = starts.filter { $0 >= start && $0 < end }
        var most = 0
        var first = 0
        for last in moments.indices {
            while moments[last] - moments[first] >= Self.second { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }
}
