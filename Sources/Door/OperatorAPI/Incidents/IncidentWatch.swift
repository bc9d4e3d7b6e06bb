import Dispatch
import EventLoop
import GatewayAPI
import HTTPServing
import JobSupport
import Kafka
import Observability
import PushModel
import ResultQuery
import Results
import Synchronization

/// Makes incidents of what the fleet's thread sees each second, writes them beside the minutes, and reads those of all gateways on a thread of
/// its own.
final class IncidentWatch: Sendable {
    /// The most incidents of an event, and the time for which one that has ended is among them: a day in milliseconds.
    private static let event = (limit: 5, span: Int64(86_400_000))
    /// The bytes of incidents in an event beyond which the rest is left out: names may be long.
    private static let eventRoom = 12_288
    /// The time between two records of one that lasts, in milliseconds.
    fileprivate static let writing: Int64 = 60_000
    /// The gap of records from which a time counts as unwatched, in milliseconds: each gateway writes every 10 s, and a restart is shorter.
    private static let gap: Int64 = 150_000
    private static let step = Duration.milliseconds(250)
    /// The wait before another look at a topic that is missing or cannot be read.
    private static let pause = Duration.seconds(5)

    fileprivate struct State {
        var finder = IncidentSignFinder()
        var tally = IncidentTally()
        var list = IncidentList()
        /// The topic was read to its end, or could not be.
        var isRead = false
        /// All incidents of the topic are known: a digest may say so.
        var isWhole = false
        /// Those that last here, each with the length at which it was written.
        var own: [String: (incident: Incident, written: Int64)] = [:]
        /// The last failure to read the topic.
        var failure: String?
    }

    private let context: JobContext
    private let log: Log
    private let limited: RefusedCalls
    private let open: OpenFailures
    /// Gives the scopes of the limits that stand, by their ids.
    private let scopes: @Sendable () -> [String: OrderScope]
    /// Hands a record to Kafka's client.
    private let write: @Sendable ([UInt8]) -> Void
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let thread = ServiceThread()

