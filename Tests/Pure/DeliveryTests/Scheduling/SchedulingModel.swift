import Delivery
import PushModel
import TestSupport

/// Requests with keys, tenants and times, of a few partitions, and workers that share them and die: what must hold whatever happens.
///
/// - Of a key one request is in flight at a time, in the order of publishing.
/// - Each request has one result, after as many attempts at each of its calls as that needs, and those that nobody could know of. So no
///   call that is done is made again, whoever has the request then, and each is told with its attempts.
/// - None is sent before its time. When nothing more happens, none waits.
/// - A tenant is held up by its own calls alone, and its requests keep their order.
/// - What is held is written again in time, and what is said is said once.
struct SchedulingModel {
    struct Setting: CustomStringConvertible {
        var partitions = 2
        var workers = 2
        var lanes = [0, 1]
        /// The partitions whose topic of held requests lacks theirs.
        var missing: Set<Int> = []
        var description: String { "\(partitions) partitions, \(workers) workers, lanes \(lanes), missing \(missing)" }
    }

    struct Step: ShrinkableStep, CustomStringConvertible {
        enum Kind {
            case publish, turn, send, complete, commit, reject, pass, wait, cancel, displace, moveAside, crash, restart,
                rebalance, hold, release
        }
        var kind: Kind
        var who: Int
        var value: Int
        var description: String { "\(kind) \(who) \(value)" }
        var simpler: [Step] { [0, 1, 2, 5, 127].filter { $0 < value }.map { Step(kind: kind, who: who, value: $0) } }
    }

    struct Counts {
        var behindKeys = 0, buffered = 0, held = 0, delayed = 0, handedOn = 0, relieved = 0, relocated = 0, renewed = 0,
            deferred = 0, handedOver = 0, refused = 0, keptBack = 0, swept = 0
        var rejected = 0, notices = 0, crashes = 0

        static func += (left: inout Counts, right: Counts) {
            for field in fields { left[keyPath: field] += right[keyPath: field] }
        }

        static var fields: [WritableKeyPath<Counts, Int>] {
            [
                \.behindKeys, \.buffered, \.held, \.delayed, \.handedOn, \.relieved, \.relocated, \.renewed, \.deferred,
                \.handedOver, \.refused, \.keptBack, \.swept, \.rejected, \.notices, \.crashes,
            ]
        }
    }

    private let setting: Setting
    private var broker = SchedulingBroker()
    private var workers: [SchedulingWorker]
    private var crashes = 0

    private init(_ setting: Setting, _ sabotage: SchedulingWorker.Sabotage) {
        self.setting = setting
        workers = (0..<setting.workers).map { _ in SchedulingWorker(sabotage, lanes: setting.lanes) }
        assign(0)
    }

    static func setting(using random: inout SeededRandom) -> Setting {
        Setting(
            partitions: 1 + random.below(3), workers: 1 + random.below(3),
            lanes: [[], [0], [0, 1], [1], [0, 1, 2, 3]][random.below(5)],
            missing: random.below(5) == 0 ? [0] : [])
    }

    static func steps(_ count: Int, using random: inout SeededRandom) -> [Step] {
        let moves = random.below(3)
        let weights: [(Step.Kind, Int)] = [
            (.publish, [20, 40, 80][random.below(3)]), (.turn, 60), (.send, [30, 60][random.below(2)]),
            (.complete, [30, 60][random.below(2)]),
            (.commit, 40), (.reject, random.below(3)), (.pass, 20), (.wait, random.below(3)), (.cancel, random.below(4)),
            (.displace, 2 * random.below(2)), (.moveAside, 3 * random.below(2)), (.crash, moves), (.restart, 4),
            (.rebalance, moves), (.hold, 2 * random.below(2)), (.release, 2),
        ]
        let kinds = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
        return (0..<count).map { _ in
            Step(kind: kinds[random.below(kinds.count)], who: random.below(12), value: random.below(1 << 24))
        }
    }

    /// Plays steps, and then what is left until nothing more happens.
    ///
    /// - Returns: What is wrong, or nil, and what has come up.
    static func play(
        _ steps: [Step], in setting: Setting, _ sabotage: SchedulingWorker.Sabotage = .none
    ) -> (fault: String?, counts: Counts) {
        var model = SchedulingModel(setting, sabotage)
        var fault: String?
        for step in steps where fault == nil {
            model.take(step)
            fault = model.workers.lazy.compactMap(\.fault).first
        }
        fault = fault ?? model.rest()
        var counts = Counts()
        for worker in model.workers { counts += worker.counts }
        counts.crashes = model.crashes
        return (fault, counts)
    }

