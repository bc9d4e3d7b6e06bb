import Basics
import Delivery
import TestSupport

/// Workers that share a limit by a log, on a clock of their own: with delays, pauses, deaths, and partitions that move.
struct FleetModel {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    /// How the log and the group behave.
    struct Conditions {
        /// Until an announcement is in the log, and until a member reads it there: 1 ms to this, milliseconds.
        var delay = 15
        /// How long after a rebalance began each member hears of it at the latest, milliseconds.
        var noticeWithin = 250
        /// How long nobody has partitions, milliseconds.
        var standstill = 150
        /// When partitions of a dead member go to others, milliseconds.
        var sessionTimeout = 10_000
        var partitionCount = 12
    }

    final class Worker {
        let number: Int
        var rate: RateLimit
        var isDead = false
        /// Takes part in the group.
        var isMember = true
        var owned = 0
        /// Does nothing until then.
        var stalledUntil: Int64 = 0
        var position = 0
        var readableAt: Int64 = 0
        var lastAppend: Int64 = 0
        /// Calls that there are to make per second; nil for more than it can.
        var demand: Int?
        var calls = 0
        var madeAt: Int64 = 0

        init(_ number: Int, _ rate: RateLimit) { (self.number, self.rate) = (number, rate) }
    }

    private(set) var now: Int64 = 0
    private(set) var workers: [Worker] = []
    /// When calls were made.
    private(set) var calls: [Int64] = []
    private var log: [(announcement: FleetShare.Announcement, at: Int64)] = []
    private var sent: [(announcement: FleetShare.Announcement, at: Int64)] = []
    private var plans: [(at: Int64, run: (inout FleetModel) -> Void)] = []
    private var limit: Int
    var conditions = Conditions()
    var random: SeededRandom

    init(limit: Int, seed: Int) {
        self.limit = limit
        random = SeededRandom(seed)
    }

    var living: [Worker] { workers.filter { !$0.isDead } }

    /// Does something at a moment.
    mutating func at(_ moment: Int64, _ run: @escaping (inout FleetModel) -> Void) {
        plans.append((moment, run))
    }

    @discardableResult
    mutating func join() -> Worker {
        let member = UInt64(workers.count + 1)
        let worker = Worker(workers.count, RateLimit(callsPerSecond: limit, member: member, now: .at(now)))
        worker.position = log.count
        workers.append(worker)
        rebalance()
        return worker
    }

    /// Stops a worker in order.
    mutating func leave() {
        guard let worker = living.randomElement(using: &random) else { return }
        send(worker.rate.leave(now: .at(now)), worker)
        worker.isDead = true
        worker.isMember = false
        rebalance()
    }

    mutating func kill() {
        guard let worker = living.randomElement(using: &random) else { return }
        worker.isDead = true
        at(now + Int64(conditions.sessionTimeout) * Self.millisecond) { model in
            worker.isMember = false
            model.rebalance()
        }
    }

    mutating func setLimit(_ limit: Int) {
        self.limit = limit
        for worker in living {
            at(now + Int64(random.below(2000)) * Self.millisecond) { model in
                worker.rate.setLimit(callsPerSecond: limit, now: .at(model.now))
            }
        }
    }

    /// Each member gives its partitions up when it hears of it; then all get theirs.
    private mutating func rebalance() {
        for worker in workers where worker.isMember {
            at(now + Int64(random.below(conditions.noticeWithin)) * Self.millisecond) { model in
                worker.owned = 0
            }
        }
        at(now + Int64(conditions.noticeWithin + conditions.standstill) * Self.millisecond) { model in
            let members = model.workers.filter(\.isMember)
            for (index, worker) in members.enumerated() {
                worker.owned = (model.conditions.partitionCount + members.count - 1 - index) / members.count
                if !worker.isDead { worker.rate.owns(worker.owned, now: .at(model.now)) }
            }
        }
    }

    /// Lets time pass until `end` in steps of `step`.
    mutating func run(until end: Int64, step: Int64 = millisecond, _ check: (FleetModel) -> Void = { _ in }) {
        while now < end {
            now += step
            if plans.contains(where: { $0.at <= now }) {
                let due = plans.filter { $0.at <= now }
                plans.removeAll { $0.at <= now }
                for plan in due { plan.run(&self) }
            }
            append()
            for worker in workers where !worker.isDead && worker.stalledUntil <= now { turn(worker) }
            check(self)
        }
    }

    private mutating func append() {
        guard sent.contains(where: { $0.at <= now }) else { return }
        for record in sent.filter({ $0.at <= now }).sorted(by: { $0.at < $1.at }) { log.append((record.announcement, now)) }
        sent.removeAll { $0.at <= now }
    }

    private mutating func send(_ announcement: FleetShare.Announcement, _ worker: Worker) {
        // A producer keeps its order.
        worker.lastAppend = max(worker.lastAppend + 1, now + delay())
        sent.append((announcement, worker.lastAppend))
    }

    private mutating func delay() -> Int64 { Int64(1 + random.below(conditions.delay)) * Self.millisecond }

    private mutating func turn(_ worker: Worker) {
        while worker.position < log.count {
            if worker.readableAt < log[worker.position].at { worker.readableAt = log[worker.position].at + delay() }
            guard worker.readableAt <= now else { break }
            worker.rate.heard(log[worker.position].announcement, offset: Int64(worker.position), now: .at(now))
            worker.position += 1
        }
        if .at(now) >= worker.rate.nextDue, let announcement = worker.rate.announcement(now: .at(now)) {
            send(announcement, worker)
        }
        makeCalls(worker)
    }

    /// Makes calls while there are any to make; a worker without partitions has none.
    private mutating func makeCalls(_ worker: Worker) {
        var waiting = worker.owned > 0
        if let demand = worker.demand { waiting = waiting && now - worker.madeAt >= Self.second / Int64(demand) }
        while waiting, worker.rate.hasCall(now: .at(now)) {
            worker.rate.started()
            worker.calls += 1
            calls.append(now)
            if let demand = worker.demand {
                worker.madeAt = max(worker.madeAt + Self.second / Int64(demand), now - Self.second)
                waiting = now - worker.madeAt >= Self.second / Int64(demand)
            }
        }
        worker.rate.noteWaiting(waiting, now: .at(now))
    }

    /// Parts of the limit that are in use by workers that do anything, by their rates.
    var rateInUse: Int64 { living.filter { $0.stalledUntil <= now }.reduce(0) { $0 + $1.rate.rate } }

    /// The fewest and the most calls per second in any window of `length` within a time, looked at every 100 ms.
    func extremes(over length: Int64, from start: Int64, to end: Int64) -> (fewest: Double, most: Double) {
        var (fewest, most) = (Double.infinity, 0.0)
        var (first, last) = (0, 0)
        for begin in stride(from: start, through: end - length, by: Int(100 * Self.millisecond)) {
            while first < calls.count, calls[first] < begin { first += 1 }
            while last < calls.count, calls[last] < begin + length { last += 1 }
            let rate = Double(last - first) * Double(Self.second) / Double(length)
            (fewest, most) = (min(fewest, rate), max(most, rate))
        }
        return (fewest, most)
    }
}