    init(
        _ context: JobContext, log: Log, limited: RefusedCalls, open: OpenFailures,
        scopes: @escaping @Sendable () -> [String: OrderScope], write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.context, self.log, self.limited, self.open) = (context, log, limited, open)
        (self.scopes, self.write) = (scopes, write)
    }

    package func start() {
        let began = context.now()
        thread.start(named: "pushfan-incidents") { [self] in work(since: began) }
    }

    /// Waits for the end of the thread, which `JobContext.isCancelled` brings about.
    func waitForEnd(until deadline: DispatchTime) { thread.waitForEnd(until: deadline) }

    // MARK: Asking

    /// Those that lasted at a moment or later, in milliseconds since 1970, the newest first.
    func incidents(since moment: Int64) -> [Incident] {
        let since = max(moment, context.now() - IncidentList.span)
        return state.withLock { $0.list }.incidents(since: since)
    }

    /// Answers a call with those that lasted at a moment or later. Blocks its thread.
    package func answer(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let (since, now) = (try call.query()["since"] ?? "", context.now())
        let times = try CallerFilter(since.isEmpty ? "" : "since:\"\(since)\"", at: now, tenant: nil).filter
        let shown = incidents(since: times.since ?? .min).prefix(APILimit.incidentCount)
        let counts = open.counts(of: Array(shown), at: now)
        var json = JSONObject()
        json.add("items", array: shown.map { $0.json(at: now, open: counts[$0.id]) })
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// Adds to the event of the fleet the incidents that last or have ended within a day, and what is open.
    func add(to json: inout JSONObject) {
        let now = context.now()
        var room = Self.eventRoom
        let pieces = Self.shown(incidents(since: now - Self.event.span), at: now).map { $0.json(at: now) }.prefix {
            room -= $0.count
            return room >= 0
        }
        json.add("incidents", array: Array(pieces))
        open.add(to: &json)
    }

    /// Those of an event: those that last before those that have ended, the newest of each first.
    static func shown(_ incidents: [Incident], at now: Int64) -> [Incident] {
        let lasting = incidents.filter { $0.lasts(at: now) }
        return Array((lasting + incidents.filter { !$0.lasts(at: now) }).prefix(event.limit))
    }

    /// True if a worker has reported since the beginning, or is missed.
    var hasSeenWorkers: Bool { state.withLock { $0.finder.hasSeenWorkers } }

    // MARK: Each second

    /// Takes what was seen in a second, and writes what is due. `backlog` counts what waits in Kafka. Called by one thread.
    func note(_ facts: IncidentSignFinder.Facts, at look: IncidentTally.Sample, backlog: () -> Int) {
        var (facts, look, finder) = (facts, look, state.withLock { $0.finder })
        facts.refused = limited.take()
        let troubles = finder.signs(facts, scopes: scopes)
        if !troubles.isEmpty { look.backlog = backlog() }
        let due = state.withLock { state -> [[UInt8]] in
            finder.take(state.finder)
            state.finder = finder
            let due = state.take(troubles, at: look).map(\.record)
            // Records of others are not known while brokers are away.
            guard state.isWhole, facts.kafkaProblem == nil, facts.hasKafkaAnswered else { return due }
            return due + state.list.digest(at: look.wall)
        }
        for record in due { write(record) }
    }

    /// Writes those that last, for a gateway that starts soon.
    func writePresent() {
        for own in state.withLock({ $0.own }).values { write(own.incident.record) }
    }

    // MARK: Reading

    private func work(since began: Int64) {
        while !context.isCancelled() {
            do throws(JobFailure) { try follow(since: began) } catch { note(error) }
            state.withLock { $0.isWhole = false }
            // Without the topic, what is seen here is all that is known.
            noteRead(last: nil, began: began)
            let deadline = Deadline(after: Self.pause)
            while !deadline.hasPassed, !context.isCancelled() { Pause.sleep(Self.step) }
        }
    }

    /// Follows the topic as long as it can be read, from where all incidents are known.
    private func follow(since began: Int64) throws(JobFailure) {
        var last: Int64?
        for window in IncidentList.windows where !context.isCancelled() {
            let (start, isAll) = (context.now() - window, window == IncidentList.span)
            guard let reader = try context.openIncidents(since: isAll ? nil : start) else { return }
            defer { reader.close() }
            guard
                try follow(
                    reader, since: began, last: &last, isEnough: { noteWhole(since: start, isAll: isAll) })
            else { return }
        }
    }

    /// True if all incidents are known once the topic was read from a moment on.
    func noteWhole(since moment: Int64, isAll: Bool) -> Bool {
        state.withLock { state in
            state.isWhole = state.isWhole || isAll || state.list.isWhole(since: moment)
            return state.isWhole
        }
    }

    /// Follows a reader. Returns true if it has to begin earlier, and false once it is of no use.
    private func follow(
        _ reader: TopicReader, since began: Int64, last: inout Int64?, isEnough: () -> Bool
    ) throws(JobFailure) -> Bool {
        while !context.isCancelled() {
            if reader.hasReachedEnd {
                guard isEnough() else { return true }
                noteRead(last: last, began: began)
            }
            let result = reader.read(timeout: Self.step) { record in
                if let time = record.timestamp, time < began { last = max(last ?? time, time) }
                guard let value = record.value else { return }
                let now = context.now()
                state.withLock { $0.list.take(record: value, now: now) }
            }
            guard case .error(let error) = result else { continue }
            guard !error.isOutdated else { return false }
            if error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition {
                throw .kafka(error, .read(topic: reader.topic))
            }
        }
        return false
    }

    /// Notes that the topic was read, once, and that no gateway watched between its last record and the beginning of this gateway.
    func noteRead(last: Int64?, began: Int64) {
        let now = context.now()
        let missed = state.withLock { state -> Incident? in
            guard !state.isRead else { return nil }
            state.isRead = true
            if state.list.incidents().contains(where: { $0.kind == .noWorker && $0.lasts(at: now) }) {
                state.finder.expectWorkers()
            }
            guard let last, began - last > Self.gap else { return nil }
            let missed = Incident.unwatched(from: last, to: began)
            state.list.take(missed, now: now)
            return missed
        }
        if let missed { write(missed.record) }
    }

    /// Logs a failure to read the topic, once until it is another.
    private func note(_ failure: JobFailure) {
        let text = "\(failure)"
        let isNew = state.withLock { state -> Bool in
            defer { state.failure = text }
            return state.failure != text
        }
        if isNew { log.warning(.kafkaError, "incidents cannot be read", [.reason: .string(text)]) }
    }
}

extension IncidentWatch.State {
    /// Takes the signs of trouble of a look, and returns the incidents that have to be written.
    fileprivate mutating func take(_ troubles: [IncidentSign], at look: IncidentTally.Sample) -> [Incident] {
        var due: [Incident] = []
        for (incident, phase) in tally.take(troubles, at: look, known: isRead ? list : nil) {
            list.take(incident, now: look.wall)
            let isDue = phase != .goesOn || own[incident.id].map { incident.seen - $0.written >= IncidentWatch.writing } ?? true
            if isDue { due.append(incident) }
            own[incident.id] = phase == .ended ? nil : (incident, isDue ? incident.seen : own[incident.id]?.written ?? 0)
        }
        return due
    }
}