    private mutating func take(_ step: Step) {
        let who = step.who % workers.count
        switch step.kind {
        case .publish: publish(step.value)
        case .turn: workers[who].turn(&broker, value: step.value)
        case .send: send(who, value: step.value)
        case .complete: workers[who].complete(&broker, value: step.value)
        case .commit: workers[who].commit(&broker)
        case .reject: workers[who].commit(&broker, rejecting: step.value)
        case .pass: broker.now = broker.now.adding(milliseconds: [20, 500, 3000, 11_000][step.value % 4])
        case .wait: broker.now = broker.now.adding(milliseconds: [61_000, 700_000, 3_600_000][step.value % 3])
        case .cancel:
            if !broker.requests.isEmpty { broker.requests[step.value % broker.requests.count].isCancelled = true }
        case .displace: workers[who].displace()
        case .moveAside: workers[who].moveAside(&broker)
        case .crash:
            guard workers[who].isAlive else { return }
            crashes += 1
            workers[who].die(&broker)
            assign(step.value)
        case .restart:
            guard !workers[who].isAlive else { return }
            workers[who].restart()
            assign(step.value)
        case .rebalance: assign(step.value)
        case .hold: broker.hold(tenant: step.value % 3, for: [5000, 40_000, 700_000, 3_600_000][step.value / 3 % 4])
        case .release: broker.releaseHold()
        }
    }

    private mutating func send(_ who: Int, value: Int) {
        let flying = Set(workers.flatMap(\.requestsInFlight))
        workers[who].send(&broker, value: value, others: flying)
    }

    /// Some have keys, most of those the same few; one tenant publishes most; some have a time, and some fail now and then.
    private mutating func publish(_ value: Int) {
        let partition = value % setting.partitions
        let waits: [Int64] = [0, 0, 0, 0, 2000, 15_000, 90_000, 100_000_000]
        // Most have one call. What is done of the others ends at their first attempt.
        let failures = [[0, 0, 1, 3][value / 8192 % 4]] + Array(repeating: 0, count: [0, 0, 1, 2][value / 98_304 % 4])
        let none = failures.map { _ in 0 }
        broker.publish(
            .init(
                partition: partition, offset: broker.records(at: .requests(partition)).end, publishedAt: broker.now,
                key: value / 4 % 3 > 0 ? value / 16 % 3 : nil, tenant: value / 64 % 4 == 0 ? value / 256 % 3 : 0,
                notBefore: broker.now.adding(milliseconds: waits[value / 1024 % 8]), failures: failures,
                wait: [1000, 12_000, 70_000][value / 32_768 % 3], attempts: none, forgotten: none))
    }

    /// Divides the partitions among those who live; of one of requests and of what is held of it the owner is the same.
    private mutating func assign(_ value: Int) {
        for who in workers.indices where workers[who].isAlive { workers[who].leave(&broker) }
        let alive = workers.indices.filter { workers[$0].isAlive }
        guard !alive.isEmpty else { return }
        var places: [Int: [SchedulingBroker.Place]] = [:]
        for number in 0..<setting.partitions {
            let owner = alive[(number + value) % alive.count]
            places[owner, default: []] += [.requests(number)]
            if !setting.missing.contains(number) { places[owner, default: []] += [.held(number)] }
        }
        for lane in setting.lanes { places[alive[(lane + value / 8) % alive.count], default: []] += [.delay(lane)] }
        for (who, places) in places { workers[who].begin(places, at: broker) }
    }

    /// Lets everything have its end.
    private mutating func rest() -> String? {
        // Else nobody begins again: what lies in memory has its end from there.
        if workers.contains(where: { !$0.isAlive }) {
            for who in workers.indices where !workers[who].isAlive { workers[who].restart() }
            assign(0)
        }
        if let fault = endHold() { return fault }
        for round in 0..<4000 {
            if let fault = playRound() { return fault }
            if broker.requests.allSatisfy({ $0.results == 1 }), broker.logs.values.allSatisfy(\.records.isEmpty) {
                return faultOfAttempts()
            }
            broker.now = broker.now.adding(milliseconds: round % 8 == 0 ? 1_000_000 : 11_000)
        }
        let left = broker.requests.first { $0.results == 0 }
        return left.map { "\($0) never has a result" } ?? "a record is never finished"
    }

    /// Lets each worker do all that it can at this moment.
    private mutating func playRound() -> String? {
        for who in workers.indices {
            workers[who].turn(&broker, value: 127)
            for value in 0..<4 { send(who, value: value) }
            while !workers[who].requestsInFlight.isEmpty { workers[who].complete(&broker, value: 0) }
            workers[who].commit(&broker)
            if let fault = workers[who].fault { return fault }
        }
        return nil
    }

    /// Releases what is held. What waits in a lane for that alone has its end within two minutes.
    private mutating func endHold() -> String? {
        broker.releaseHold()
        let lanes = setting.lanes.flatMap { broker.records(at: .delay($0)).records.values.map(\.request) }
        let awaited = lanes.filter { number in
            let request = broker.requests[number]
            return request.key == nil && request.failures.allSatisfy { $0 == 0 } && request.notBefore <= broker.now
                && !request.wasDeferred && request.results == 0
        }
        for _ in 0..<40 {
            if let fault = playRound() { return fault }
            broker.now = broker.now.adding(milliseconds: 3000)
        }
        return awaited.first { broker.requests[$0].results == 0 }.map { "\(broker.requests[$0]) waits although it is released" }
    }

    private func faultOfAttempts() -> String? {
        for request in broker.requests where !request.isCancelled && !request.hasDeadLetter && !request.isCut {
            let known = zip(request.attempts, request.forgotten).map { $0 - $1 }
            let wanted = request.failures.map { $0 + 1 }
            if known != wanted { return "\(request) has \(known) of \(wanted)" }
        }
        return nil
    }
}
