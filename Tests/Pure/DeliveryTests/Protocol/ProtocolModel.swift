import Delivery
import TestSupport

/// Workers on a broker, and everything that can happen to them; the broker judges.
struct ProtocolModel {
    /// One thing that happens; `who` and `value` choose where or how much.
    struct Step: ShrinkableStep, CustomStringConvertible {
        enum Kind: CaseIterable {
            // The input.
            case append, gap, delete, grow
            // Time passes.
            case pass
            // A worker goes on.
            case receive, reachEnd, begin, finish, tick, offer, publish, commit, heartbeat, start
            // A topic takes nothing for a while.
            case reject, accept
            // A transaction goes wrong, or its end is not heard of.
            case abort, fillTimeout, answerLost, requestLost, requestLate, commitPrepared, arrive, transactionTimeout
            // A committer hangs.
            case replaceCommitter
            // Workers come and go.
            case rebalance, drainSlowly, askToStop, crash, restart, replace, stall, wake, sessionTimeout
        }
        var kind: Kind
        var who: Int
        var value: Int
        var description: String { "\(kind) \(who) \(value)" }
        var simpler: [Step] {
            var steps: [Step] = []
            for smallValue in [0, 1, 2, 3, 5, value] where smallValue <= value {
                for smallWho in 0..<6 where smallWho <= who { steps.append(Step(kind: kind, who: smallWho, value: smallValue)) }
            }
            return steps
        }
    }

    /// What a history takes place in.
    struct Setting: CustomStringConvertible {
        var window = 16
        var partitions = 2
        var slots = 2
        var isStatic = true
        /// No more records are written while so many have no result.
        var backlog = 60
        /// How many records each partition has before the first worker comes.
        var firstCount = 0
        /// Where partitions begin in which the group has no position.
        var rule = StartRule.beginning
        /// Up to how many bits brokers take positions with maps of finished offsets.
        var longestMap = Int.max
        /// Whether there are results that brokers never take.
        var mayBeRejected = false
        /// Whether an operator begins the group again before the end.
        var isRestarted = false
        var description: String {
            let membership = isStatic ? "static" : "dynamic"
            let maps = longestMap == .max ? "all maps" : "maps of \(longestMap) bits"
            let rejections = mayBeRejected ? "some results are never taken" : "all results are taken"
            return "window \(window), \(partitions) partitions, \(slots) workers, \(membership) membership, "
                + "rule \(rule) for \(firstCount), "
                + "\(maps), \(rejections)\(isRestarted ? ", the group is begun again" : "")"
        }
    }

    private let setting: Setting
    private let terms: ModelWorker.Terms
    private(set) var broker: ModelBroker
    /// Every process that is alive: the one in charge of each slot, and those that do not know that they were replaced.
    private var processes: [ModelWorker] = []
    private var current: [ModelWorker?]

    init(_ setting: Setting, _ sabotage: ModelWorker.Sabotage = .none) {
        self.setting = setting
        terms = ModelWorker.Terms(rule: setting.rule, sabotage: sabotage, checksForUnread: setting.isStatic)
        broker = ModelBroker(
            partitions: setting.partitions, slots: setting.slots, isStatic: setting.isStatic, longestMap: setting.longestMap)
        current = Array(repeating: nil, count: setting.slots)
        for partition in 0..<setting.partitions { broker.append(setting.firstCount, to: partition, flavour: 0) }
        for slot in 0..<setting.slots { launch(slot, setting.window) }
        for _ in 0..<4 { for process in processes { turn(process) } }
    }

    /// Plays `steps`, then lets the workers finish everything.
    ///
    /// - Returns: What is wrong, or nil; and how often the interesting cases came up.
    static func play(
        _ steps: [Step], in setting: Setting, _ sabotage: ModelWorker.Sabotage = .none
    ) -> (fault: String?, counts: ModelCounts) {
        var model = ProtocolModel(setting, sabotage)
        for step in steps {
            model.take(step)
            if let fault = model.broker.fault { return (fault, model.broker.counts) }
        }
        if setting.isRestarted { model.startGroup() }
        model.finishAll()
        return (model.broker.fault, model.broker.counts)
    }

