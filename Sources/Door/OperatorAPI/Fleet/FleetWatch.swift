import Basics
import Delivery
import Dispatch
import EventLoop
import GatewayAPI
import Groups
import JobSupport
import Kafka
import Observability
import PushModel
import Results
import Synchronization

/// Reads what workers report of themselves, tells those who follow it, and keeps the history of the last hour. It has a thread of its own.
final class FleetWatch: Sendable {
    private static let step = Duration.milliseconds(250)
    private static let pause = Duration.milliseconds(500)

    private struct State {
        var fleet = Fleet()
        var history = History()
        var current: History.Minute?
        /// The last hour was read from its topic.
        var hasRead = false
        /// The last failure to read reports.
        var failure: String?
    }

    private let context: JobContext
    private let backlog: BacklogWatch
    private let log: Log
    private let streams: EventStreams
    /// Hands the record of a minute to Kafka's client.
    private let write: @Sendable ([UInt8]) -> Void
    private let incidents: IncidentWatch?
    /// Adds the orders that stand to an event.
    private let addOrders: @Sendable (inout JSONObject) -> Void
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let thread = ServiceThread()

    init(
        _ context: JobContext, backlog: BacklogWatch, streams: EventStreams, log: Log,
        incidents: IncidentWatch? = nil, addOrders: @escaping @Sendable (inout JSONObject) -> Void = { _ in },
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.incidents = incidents
        self.addOrders = addOrders
        self.context = context
        self.backlog = backlog
        self.streams = streams
        self.log = log
        self.write = write
    }

    package func start() {
        startBacklog()
        incidents?.start()
        thread.start(named: "pushfan-fleet") { [self] in work() }
    }

    /// Begins to count what waits.
    func startBacklog() { backlog.start { [self] in members() } }

    /// Waits for the ends of the threads, which `JobContext.isCancelled` brings about.
    func waitForEnd(until deadline: DispatchTime) {
        thread.waitForEnd(until: deadline)
        backlog.waitForEnd(until: deadline)
        incidents?.waitForEnd(until: deadline)
    }

    // MARK: Asking

    /// The report of `pushfan status`, a few seconds old at most. Blocks its thread.
    func report() throws(JobFailure) -> StatusReport? { try backlog.report(members) }

    /// The minutes since a moment, in milliseconds since 1970, the present one included.
    func minutes(since moment: Int64) -> [History.Minute] {
        let now = context.now()
        return state.withLock { state in
            var history = state.history
            if let current = state.current { history.take(current, now: now) }
            return history.minutes(since: moment)
        }
    }

    /// The hubs as workers report them that are heard.
    var hubs: [WorkerPage.Hub] { members().filter { !$0.isStale }.flatMap { $0.page.loops.flatMap(\.hubs) } }

    private func members() -> [Fleet.Member] {
        state.withLock { $0.fleet }.members(at: Deadline.milliseconds())
    }

    // MARK: The thread

    private func work() {
        var turn = Turn()
        while !context.isCancelled() {
            readHistory()
            follow(&turn)
            turn.next(self)
            Pause.sleep(Self.pause)
        }
        writePresent()
        incidents?.writePresent()
    }

    /// Writes the present minute so far, so that a gateway that starts in it goes on there.
    private func writePresent() {
        guard let current = state.withLock({ $0.hasRead ? $0.current : nil }), current.covered > 0 else { return }
        write(current.json)
    }

    /// Follows the topic of reports as long as it can be read.
    private func follow(_ turn: inout Turn) {
        do throws(JobFailure) {
            guard let reader = try context.openFleet(following: true) else { return }
            defer { reader.close() }
            while !context.isCancelled(), read(reader) { turn.next(self) }
        } catch {
            note(error)
        }
    }

    /// Logs a failure to read reports, once until it is another.
    private func note(_ failure: JobFailure) {
        let text = "\(failure)"
        let isNew = state.withLock { state -> Bool in
            defer { state.failure = text }
            return state.failure != text
        }
        if isNew { log.warning(.kafkaError, "reports of workers cannot be read", [.reason: .string(text)]) }
    }

    /// Reads what has come. Returns false where the reader is of no use any more.
    private func read(_ reader: TopicReader) -> Bool {
        var fleet = state.withLock { $0.fleet }
        defer { state.withLock { $0.fleet = fleet } }
        var timeout = Self.step
        for _ in 0..<1000 {
            let isLive = reader.hasReachedEnd
            let result = reader.read(timeout: timeout) {
                fleet.take($0, isLive: isLive, wall: context.now(), now: Deadline.milliseconds())
            }
            timeout = .zero
            switch result {
            case .record: continue
            case .error(let error):
                guard !error.isOutdated else { return false }
                guard error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition else { return true }
                note(.kafka(error, .read(topic: reader.topic)))
                return false
            case .endOfPartition, .empty: return true
            }
        }
        return true
    }

