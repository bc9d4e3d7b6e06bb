import Basics
import Delivery
import Dispatch
import EventLoop
import GroupPositions
import Jobs
import Kafka
import Observability
import PushModel
import Synchronization

/// Reads what workers report of themselves, tells those who follow it, and keeps the history of the last hour. It has a thread of its own.
final class FleetWatch: Sendable {
    /// The subject of the fleet's streams.
    static let subject = "fleet"
    private static let step = Duration.milliseconds(250)
    private static let pause = Duration.milliseconds(500)
    /// The life of a report on the backlog, in nanoseconds.
    private static let reportLife: Int64 = 2_000_000_000
    /// The time between two counts of the backlog while a caller follows it, in nanoseconds.
    private static let backlogInterval: Int64 = 4_500_000_000

    private struct State {
        var fleet = Fleet()
        var history = History()
        var current: History.Minute?
        var report: (StatusReport, at: MonotonicTime)?
        var published = PublishedCount()
        /// The last hour was read from its topic.
        var hasRead = false
        /// The last failure to read reports.
        var failure: String?
    }

    private let context: JobContext
    private let terms: GroupTerms
    private let log: Log
    private let streams: EventStreams
    /// Hands the record of a minute to Kafka's client.
    private let write: @Sendable ([UInt8]) -> Void
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())
    /// Held by the one thread that counts the backlog. The state is locked within it.
    private let counting = Mutex(())
    private let thread = ServiceThread()

    init(
        _ context: JobContext, terms: GroupTerms, streams: EventStreams, log: Log, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.context = context
        self.terms = terms
        self.streams = streams
        self.log = log
        self.write = write
    }

    func start() { thread.start(named: "pushfan-fleet") { [self] in work() } }

    /// Waits for the end of the thread, which `JobContext.isCancelled` brings about.
    func waitForEnd(until deadline: DispatchTime) { thread.waitForEnd(until: deadline) }

    // MARK: Asking

    /// The report of `pushfan status`, a few seconds old at most. Blocks its thread.
    func report() throws(JobFailure) -> StatusReport? {
        let result = counting.withLock { _ in Result { () throws(JobFailure) in try examine() } }
        return try result.get()
    }

    /// The minutes since a moment, in milliseconds since 1970, the present one included.
    func minutes(since moment: Int64) -> [History.Minute] {
        let now = context.now()
        return state.withLock { state in
            var history = state.history
            if let current = state.current { history.take(current, now: now) }
            return history.minutes(since: moment)
        }
    }

    private func examine() throws(JobFailure) -> StatusReport? {
        let now = MonotonicTime.now()
        if let known = state.withLock({ $0.report }), now.nanoseconds(since: known.at) < Self.reportLife { return known.0 }
        let members = members()
        do throws(KafkaError) {
            let examination = StatusExamination(terms, context: context)
            guard let report = try examination.report(hearing: { _ in .success(members) }) else { return nil }
            state.withLock { state in
                state.report = (report, .now())
                state.published.note(report.publishedEnds(context.topics), at: now)
            }
            return report
        } catch {
            throw .kafka(error, .readPositions)
        }
    }

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
            let reader = try scan.openIfThere(.time(now - Int64(History.span + 2) * History.minute), .end)
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

    /// The work of each second, and of each minute.
    private struct Turn {
        var second: Int64 = 0
        var tally = CounterTally()
        var work = RecentWork()
        var lastSecond: MonotonicTime?
        var nextBacklog = MonotonicTime.now()

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
            watch.note(added, workers: members.count { !$0.isStale }, passed: min(5000, passed), wall: wall)
            if second % 10 == 0 { watch.writePresent() }
            guard watch.streams.subjects.contains(FleetWatch.subject) else {
                // The next stream waits for no interval.
                nextBacklog = time
                return
            }
            let event = FleetEvent(members: members, work: work)
            watch.streams.send("fleet", id: "\(wall)", data: event.json(at: wall), to: FleetWatch.subject)
            guard time >= nextBacklog else { return }
            nextBacklog = time.advanced(byNanoseconds: FleetWatch.backlogInterval)
            if let event = watch.backlogEvent() {
                watch.streams.send("backlog", id: "\(wall)", data: event, to: FleetWatch.subject)
            }
        }
    }

    /// Adds to the present minute, and writes the one before when it is over.
    private func note(_ added: CounterTally.Counters, workers: Int, passed: Int, wall: Int64) {
        let beginning = History.beginning(of: wall)
        let ended = state.withLock { state -> History.Minute? in
            var ended: History.Minute?
            if let current = state.current, current.at != beginning {
                ended = current
                ended?.addPublished(from: &state.published)
                state.current = nil
            }
            var current = state.current ?? History.Minute(at: beginning)
            current.covered = min(current.covered + passed, Int(History.minute))
            current.calls += min(added.calls, 1 << 40)
            for (word, count) in added.finished { current.finished[word, default: 0] += min(count, 1 << 40) }
            current.latency.add(added.latency)
            current.workers = max(current.workers, workers)
            current.addPublished(from: &state.published)
            state.current = current
            return ended
        }
        guard var ended else { return }
        ended.backlog = backlog()
        state.withLock { state in
            ended.addPublished(from: &state.published)
            state.history.take(ended, now: wall)
        }
        write(ended.json)
    }

    private func backlog() -> History.Backlog? {
        ((try? report()) ?? nil).map { History.Backlog($0, topics: context.topics) }
    }

    private func backlogEvent() -> [UInt8]? {
        guard let report = (try? report()) ?? nil else { return nil }
        return History.Backlog(report, topics: context.topics)
            .event(publishedPerSecond: state.withLock { $0.published.perSecond }, reasons: report.reasons)
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