    private mutating func take(_ step: Step) {
        broker.now += Self.stepTime
        let (partition, slot) = (step.who % broker.logs.count, step.who % setting.slots)
        switch step.kind {
        case .append:
            guard broker.openCount < setting.backlog else { return }
            broker.append(1 + step.value % 12, to: partition, flavour: step.value / 12, mayBeRejected: setting.mayBeRejected)
        case .gap: broker.skip(width(step.value), in: partition)
        case .delete: broker.delete(step.value, in: partition)
        case .grow: if broker.logs.count < Self.mostPartitions { broker.grow() }
        case .pass: broker.now += Self.times[step.value % Self.times.count]
        case .reject: broker.closedTopics[topic(step.who)] = step.value % 2 == 0 ? .tooLarge : .refused
        case .accept: broker.closedTopics[topic(step.who)] = nil
        case .arrive: broker.arrive(slot)
        case .transactionTimeout: broker.timeOut(slot)
        case .rebalance: broker.group.rebalance()
        case .restart: if current[slot].map({ $0.mode == .stopped }) ?? true { launch(slot, window(step.value)) }
        case .replace: launch(slot, window(step.value))
        case .sessionTimeout: expire(slot)
        case .wake: processes[step.who % processes.count].isStalled = false
        case .receive, .reachEnd, .begin, .finish, .tick, .offer, .publish, .commit, .heartbeat, .start, .abort, .fillTimeout,
            .answerLost, .requestLost, .requestLate, .commitPrepared, .replaceCommitter, .drainSlowly, .askToStop, .crash, .stall:
            let process = processes[step.who % processes.count]
            if !process.isStalled { take(step, process) }
            // A worker can hang in a call that is not answered, and hear of nothing else.
            if process.offered?.standing == .doubtful && step.value % 3 == 0 { process.isStalled = true }
        }
    }

    private mutating func take(_ step: Step, _ process: ModelWorker) {
        switch step.kind {
        case .receive:
            var left = step.value % 4 == 0 ? step.value % 20 : 0
            while process.receive(step.value >> 8, from: &broker), left > 0 { left -= 1 }
            // Mostly its calls are made at once.
            if step.value % 5 < 4 { while process.begin(0, &broker) {} }
        case .reachEnd: process.reachEnd(step.value, of: &broker)
        case .begin: process.begin(step.value, &broker)
        case .finish: process.finish(step.value, &broker)
        case .offer: process.offerCommit(&broker)
        case .publish: process.publish(to: &broker)
        case .commit: process.commit(to: &broker)
        case .tick: commit(process)
        case .abort: process.fail(isTimeout: false, &broker)
        case .fillTimeout: process.fail(isTimeout: true, &broker)
        case .answerLost: process.commitUnanswered(.carriedOut, &broker)
        case .requestLost: process.commitUnanswered(.neverSent, &broker)
        case .requestLate: process.commitUnanswered(.underWay, &broker)
        case .commitPrepared: process.commitUnanswered(.prepared, &broker)
        case .replaceCommitter:
            let fates: [ModelCommitter.Fate] = [.neverSent, .carriedOut, .underWay, .prepared]
            process.replaceCommitter(fates[step.value % fates.count], &broker)
        case .heartbeat: heartbeat(process)
        case .start:
            process.answer(isUnanswered: step.value % 8 == 7, &broker)
            // Mostly the worker hears of it at once.
            if step.value % 4 < 3 { process.hear(&broker) }
        case .drainSlowly: process.drainSlowly(step.value, &broker)
        case .askToStop: if processes.count > 1 { process.askToStop(isUrgent: step.value % 4 == 0, &broker) }
        case .crash: crash(process)
        case .stall: process.isStalled = true
        case .append, .gap, .delete, .grow, .pass, .reject, .accept, .arrive, .transactionTimeout, .rebalance, .restart, .replace,
            .sessionTimeout, .wake:
            break
        }
    }

    /// How far the topic grows.
    private static let mostPartitions = 4
    /// How long a step takes, 5 ms in nanoseconds.
    private static let stepTime: Int64 = 5_000_000
    /// What may pass at once: from 10 ms to 30 s in nanoseconds.
    private static let times: [Int64] = [
        250_000_000, 10_000_000, 60_000_000, 500_000_000, 1_500_000_000, 5_000_000_000, 30_000_000_000,
    ]

    private func topic(_ value: Int) -> CommitTopic { value % 2 == 0 ? .results : .delay(0) }

