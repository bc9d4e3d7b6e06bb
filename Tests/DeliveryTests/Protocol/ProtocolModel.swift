import TestSupport

/// Workers on a broker, and everything that can happen to them; the broker judges.
struct ProtocolModel {
    /// One thing that happens; `who` and `value` choose where or how much.
    struct Step: ShrinkableStep, CustomStringConvertible {
        enum Kind: CaseIterable {
            // The input.
            case append, gap, delete
            // A worker goes on.
            case receive, reachEnd, finish, tick, publish, commit, recover, heartbeat, start
            // A transaction goes wrong, or its end is not heard of.
            case abort, answerLost, requestLost, requestLate, commitPrepared, arrive, transactionTimeout
            // Workers come and go.
            case rebalance, cutDrain, crash, restart, replace, stall, wake, sessionTimeout
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
        var description: String {
            "window \(window), \(partitions) partitions, \(slots) workers, \(isStatic ? "static" : "dynamic") membership"
        }
    }

    private let setting: Setting
    private let sabotage: ModelWorker.Sabotage
    private(set) var broker: ModelBroker
    /// Every process that is alive: the one in charge of each slot, and those that do not know that they were replaced.
    private var processes: [ModelWorker] = []
    private var current: [ModelWorker?]

    init(_ setting: Setting, _ sabotage: ModelWorker.Sabotage = .none) {
        self.setting = setting
        self.sabotage = sabotage
        broker = ModelBroker(partitions: setting.partitions, slots: setting.slots, isStatic: setting.isStatic)
        current = Array(repeating: nil, count: setting.slots)
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
        model.finishAll()
        return (model.broker.fault, model.broker.counts)
    }

    private mutating func take(_ step: Step) {
        switch step.kind {
        case .append:
            if broker.openCount < setting.backlog { broker.append(1 + step.value % 12, to: step.who % setting.partitions) }
        case .gap: broker.skip(width(step.value), in: step.who % setting.partitions)
        case .delete: broker.delete(step.value, in: step.who % setting.partitions)
        case .arrive: broker.arrive(step.who % setting.slots)
        case .transactionTimeout: broker.timeOut(step.who % setting.slots)
        case .rebalance: broker.group.rebalance()
        case .restart: if current[step.who % setting.slots] == nil { launch(step.who % setting.slots, window(step.value)) }
        case .replace: launch(step.who % setting.slots, window(step.value))
        case .sessionTimeout: expire(step.who % setting.slots)
        case .wake: processes[step.who % processes.count].isStalled = false
        case .receive, .reachEnd, .finish, .tick, .publish, .commit, .recover, .heartbeat, .start, .abort, .answerLost,
            .requestLost,
            .requestLate, .commitPrepared, .cutDrain, .crash, .stall:
            let process = processes[step.who % processes.count]
            if !process.isStalled { take(step, process) }
            // A worker can hang in a call that is not answered, and hear of nothing else.
            if process.offer?.stage == .doubtful && step.value % 3 == 0 { process.isStalled = true }
        }
    }

    private mutating func take(_ step: Step, _ process: ModelWorker) {
        switch step.kind {
        case .receive:
            var left = step.value % 4 == 0 ? step.value % 20 : 0
            while process.receive(step.value >> 8, from: &broker), left > 0 { left -= 1 }
        case .reachEnd: process.reachEnd(step.value, of: &broker)
        case .finish: process.finish(step.value, &broker)
        case .publish: process.publish(to: &broker)
        case .commit: process.commit(to: &broker)
        case .tick:
            process.publish(to: &broker)
            process.commit(to: &broker)
        case .abort: process.abort(&broker)
        case .answerLost: process.commitUnanswered(.carriedOut, &broker)
        case .requestLost: process.commitUnanswered(.neverSent, &broker)
        case .requestLate: process.commitUnanswered(.underWay, &broker)
        case .commitPrepared: process.commitUnanswered(.prepared, &broker)
        case .recover: process.recover(&broker)
        case .heartbeat: heartbeat(process)
        case .start: process.start(&broker)
        case .cutDrain: process.cut(step.value, &broker)
        case .crash: crash(process)
        case .stall: process.isStalled = true
        case .append, .gap, .delete, .arrive, .transactionTimeout, .rebalance, .restart, .replace, .sessionTimeout, .wake: break
        }
    }

    /// Mostly a transaction marker or a short run; wide ones are rare, because they fill a window at once.
    private func width(_ value: Int) -> Int64 {
        let wide: [Int64] = [60, 64, 200, 16_383, 16_384, 20_000, 1_000_000]
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
        let process = ModelWorker(slot, window: window, sabotage, in: &broker)
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
        if process.phase == .stopped && processes.count > 1 { remove(process) }
    }

    /// Everything that a healthy process does, once.
    private mutating func turn(_ process: ModelWorker) {
        process.isStalled = false
        heartbeat(process)
        process.recover(&broker)
        process.start(&broker)
        for partition in 0..<setting.partitions { while process.receive(partition, from: &broker) {} }
        while process.hasOwnCalls && process.phase != .stopped { process.finish(0, &broker) }
        process.publish(to: &broker)
        process.commit(to: &broker)
    }

    /// No more faults: everything that is under way arrives, and the workers go on until nothing is left.
    private mutating func finishAll() {
        for slot in 0..<setting.slots { broker.arrive(slot) }
        var rounds = 0
        while broker.openCount > 0 || !processes.allSatisfy(\.isIdle) {
            rounds += 1
            if rounds > 100 { broker.fail("nothing moves, and \(broker.openCount) records have no result") }
            if broker.fault != nil { return }
            for slot in 0..<setting.slots where current[slot].map({ $0.phase == .stopped }) ?? true {
                if let stopped = current[slot] { remove(stopped) }
                broker.timeOut(slot)
                expire(slot)
                if slot == 0 { launch(slot, setting.window) }
            }
            for process in processes { turn(process) }
        }
        broker.checkAll()
    }
}
