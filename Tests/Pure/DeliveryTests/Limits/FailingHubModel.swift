import Basics
import Delivery
import TestSupport

/// Workers with limits of their own and requests that are tried again, and a hub that fails in part, on a clock of their own.
struct FailingHubModel {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    /// How a call ends.
    enum Ending {
        case success
        /// Status 500, as soon as an answer would come.
        case error
        /// The connection breaks as soon as an answer would come.
        case reset
        /// Nothing comes until the time is over.
        case hang
        /// Status 429 with a `Retry-After` of one second.
        case refusal
    }

    /// How a hub is at a moment.
    struct Hub {
        /// How long it works on a call, from half of it to one and a half, nanoseconds.
        var work = 50 * FailingHubModel.millisecond
        /// The share of calls that it loses by chance, and how.
        var lost = 0.0
        var kinds: [Ending] = [.error, .reset, .hang]
        /// Calls in flight from which on it answers errors.
        var capacity = Int.max
        /// Calls that it works on at once; more wait for their turn.
        var places = Int.max
        /// Calls per second that it accepts; it refuses more.
        var quota: Int?
        /// How every call ends.
        var all: Ending?
    }

    struct Request {
        /// Whether it always gets an error.
        var isBad = false
        var attempt = 0
        var startedAt: Int64 = 0
        var failsAlone = false
        var arrivedAt: Int64 = 0
    }

    struct Worker {
        var limits = HubLimits(concurrency: ConcurrencyLimit(most: 64))
        var queue: [Request] = []
        var nextArrival: Int64 = 0
    }

    private struct Call {
        let worker: Int
        let request: Request
        let circuit: CircuitBreaker.Call
        let end: Int64
        let ending: Ending
    }

    private(set) var now: Int64 = 0
    private(set) var workers: [Worker]
    /// When calls were started, when they succeeded, and when requests that always fail were given up.
    private(set) var starts: [Int64] = []
    private(set) var successes: [Int64] = []
    private(set) var badEnds: [Int64] = []
    /// How long requests took from their arrival to their end, nanoseconds.
    private(set) var durations: [Int64] = []
    /// What a failed expectation shows: every second the time and of each worker limit, calls in flight, loss estimate, circuit, queue.
    private(set) var trace = ""
    /// Requests per second that all workers get.
    var offered = 150
    /// More requests than that do not wait at a worker.
    var longestQueue = 200

    private var calls: [Call] = []
    private var retries: [(due: Int64, worker: Int, request: Request)] = []
    private var freeAt: [Int64] = []
    private var quotaLevel = 0.0
    private var quotaAt: Int64 = 0
    private var nextTrace: Int64 = 0
    private var random: SeededRandom
    private let timeout: Int64
    private let schedule = RetrySchedule()

    init(workers: Int = 3, seed: Int, timeout: Int64 = 2 * second) {
        self.workers = (0..<workers).map { _ in Worker() }
        self.timeout = timeout
        random = SeededRandom(seed)
    }

    /// Gives a worker requests; `isBad` says which of them always fail, by number.
    mutating func add(_ count: Int, to worker: Int, isBad: (Int) -> Bool) {
        for number in 0..<count { workers[worker].queue.append(Request(isBad: isBad(number), arrivedAt: now)) }
    }

    /// The requests that have no end yet.
    var openCount: Int { calls.count + retries.count + workers.reduce(0) { $0 + $1.queue.count } }

    /// Half of the requests that have an end took less, nanoseconds.
    var medianDuration: Int64 { durations.isEmpty ? .max : durations.sorted()[durations.count / 2] }

    /// Lets time pass until `end`.
    mutating func run(until end: Int64, _ hub: (Int64) -> Hub) {
        while now < end {
            let present = hub(now)
            endCalls()
            takeRequests()
            for worker in workers.indices { startCalls(of: worker, present) }
            note()
            now = min(end, max(now + Self.millisecond, nextEvent))
        }
    }

    private var nextEvent: Int64 {
        var next = now + 20 * Self.millisecond
        for call in calls { next = min(next, call.end) }
        for retry in retries { next = min(next, retry.due) }
        if offered > 0 { for worker in workers { next = min(next, worker.nextArrival) } }
        return next
    }

    private mutating func takeRequests() {
        for index in retries.indices.reversed() where retries[index].due <= now {
            let retry = retries.remove(at: index)
            workers[retry.worker].queue.append(retry.request)
        }
        guard offered > 0 else { return }
        let interval = Self.second * Int64(workers.count) / Int64(offered)
        for worker in workers.indices {
            while workers[worker].nextArrival <= now {
                if workers[worker].queue.count < longestQueue {
                    workers[worker].queue.append(Request(arrivedAt: workers[worker].nextArrival))
                }
                workers[worker].nextArrival += interval / 2 + Int64(random.below(Int(interval)))
            }
        }
    }