    /// Mostly a transaction marker or a short run; wide ones are rare, because they fill a window at once.
    private func width(_ value: Int) -> Int64 {
        // Behind a rejected result a position can say nothing of what is too far away, so all would wait for that one.
        let wide: [Int64] = setting.mayBeRejected ? [60, 64, 200] : [60, 64, 200, 16_383, 16_384, 20_000, 1_000_000]
        return value % 100 < wide.count ? wide[value % 100] : Int64(1 + value % 3)
    }

    private func window(_ value: Int) -> Int { value % 4 == 0 ? [16, 17, 100, setting.window][value / 4 % 4] : setting.window }
}

// Processes.
extension ProtocolModel {
    /// A process begins in `slot`; one that is there already goes on and does not know.
    private mutating func launch(_ slot: Int, _ window: Int) {
        while processes.count > setting.slots + 1 {
            guard let old = processes.first(where: { $0 !== current[$0.member.slot] }) else { break }
            remove(old)
        }
        let process = ModelWorker(slot, window: window, terms, in: &broker)
        current[slot] = process
        processes.append(process)
        excuseTheExpelled()
    }

    private mutating func crash(_ process: ModelWorker) {
        guard processes.count > 1 else { return }
        process.stop(&broker)
        remove(process)
    }

    private mutating func remove(_ process: ModelWorker) {
        process.excuse(&broker)
        processes.removeAll { $0 === process }
        if current[process.member.slot] === process { current[process.member.slot] = nil }
    }

    private mutating func expire(_ slot: Int) {
        broker.group.expire(slot)
        excuseTheExpelled()
    }

    private mutating func excuseTheExpelled() {
        for process in processes where !broker.group.isMember(process.member) { process.excuse(&broker) }
    }

    private mutating func heartbeat(_ process: ModelWorker) {
        process.heartbeat(isReplaced: current[process.member.slot] !== process, &broker)
        if process.mode == .stopped && processes.count > 1 { remove(process) }
    }

    private mutating func commit(_ process: ModelWorker) {
        process.offerCommit(&broker)
        process.publish(to: &broker)
        process.commit(to: &broker)
    }

    /// Everything that a healthy process does, for a second.
    private mutating func turn(_ process: ModelWorker) {
        process.isStalled = false
        heartbeat(process)
        process.answer(isUnanswered: false, &broker)
        process.hear(&broker)
        for _ in 0..<4 {
            for partition in broker.logs.indices { while process.receive(partition, from: &broker) {} }
            while process.begin(0, &broker) {}
            while process.finish(0, &broker) {}
            broker.now += 250_000_000
            commit(process)
        }
    }

    /// An operator stops all workers, and begins the group with what has no result.
    private mutating func startGroup() {
        for process in processes {
            process.stop(&broker)
            remove(process)
        }
        for slot in 0..<setting.slots {
            broker.arrive(slot)
            broker.timeOut(slot)
            expire(slot)
        }
        broker.startGroup()
        for slot in 0..<setting.slots { launch(slot, setting.window) }
    }

    /// No more faults: everything that is on its way arrives, topics take everything that they ever take, and the workers go on until
    /// nothing is left.
    private mutating func finishAll() {
        for slot in 0..<setting.slots { broker.arrive(slot) }
        broker.closedTopics.removeAll()
        var rounds = 0
        while broker.openCount > 0 || !processes.allSatisfy(\.isIdle) {
            rounds += 1
            if rounds > 400 { broker.fail("nothing moves, and \(broker.openCount) records have no result") }
            if broker.fault != nil { return }
            for slot in 0..<setting.slots where current[slot].map({ $0.mode == .stopped }) ?? true {
                if let stopped = current[slot] { remove(stopped) }
                broker.timeOut(slot)
                expire(slot)
                if slot == 0 { launch(slot, setting.window) }
            }
            // Only what topics take of others shows that a rejected result is at fault itself.
            if setting.mayBeRejected && rounds % 8 == 0 { appendToEveryTopic(rounds / 8 % broker.logs.count) }
            for process in processes { turn(process) }
        }
        broker.checkAll()
    }

    private mutating func appendToEveryTopic(_ partition: Int) {
        for flavour in [0, 3, 6] { broker.append(1, to: partition, flavour: flavour) }
    }
}
