import Basics
import CallbackRecords
import Crypto
import CurlHTTP
import Dispatch
import EventLoop
import Kafka
import Observability
import ResultFeed
import Webhooks

/// The loop of the service: one thread that reads for all receivers, calls them, and says what may be saved.
///
/// What blocks is done by queues of other threads, whose messages come back through the inbox.
final class CallbackLoop {
    /// The token of the inbox, which no receiver's connection has.
    private static let inboxToken = UInt64.max
    /// A second in nanoseconds.
    private static let second: Int64 = 1_000_000_000
    /// The time after which all positions are saved again: brokers forget those of groups without members.
    private static let renewal: Int64 = 3_600 * second
    /// The time for which calls may end before their partitions are given back. The group waits for 10 s.
    private static let handOverLimit: Int64 = 7 * second

    private let topics: CallbackTopics
    private let parts: CallbackParts
    private let inbox: CallbackInbox
    private let board: CallbackBoard
    private let services: CallbackServices
    private let health: CallbackHealth
    private let log: Log
    private let poller: Poller
    private let calls: CallbackCall
    private let connector: ReceiverConnector
    private let errands: CallbackErrands

    private var now: MonotonicTime
    private var wallClock: Int64
    private var ports: [Int: ReceiverPort] = [:]
    private var numbers: [String: Int] = [:]
    private var lastNumber = 0
    private var receivers: ReceiverSet
    private var feeds: [any FeedSource] = []
    private var sharing: (any PartitionSharing)?
    private var states: (any StateSource)?
    /// The partitions that are ours.
    private var owned: Set<TopicPartition> = []
    /// The number of the assignment.
    private var assignment = 0
    private var handOver: HandOver?
    private var isSaving = false
    /// True if it is known who is paused.
    private var areStatesKnown = false
    /// The news that were looked at.
    private var newsCounts: [Int] = []
    private var nextTick = MonotonicTime.past
    private var nextRenewal: MonotonicTime
    private var nextMeasurement = MonotonicTime.past
    /// The end of the time for calls in flight, once the service ends.
    private var end: MonotonicTime?
    /// True if all partitions are given back at the end.
    private var hasLeft = false

    init(
        _ configuration: CallbackServiceConfiguration, services: CallbackServices, parts: CallbackParts, inbox: CallbackInbox,
        board: CallbackBoard
    ) throws {
        (self.parts, self.inbox, self.board, self.services) = (parts, inbox, board, services)
        errands = CallbackErrands(parts, inbox: inbox)
        topics = configuration.topics
        log = services.log
        calls = CallbackCall(userAgent: "pushfan/\(configuration.version)")
        now = parts.now()
        wallClock = parts.wallClock()
        nextRenewal = now + Self.renewal
        health = CallbackHealth(services.health, log: services.log, now: now)
        poller = try Poller()
        receivers = parts.receivers(now)
        connector = try ReceiverConnector(receivers, poller: poller, log: log, now: now)
        try poller.add(inbox.wakeUp.fileDescriptor, token: Self.inboxToken, interest: .readable)
        feeds = CallbackSource.allCases.map { source in
            parts.feed(configuration.topics.name(of: source)) { inbox.noteNews(of: source) }
        }
        states = parts.states { inbox.put(.decided) }
        follow(receivers)
        sharing = parts.sharing { partitions in
            let gate = DispatchSemaphore(value: 0)
            inbox.put(.assigned(partitions, gate: gate))
            _ = gate.wait(timeout: .now() + .seconds(10))
        }
    }

    /// Works until the end was asked for and all is saved.
    func run() throws {
        while !hasEnded {
            var wake = nextTick
            for port in ports.values { wake = min(wake, port.moment) }
            if let handOver, !isSaving { wake = min(wake, handOver.deadline) }
            if let end { wake = min(wake, end) }
            for index in try poller.wait(until: wake) { take(poller[index]) }
            now = parts.now()
            wallClock = parts.wallClock()
            health.noteTurn(at: now)
            for message in inbox.take() { take(message) }
            if let limit = inbox.takeEndLimit() { begin(toEndWithin: limit) }
            if now >= nextTick { tick() }
            let counts = CallbackSource.allCases.map { inbox.newsCount(of: $0) }
            let hasNews = counts != newsCounts
            newsCounts = counts
            for port in ports.values where hasNews || port.moment <= now { turn(port) }
            goOnWithHandOver()
        }
    }

    /// Frees all that it has. Called once, after `run`.
    func close() {
        // Whoever waits for the loop need not any more.
        if let handOver { letGo(handOver) }
        for message in inbox.take() { if case .assigned(_, let gate) = message { gate.signal() } }
        states?.close()
        for feed in feeds { feed.close() }
        for port in ports.values { port.endCalls(now: now) }
        parts.close()
    }
}