    /// Reads the last hour, once.
    private func readHistory() {
        guard !state.withLock({ $0.hasRead }) else { return }
        let now = context.now()
        let scan = TopicScan(context, topic: context.topics.history)
        var history = state.withLock { $0.history }
        do throws(JobFailure) {
            let reader = try scan.openIfThere(.time(now - Int64(APILimit.historyMinutes + 2) * History.minute), .end)
            defer { reader?.close() }
            if let reader { try scan.read(reader) { if let value = $0.value { history.take(value, now: now) } } }
            state.withLock { state in
                (state.history, state.hasRead) = (history, true)
                // A gateway that wrote of the present minute had seen the part before this one.
                let present = history.minutes(since: History.beginning(of: now)).first
                if state.current == nil, let present, present.at == History.beginning(of: now) { state.current = present }
            }
        } catch {
            note(error)
        }
    }

    /// The work of each second, and of each minute. It waits for no broker.
    struct Turn {
        private var second: Int64 = 0
        private var tally = CounterTally()
        private var work = RecentWork()
        private var hubs = HubTally()
        private var lastSecond: MonotonicTime?

        init() {}

        mutating func next(_ watch: FleetWatch) {
            let wall = watch.context.now()
            guard wall / 1000 != second else { return }
            second = wall / 1000
            let members = watch.members()
            let added = tally.take(members.counters)
            let time = MonotonicTime.now()
            let passed = lastSecond.map { Int(time.nanoseconds(since: $0) / 1_000_000) } ?? 0
            lastSecond = time
            work.add(added, milliseconds: passed)
            hubs.take(members, milliseconds: passed)
            watch.note(added, workers: members.count { !$0.isStale }, passed: min(5000, passed), wall: wall)
            if second % 10 == 0 { watch.writePresent() }
            watch.noteSigns(members, added: added, passed: passed, wall: wall)
            guard watch.streams.subjects.contains(EventStreams.fleet) else { return }
            let event = FleetEvent(
                members: members, work: work, hubRates: hubs.callsPerSecond, kafka: watch.backlog.kafka,
                addOrders: watch.addOrders, addIncidents: { watch.incidents?.add(to: &$0) })
            watch.streams.send("fleet", id: "\(wall)", data: event.json(at: wall), to: EventStreams.fleet)
        }
    }

    /// Looks for signs of trouble in what was seen since the last second.
    private func noteSigns(_ members: [Fleet.Member], added: CounterTally.Counters, passed: Int, wall: Int64) {
        guard let incidents else { return }
        let isAlone = incidents.hasSeenWorkers && members.allSatisfy(\.isStale)
        backlog.ask(isUrgent: isAlone)
        let kafka = backlog.kafka
        var facts = IncidentSignFinder.Facts()
        (facts.members, facts.wall, facts.passed) = (members, wall, Int64(passed))
        if isAlone { facts.waiting = backlog.recentCount() }
        facts.kafkaProblem = kafka.fault(hearing: members.map(\.age).min())
        facts.hasKafkaAnswered = kafka.hasAnswered(since: wall - Fleet.staleAge)
        var look = IncidentTally.Sample(wall: wall, passed: Int64(passed))
        func count(_ states: [ResultState]) -> Int { states.reduce(0) { $0.addingSaturated(added.finished[$1.rawValue] ?? 0) } }
        (look.failed, look.expired) = (count([.failed, .partial, .unknown]), count([.expired]))
        incidents.note(facts, at: look) { backlog.recentCount() }
    }

    /// Adds to the present minute, and writes the one before when it is over.
    private func note(_ added: CounterTally.Counters, workers: Int, passed: Int, wall: Int64) {
        let beginning = History.beginning(of: wall)
        let published = backlog.takePublished()
        let ended = state.withLock { state -> History.Minute? in
            var ended: History.Minute?
            if let current = state.current, current.at != beginning {
                ended = current
                state.current = nil
            }
            var current = state.current ?? History.Minute(at: beginning)
            current.covered = min(current.covered + passed, Int(History.minute))
            current.calls += min(added.calls, 1 << 40)
            for (word, count) in added.finished { current.finished[word, default: 0] += min(count, 1 << 40) }
            current.latency.add(added.latency)
            current.workers = max(current.workers, workers)
            if ended == nil { current.addPublished(published) }
            state.current = current
            return ended
        }
        guard var ended else { return }
        ended.addPublished(published)
        ended.backlog = backlog.recent()
        state.withLock { $0.history.take(ended, now: wall) }
        write(ended.json)
    }
}

extension [Fleet.Member] {
    /// The counters of all workers.
    fileprivate var counters: [String: CounterTally.Counters] {
        var found: [String: CounterTally.Counters] = [:]
        for member in self {
            found[member.id] = .init(finished: member.page.finished, calls: member.page.calls, latency: member.page.latency)
        }
        return found
    }
}
