import Basics
import Delivery
import Dispatch
import EventLoop
import HTTPServing
import Jobs
import Observability
import PushModel
import Synchronization

/// Answers the calls that find and repair, and show how workers are, by the code of the commands. Calls wait for nothing: threads of its own
/// read topics and files.
final class OperatorEndpoints: Sendable {
    /// The most streams of events.
    private static let streamLimit = 500

    private let isStopping: Flag
    private let context: JobContext
    /// Work of milliseconds.
    private let finding = JobThreads("pushfan-find")
    /// Work of seconds or minutes: plans, and searches without index.
    private let planning = JobThreads("pushfan-plan")
    private let results: ResultDesk
    private let replays: ReplayDesk
    private let lives: LifeSearch
    private let keeper: IndexKeeper?
    private let keeperThread = ServiceThread()
    private let streams: EventStreams
    private let replayEvents: ReplayEvents
    private let fleet: FleetWatch

    /// Makes endpoints that read nothing yet. `write` hands a record for the topic of the history to Kafka's client. A state folder that is
    /// of no use is a failure.
    init(
        _ configuration: GatewayConfiguration, services: GatewayServices, write: @escaping @Sendable ([UInt8]) -> Void
    ) throws(GatewayFailure) {
        let isStopping = Flag()
        let context = JobContext(
            kafka: configuration.kafka, topics: configuration.topics, timeout: .seconds(5),
            now: { WallClock.millisecondsSince1970() }, isCancelled: { isStopping.isSet })
        let store: PlanStore? = try configuration.stateFolder.map { folder throws(GatewayFailure) in try PlanStore(folder) }
        let keeper = store.map { IndexKeeper(path: $0.indexPath, context) }
        let answers = keeper.map { ResultAnswers(context, kept: $0) } ?? ResultAnswers(context)
        self.isStopping = isStopping
        self.context = context
        self.keeper = keeper
        results = ResultDesk(context: context, answers: answers)
        lives = LifeSearch(context: context, answers: answers, terms: configuration.groupTerms)
        replays = ReplayDesk(
            context: context, planning: configuration.planning, callsAtOnce: configuration.callsAtOnce, answers: answers,
            isSearchCheap: { keeper?.isCurrent ?? false }, store: store)
        streams = EventStreams(limit: Self.streamLimit)
        replayEvents = ReplayEvents(replays, threads: finding, streams: streams)
        fleet = FleetWatch(context, terms: configuration.groupTerms, streams: streams, log: services.log, write: write)
    }

    func start() {
        finding.start()
        planning.start()
        fleet.start()
        replays.store?.removeOld()
        if let keeper { keeperThread.start(named: "pushfan-index") { keeper.run() } }
    }

    /// Tells those who follow, and answers those who have waited long enough. To be called several times a second. Waits for nothing.
    func tick() {
        replays.drafts.tick()
        replays.runs.tick()
        replayEvents.tick()
        streams.tick()
    }

    /// Has every job end soon: plans are given up, and runs stop where they can go on later.
    func cancel() { isStopping.set() }

    /// Waits for the ends of jobs, some seconds at most.
    func stop() {
        cancel()
        let deadline = DispatchTime.now() + .seconds(3)
        replays.runs.waitForEnds(until: deadline)
        finding.stop()
        planning.stop()
        fleet.waitForEnd(until: deadline)
        if keeper != nil { keeperThread.waitForEnd(until: deadline) }
    }

    /// True if searching results costs next to nothing.
    var isIndexCurrent: Bool { keeper?.isCurrent ?? false }

    private var searching: JobThreads { isIndexCurrent ? finding : planning }

    /// Searches the life of a request. `then` is called once, in any thread.
    func searchLife(
        of id: String, for asker: Asker, then: @escaping @Sendable (Result<LifeSearch.Found, APIProblem>) -> Void
    ) {
        let problem = searching.put(for: asker.keyID) { [lives] in
            then(Result { () throws(APIProblem) in try lives.find(id, for: asker) })
        }
        if let problem { then(.failure(problem)) }
    }

    /// Answers a call, before it returns or later. Called on any thread.
    func answer(_ call: OperatorCall) {
        do throws(APIProblem) {
            try call.checkRights()
            if case .plan = call.route {
                let work = try replays.plan(call)
                // One that is refused has a draft, which would stay.
                if let problem = planning.put(for: call.publisher.keyID, work) { call.refuse(problem) }
                return
            }
            let isSlow = [.results, .failures, .deadLetters].contains(call.route)
            let threads = isSlow ? searching : finding
            let problem = threads.put(for: call.publisher.keyID) { [self] in
                do throws(APIProblem) { try carryOut(call) } catch { call.refuse(error) }
            }
            if let problem { throw problem }
        } catch {
            call.refuse(error)
        }
    }

    /// Carries out a call on a thread for jobs.
    private func carryOut(_ call: OperatorCall) throws(APIProblem) {
        switch call.route {
        case .results: call.answer(try results.list(call))
        case .failures: call.answer(try results.failures(call))
        case .deadLetters: call.answer(try results.deadLetters(call))
        case .status: call.answer(try status())
        case .statusEvents: streams.begin(FleetWatch.subject, for: call)
        case .history: call.answer(try history(call))
        case .replays: call.answer(try replays.list(call))
        case .replay(let id): call.answer(try replays.show(id, for: call))
        case .leftovers(let id): call.answer(try replays.leftovers(of: id, for: call))
        case .replayEvents(let id):
            try replays.checkIsThere(id, for: call.publisher)
            streams.begin(id, for: call)
        case .command(.run, let id): try replays.run(id, for: call)
        case .command(let verb, let id): call.answer(try replays.command(verb, of: id, for: call))
        case .plan: break
        }
    }

    private func status() throws(APIProblem) -> APIAnswer {
        let report = try APIProblem.catching { () throws(JobFailure) in try fleet.report() }
        guard let report else { throw APIProblem(.noResults(topic: context.topics.requests)) }
        var json = JSONObject(continuing: report.json { APIProblem.words(for: $0) })
        if let keeper { json.add("index", raw: keeper.condition.json) }
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    private func history(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query(["minutes"])
        let count = try query.integer("minutes", in: 1...History.span, default: History.span)
        let since = History.beginning(of: context.now()) - Int64(count - 1) * History.minute
        var json = JSONObject(["since": Timestamp(milliseconds: since).text, "step_ms": Int(History.minute)])
        json.add("items", array: fleet.minutes(since: since).map(\.json))
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }
}

/// Something that happens once.
final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}

extension IndexKeeper {
    /// True if a query needs no topic.
    var isCurrent: Bool { if case .current = condition { true } else { false } }
}

extension IndexKeeper.Condition {
    /// As JSON.
    var json: [UInt8] {
        switch self {
        case .starting: JSONObject(["state": "starting"]).bytes
        case .filling(let records, let total): JSONObject(["state": "filling", "records": records, "of": total]).bytes
        case .current(let records, let behind): JSONObject(["state": "current", "records": records, "behind": behind]).bytes
        case .failed(let reason): JSONObject(["state": "failed", "reason": reason]).bytes
        }
    }
}