// Turns.
extension CallbackLoop {
    private func take(_ event: Poller.Event) {
        if event.token == Self.inboxToken {
            inbox.wakeUp.drain()
        } else if let port = ports[Int(event.token >> 32)] {
            port.pool.handle(event)
            port.moment = .past
        }
    }

    private func turn(_ port: ReceiverPort) {
        port.pool.handleTimers(now)
        port.takeCompletions(now: now, at: wallClock)
        let mayCall = end == nil && areStatesKnown
        if mayCall {
            port.startCalls(calls, now: now, at: wallClock)
            port.read(feeds, topics: topics, inbox: inbox, now: now)
        }
        bury(port.desk.takeUntaken(), of: port)
        port.moment = port.nextMoment(mayCall: mayCall, now: now)
    }

    /// Takes in what was decided about receivers. Before that is known, none is called.
    private func heedStates() {
        guard let states, states.isKnown else { return }
        let known = states.states
        for port in ports.values { port.heed(known[port.name]) }
        guard !areStatesKnown else { return }
        areStatesKnown = true
        for port in ports.values { port.moment = .past }
    }

    private func take(_ message: CallbackInbox.Message) {
        switch message {
        case .assigned(let partitions, let gate): assign(partitions, gate: gate)
        case .decided: heedStates()
        case .read(let number, let reading):
            guard let port = ports[number] else { return }
            port.take(reading, of: topics.name(of: reading.source), now: now)
        case .loaded(let number, let assignment, let result):
            guard let port = ports[number] else { return }
            give(result, to: port, assignment: assignment)
        case .saved(let error): saved(error)
        case .left: hasLeft = true
        case .buried(let number, let result, let problem):
            guard let port = ports[number] else { return }
            port.noteBurial(of: result, problem: problem, now: now)
        case .noted(let number, let error):
            guard let error, let port = ports[number] else { return }
            port.mustNote = true
            log.warning(
                .kafkaError, "what a receiver answered is not noted",
                [.receiver: .string(port.name), .reason: .string(error.description)])
        }
    }

    /// Does the work of each second.
    private func tick() {
        nextTick = now + Self.second
        let found = parts.receivers(now)
        if found != receivers || connector.isDue(now: now) { follow(found) }
        heedStates()
        if now >= nextRenewal {
            nextRenewal = now + Self.renewal
            for port in ports.values { port.desk.forgetSaved() }
        }
        let ends = feeds.map(\.end)
        let all = ends[CallbackSource.results.rawValue]?.offsets.count ?? 0
        let share = owned.count { $0.topic == topics.results }
        for port in ports.values {
            if all > 0, share > 0 { port.desk.divide(owned: share, of: all, now: now) }
            load(port)
            note(port)
            bury(port.takeUnwritten(now: now), of: port)
        }
        if !isSaving, handOver == nil { save() }
        report(ends)
    }

    private func report(_ ends: [FeedPlaces?]) {
        if now >= nextMeasurement {
            nextMeasurement = now + 5 * Self.second
            for port in ports.values { port.measureLag(to: ends, of: topics) }
        }
        var statuses: [ReceiverStatus] = []
        for port in ports.values {
            let status = port.status(now: now, at: wallClock)
            port.meter.show(status)
            statuses.append(status)
        }
        board.post(statuses.sorted { $0.name < $1.name })
        health.show(
            CallbackHealth.Standing(
                areResultsRead: ends[CallbackSource.results.rawValue] != nil,
                readingProblem: feeds[CallbackSource.results.rawValue].problem?.description, isShared: assignment > 0,
                groupProblem: sharing?.problem?.description, areStatesKnown: areStatesKnown,
                letterProblem: ports.values.compactMap(\.letterProblem).min()))
    }
}

// The file.
extension CallbackLoop {
    /// Takes in the receivers of the file. Those that are there already go on with what they have.
    private func follow(_ set: ReceiverSet) {
        receivers = set
        let isRenewed = connector.change(to: set, now: now)
        for name in Set(numbers.keys).subtracting(set.receivers.map(\.name)) { remove(name) }
        for receiver in set.receivers {
            do throws(ConnectionPool.SetupFailure) {
                if let port = numbers[receiver.name].flatMap({ ports[$0] }) {
                    guard isRenewed || port.desk.receiver != receiver else { continue }
                    try port.change(
                        to: receiver, of: topics.results, connector: connector, isRenewed: isRenewed, now: now)
                } else {
                    try add(receiver)
                }
            } catch {
                log.error(
                    .receiverChanged, "a receiver cannot be called",
                    [.receiver: .string(receiver.name), .reason: .string(error.description)])
            }
        }
        health.read(count: ports.count)
    }