    private mutating func startCalls(of worker: Int, _ hub: Hub) {
        var passedOver = 0
        while !workers[worker].queue.isEmpty, workers[worker].limits.mayStart(now: .at(now)) {
            var request = workers[worker].queue.removeFirst()
            let limits = workers[worker].limits
            if limits.failsAlone(attempt: request.attempt, startedAt: .at(request.startedAt)) { request.failsAlone = true }
            if limits.isUnfitAsProbe(attempt: request.attempt), passedOver < workers[worker].queue.count {
                passedOver += 1
                workers[worker].queue.append(request)
                continue
            }
            request.attempt += 1
            request.startedAt = now
            let (end, ending) = answer(to: request, hub)
            let call = workers[worker].limits.started(now: .at(now))
            calls.append(Call(worker: worker, request: request, circuit: call, end: end, ending: ending))
            starts.append(now)
        }
    }

    private mutating func answer(to request: Request, _ hub: Hub) -> (end: Int64, ending: Ending) {
        let work = hub.work / 2 + Int64(random.below(Int(hub.work)))
        if let ending = hub.all { return (now + (ending == .hang ? timeout : work), ending) }
        if request.isBad || calls.count >= hub.capacity { return (now + work, .error) }
        if let quota = hub.quota, !accepts(quota) { return (now + work, .refusal) }
        if Double.random(in: 0..<1, using: &random) < hub.lost, let kind = hub.kinds.randomElement(using: &random) {
            return (now + (kind == .hang ? timeout : work), kind)
        }
        guard hub.places < .max else { return (now + work, .success) }
        freeAt.removeAll { $0 <= now }
        freeAt.sort()
        let begin = freeAt.count >= hub.places ? freeAt[freeAt.count - hub.places] : now
        freeAt.append(begin + work)
        return begin + work - now < timeout ? (begin + work, .success) : (now + timeout, .hang)
    }

    private mutating func accepts(_ quota: Int) -> Bool {
        let brought = Double(now - quotaAt) * Double(quota) / Double(Self.second)
        quotaLevel = min(quotaLevel + brought, Double(quota) / 4)
        quotaAt = now
        guard quotaLevel >= 1 else { return false }
        quotaLevel -= 1
        return true
    }

    private mutating func endCalls() {
        let ended = calls.filter { $0.end <= now }.sorted { $0.end < $1.end }
        guard !ended.isEmpty else { return }
        calls.removeAll { $0.end <= now }
        for call in ended { end(call) }
    }

    private mutating func end(_ call: Call) {
        let worker = call.worker
        let isFailure = call.ending == .error || call.ending == .reset || call.ending == .hang
        workers[worker].limits.noteEnd(startedAt: .at(call.request.startedAt))
        workers[worker].limits.noteEnd(startedAt: .at(call.request.startedAt), now: .at(now), isLost: call.ending != .success)
        if isFailure {
            workers[worker].limits.circuit.noteFailure(
                call.circuit, isOwnFault: call.request.failsAlone, now: .at(now), using: &random)
        } else {
            workers[worker].limits.circuit.succeeded(call.circuit, now: .at(now))
        }
        let isRefusal = call.ending == .refusal
        if call.ending == .success || call.ending == .error || isRefusal {
            let isWhole = workers[worker].limits.answered(isRefusal: isRefusal, now: .at(now))
            if isWhole { workers[worker].limits.pause.asked(for: 1000, now: .at(now)) }
        }
        if call.ending == .success { successes.append(now) }
        // What may have reached its devices is not tried again.
        if call.ending == .error || isRefusal {
            again(call.request, worker, floor: isRefusal ? 1000 : 0)
        } else {
            durations.append(now - call.request.arrivedAt)
        }
    }

    private mutating func again(_ request: Request, _ worker: Int, floor: Int64) {
        let decision = schedule.next(
            afterAttempt: request.attempt, floor: floor, now: .at(now / Self.millisecond), using: &random)
        if case .retry(let wait) = decision {
            retries.append((now + wait * Self.millisecond, worker, request))
        } else {
            durations.append(now - request.arrivedAt)
            if request.isBad { badEnds.append(now) }
        }
    }

    private mutating func note() {
        guard now >= nextTrace else { return }
        nextTrace = now + Self.second
        trace += "\n\(now / Self.second) s"
        for worker in workers {
            let limits = worker.limits
            let loss = Mirror(reflecting: limits.concurrency).descendant("loss", "share") as? Double ?? 0
            trace += " | limit \(limits.concurrency.limit), in flight \(limits.inFlight), loss \(Int(loss * 100)) %, "
            trace += "\(limits.circuit.state), waiting \(worker.queue.count)"
        }
    }

    /// How many of `moments` lie from `start` to before `end`.
    static func count(_ moments: [Int64], from start: Int64, to end: Int64) -> Int {
        moments.count { $0 >= start && $0 < end }
    }

    /// Successes per second from `start` to before `end`.
    func goodput(from start: Int64, to end: Int64) -> Double {
        Double(Self.count(successes, from: start, to: end)) * Double(Self.second) / Double(end - start)
    }
}