    private func add(_ receiver: Receiver) throws(ConnectionPool.SetupFailure) {
        lastNumber += 1
        let port = try ReceiverPort(
            lastNumber, receiver: receiver, connector: connector, meter: ReceiverMeter(receiver.name, in: services.metrics),
            log: log, now: now)
        ports[lastNumber] = port
        numbers[receiver.name] = lastNumber
        if areStatesKnown, let states { port.heed(states.states[receiver.name]) }
        load(port)
    }

    /// Ends a receiver that the file does not have any more. Its positions stay.
    private func remove(_ name: String) {
        guard let number = numbers.removeValue(forKey: name), let port = ports.removeValue(forKey: number) else { return }
        port.endCalls(now: now)
        port.meter.retire()
        errands.saveLast(port.desk.takeOffsets(), of: name)
    }
}

// Partitions and positions.
extension CallbackLoop {
    private func assign(_ partitions: Set<TopicPartition>, gate: DispatchSemaphore) {
        assignment += 1
        let lost = owned.subtracting(partitions)
        owned = partitions
        log.info(.rebalanced, "the partitions of callbacks have changed", [.count: LogValue(partitions.count)])
        // An earlier hand-over has not ended in time: the group has gone on without it.
        if let old = handOver { letGo(old) }
        if lost.isEmpty {
            gate.signal()
        } else {
            for port in ports.values { port.desk.leave(lost) }
            handOver = HandOver(partitions: lost, deadline: now + Self.handOverLimit, gate: gate)
        }
        for port in ports.values { load(port) }
    }

    /// Saves positions once no call of the partitions is in flight any more, or its time is over, and gives them back.
    private func goOnWithHandOver() {
        guard let handOver, !handOver.isSaving, !isSaving else { return }
        let isOver = now >= handOver.deadline
        guard isOver || ports.values.allSatisfy({ $0.desk.calls(of: handOver.partitions).isEmpty }) else { return }
        self.handOver?.isSaving = true
        save(isForced: true)
    }

    private func letGo(_ old: HandOver) {
        handOver = nil
        for port in ports.values {
            let calls = port.desk.calls(of: old.partitions)
            port.desk.drop(old.partitions)
            port.end(calls)
            port.moment = .past
            load(port)
        }
        old.gate.signal()
    }

    /// Asks where a receiver goes on in the partitions that it has not yet.
    private func load(_ port: ReceiverPort) {
        guard port.desk.partitionCount < owned.count, !port.isLoading, now >= port.loadMoment, end == nil else { return }
        let missing = owned.subtracting(port.desk.owned)
        port.isLoading = true
        errands.load(missing, of: port.name, port: port.number, assignment: assignment)
    }

    private func give(_ result: Result<[TopicPartition: Int64], KafkaError>, to port: ReceiverPort, assignment: Int) {
        port.isLoading = false
        switch result {
        case .success(let starts) where assignment == self.assignment:
            for (partition, start) in starts where owned.contains(partition) { port.desk.give(partition, from: start) }
        case .success: break
        case .failure(let error):
            port.loadMoment = now + Self.second
            log.warning(
                .kafkaError, "the position of a receiver is not known",
                [.receiver: .string(port.name), .reason: .string(error.description)])
        }
        port.moment = .past
        load(port)
    }

    private func save(isForced: Bool = false) {
        var positions: [String: [TopicPartition: Int64]] = [:]
        for port in ports.values {
            let offsets = port.desk.takeOffsets()
            if !offsets.isEmpty { positions[port.name] = offsets }
        }
        guard isForced || !positions.isEmpty else { return }
        isSaving = true
        errands.save(positions)
    }

    private func saved(_ error: KafkaError?) {
        isSaving = false
        if let error {
            for port in ports.values { port.desk.forgetSaved() }
            log.warning(.commitFailed, "positions of receivers are not saved", [.reason: .string(error.description)])
        }
        if let handOver, handOver.isSaving { letGo(handOver) }
    }
}

// Dead letters and decisions.
extension CallbackLoop {
    private func bury(_ results: [UntakenResult], of port: ReceiverPort) {
        for result in results { errands.bury(result, of: port.name, port: port.number) }
    }

    /// Writes the decision of a receiver that answered 410.
    private func note(_ port: ReceiverPort) {
        guard port.mustNote, let state = port.ownState else { return }
        port.mustNote = false
        errands.note(state, of: port.name, port: port.number)
    }
}

// The end.
extension CallbackLoop {
    /// Gives all partitions back, which lets the calls in flight end and saves the positions. A second time can only shorten the time for it.
    private func begin(toEndWithin limit: Duration) {
        let isFirst = end == nil
        end = min(end ?? .never, now.advanced(by: limit))
        guard isFirst else { return }
        services.health.beginDraining()
        log.info(.draining, "callbacks end: calls in flight are waited for, and no more begin")
        if let sharing { errands.leave(sharing) }
    }

    /// True if all partitions are given back, or the time is over.
    private var hasEnded: Bool { hasLeft || end.map { now >= $0 } ?? false }
}
