import Basics
import Delivery
import Dispatch
import EventLoop
package import GatewayAPI
package import Groups
import HTTPServing
import Intake
import JobSupport
import Observability
package import PushModel
import Replays
package import ResultQuery
package import Results
import Synchronization

/// Answers the calls that find and repair, and show how workers are, by the code of the commands. Calls wait for nothing: threads of its own
/// read topics and files.
package final class OperatorEndpoints: Sendable {
    /// The most streams of events. An event is sent to all of its subject one after the other.
    private static let streamLimit = 500

    private let isStopping: Latch
    private let note: @Sendable (APIProblem) -> Void
    private let cleaned = Mutex<MonotonicTime?>(nil)
    private let context: JobContext
    private let now: @Sendable () -> MonotonicTime
    /// Work of milliseconds.
    private let finding = JobThreads("pushfan-find")
    /// Work of seconds: dead letters, and searches without index.
    private let scanning = JobThreads("pushfan-scan", isBackground: true)
    /// Work of minutes, for which no call waits: plans.
    private let planning = JobThreads("pushfan-plan", isBackground: true)
    /// Work that waits for a runner or a broker, or reads a plan.
    private let acting = JobThreads("pushfan-act")
    /// Searches of single results, a second each at most. Many are asked for at once where clients of a killed gateway come back.
    private let tracing = JobThreads("pushfan-trace", limits: JobThreads.Limits(places: (all: 2048, key: 512, tenant: 1024)))
    private let tracers: TracerPool
    private let results: ResultDesk
    private let replays: ReplayDesk
    private let lives: LifeSearch
    /// Searches the twins of single requests.
    private let twinSearch: RequestSearch
    private let twinWaits = TwinWaits()
    private let keeper: IndexKeeper?
    private let keeperThread = ServiceThread()
    /// The index of requests, where there is a folder for it.
    let requestIndex: RequestIndexKeeper?
    private let requestIndexThread = ServiceThread()
    private let streams: EventStreams
    private let replayEvents: ReplayEvents
    private let fleet: FleetWatch
    private let orders: OrderDesk
    private let incidents: IncidentWatch
    private let open: OpenFailures

    /// Makes endpoints that read nothing yet. `write` hands a record for the topic of the history to Kafka's client, and `give` an order. A
    /// state folder that is of no use is a failure.
    package init(
        _ configuration: GatewayConfiguration, services: GatewayServices, held: HeldAnswers,
        give: @escaping OrderDesk.Writing, write: @escaping @Sendable ([UInt8]) -> Void
    ) throws(GatewayFailure) {
        let isStopping = Latch()
        var context = JobContext(
            kafka: configuration.kafka, topics: configuration.topics, timeout: .seconds(5),
            now: { WallClock.millisecondsSince1970() }, isCancelled: { isStopping.isSet },
            note: { [log = services.log] note in note.write(to: log) })
        // Twelve threads may read at once.
        context.readAhead = 20 << 20
        context.group = configuration.groupID
        context.hubNames = HubNames(
            configuration.worker.routes, names: configuration.worker.hubs.map(\.name), areWhole: configuration.knowsAllHubs)
        let note: @Sendable (APIProblem) -> Void = { [log = services.log] problem in
            guard let cause = problem.cause else { return }
            log.warning(.kafkaError, "a call could not be carried out", [.reason: .string(cause)])
        }
        self.note = note
        let store: PlanStore? = try configuration.stateFolder.map { folder throws(GatewayFailure) in try PlanStore(folder) }
        let keeper = store.map { IndexKeeper(path: $0.indexPath, context) }
        let answers = keeper.map { ResultAnswers(context, kept: $0) } ?? ResultAnswers(context)
        requestIndex = try store.map { store throws(GatewayFailure) in
            RequestIndexKeeper(try RequestIndexSettings(configuration.index, folder: store.requestIndexPath), in: context)
        }
        self.isStopping = isStopping
        now = services.now
        self.context = context
        self.keeper = keeper
        let search = RequestSearch(context, terms: configuration.groupTerms, answers: answers, index: requestIndex)
        results = ResultDesk(
            context: context, answers: answers, search: search, isIndexed: { keeper?.isCurrent ?? false })
        tracers = TracerPool(context, terms: configuration.groupTerms, keeper: keeper)
        lives = LifeSearch(context: context, answers: answers, terms: configuration.groupTerms)
        twinSearch = search
        replays = ReplayDesk(
            context: context, planning: configuration.planning, hubs: configuration.worker.routes,
            callsAtOnce: configuration.callsAtOnce, answers: answers,
            isSearchCheap: { keeper?.isCurrent ?? false }, store: store, note: note, states: JobStates(context),
            comment: services.comment)
        streams = EventStreams(limit: Self.streamLimit, held: held)
        replayEvents = ReplayEvents(replays, threads: finding, streams: streams)
        let backlog = BacklogWatch(context, streams: streams, terms: configuration.groupTerms)
        let orders = OrderDesk(
            watch: OrderWatch(context, log: services.log), topic: configuration.topics.control, log: services.log, write: give)
        self.orders = orders
        open = OpenFailures(context, answers: answers, isIndexed: { keeper?.isCurrent ?? false }, now: services.now)
        incidents = IncidentWatch(
            context, log: services.log, limited: services.limited, open: open,
            scopes: { Dictionary(orders.standing.map { ($0.id, $0.scope) }) { $1 } }, write: write)
        fleet = FleetWatch(
            context, backlog: backlog, streams: streams, log: services.log, incidents: incidents,
            addOrders: { orders.add(to: &$0, isShort: true) }, write: write)
    }

    package func start() {
        finding.start()
        scanning.start()
        planning.start()
        acting.start()
        tracing.start()
        fleet.start()
        orders.watch.start()
        if let keeper {
            keeperThread.start(named: "pushfan-index") {
                ThreadPriority.lower()
                keeper.run()
            }
        }
        if let requestIndex {
            requestIndexThread.start(named: "pushfan-rindex") {
                ThreadPriority.lower()
                requestIndex.run()
            }
        }
    }

    /// Tells those who follow, and answers those who have waited long enough. To be called several times a second. Waits for nothing.
    package func tick() {
        twinWaits.tick(at: now())
        replays.drafts.tick()
        replays.runs.tick()
        replayEvents.tick()
        streams.tick()
        countOpen()
        cleanOnceADay()
    }

    /// Has what is open counted while anybody follows the fleet.
    private func countOpen() {
        guard streams.subjects.contains(EventStreams.fleet), open.begins() else { return }
        if scanning.put(for: "", { [open] in open.count() }) != nil { open.giveUp() }
    }

    private func cleanOnceADay(at now: MonotonicTime = .now()) {
        let isDue = cleaned.withLock { cleaned -> Bool in
            if let cleaned, now.nanoseconds(since: cleaned) < 86_400_000_000_000 { return false }
            cleaned = now
            return true
        }
        if isDue, let store = replays.store { _ = planning.put(for: "") { store.removeOld() } }
    }

    /// Has every job end soon: plans are given up, and runs stop where they can go on later.
    package func cancel() { isStopping.set() }

    /// Waits until nothing more is handed to Kafka's client, a second at most.
    package func settle() {
        cancel()
        fleet.waitForEnd(until: .now() + .seconds(1))
    }

    /// Waits for the ends of jobs, some seconds at most.
    package func stop() {
        cancel()
        let deadline = DispatchTime.now() + .seconds(3)
        replays.runs.waitForEnds(until: deadline)
        // It only reads, and asks for a broker that is away for longer.
        orders.watch.waitForEnd(until: .now() + .milliseconds(500))
        finding.stop()
        scanning.stop()
        planning.stop()
        acting.stop()
        tracing.stop()
        if keeper != nil { keeperThread.waitForEnd(until: deadline) }
        if requestIndex != nil { requestIndexThread.waitForEnd(until: deadline) }
    }

    /// True if searching results costs next to nothing.
    package var isIndexCurrent: Bool { keeper?.isCurrent ?? false }

    private var searching: JobThreads { isIndexCurrent ? finding : scanning }

    /// Says when the work for an answer that is asked for now has to end.
    private func timeLimit() -> @Sendable () -> Bool {
        let end = now().advanced(by: APIProblem.answerTime)
        return { [now] in now() >= end }
    }

    /// Notes why there is no answer, and returns what the caller gets. A job that was ended by the limit of time says so.
    private func refusal(_ problem: APIProblem, unless isOver: () -> Bool) -> APIProblem {
        note(problem)
        return problem.code == APIProblem.Code.stopping.rawValue && !isStopping.isSet && isOver() ? .searchTooLong : problem
    }

    /// Searches the final result of a request that was written before anybody listened here. `then` is called once, in any thread, with nil
    /// where it could not be searched.
    package func trace(
        _ request: PublishedRequest, search: ResultSearch, then: @escaping @Sendable (ResultTracer.Answer?) -> Void
    ) {
        let owner = "\(request.owner.tenant ?? "")\n\(request.owner.source ?? "")"
        let isOver = timeLimit()
        let problem = tracing.put(for: owner, of: request.owner.tenant) { [self] in
            guard !isOver() else { return then(nil) }
            do throws(APIProblem) {
                then(try tracers.trace(request, search: search))
            } catch {
                note(error)
                then(nil)
            }
        }
        if problem != nil { then(nil) }
    }

    /// Searches the life of a request. `then` is called once, in any thread.
    package func searchLife(
        of id: String, for asker: Asker, then: @escaping @Sendable (Result<FoundLife, APIProblem>) -> Void
    ) {
        let refuse: @Sendable (APIProblem) -> Void = { then(.failure($0)) }
        work(on: searching, for: asker.keyID, of: asker.tenant, refuse: refuse) { [self] isOver throws(APIProblem) in
            if let life = try lives.ending(when: isOver).life(of: id, for: asker) { return then(.success(.life(life))) }
            guard asker.mayRead, asker.tenant == nil else { return then(.success(.nothing)) }
            work(on: scanning, for: asker.keyID, of: asker.tenant, refuse: refuse) { [lives] isOver throws(APIProblem) in
                then(.success(try lives.ending(when: isOver).whereabouts(of: id)))
            }
        }
    }

    /// Has work done on threads, and ends it in time. What speaks against it is given to `refuse`, now or later.
    private func work(
        on threads: JobThreads, for key: String, of tenant: String?, refuse: @escaping @Sendable (APIProblem) -> Void,
        work: @escaping @Sendable (_ isOver: @escaping @Sendable () -> Bool) throws(APIProblem) -> Void
    ) {
        let isOver = timeLimit()
        let problem = threads.put(for: key, of: tenant) { [self] in
            do throws(APIProblem) {
                try work(isOver)
            } catch {
                refuse(refusal(error, unless: isOver))
            }
        }
        if let problem { refuse(problem) }
    }

    /// Searches the twins of a request. `then` is called once, soon and in any thread, with nil where they were not found in time.
    package func findTwins(
        of facts: RequestFacts, publishedAt: Timestamp, for asker: Asker, then: @escaping @Sendable ([Twin]?) -> Void
    ) {
        guard let query = TwinQuery(of: facts, publishedAt: publishedAt) else { return then(nil) }
        let deadline = now().advanced(by: TwinWaits.patience)
        let end = twinWaits.add(until: deadline, then: then)
        let isOver: @Sendable () -> Bool = { [now] in now() >= deadline }
        // Without an index it reads topics. Whoever asks gets an answer in time, however much is before it.
        let problem = (twinSearch.isCheap(query.filter) ? finding : scanning).put(for: asker.keyID, of: asker.tenant) { [self] in
            guard !isOver() else { return end(nil) }
            end((try? query.twins(by: twinSearch.ending(when: isOver), for: asker, within: TwinWaits.patience)) ?? nil)
        }
        if problem != nil { end(nil) }
    }

    /// True if the index of results lacks the newest.
    package var isIndexBehind: Bool {
        if case .current(_, let behind)? = keeper?.condition { behind > 0 } else { false }
    }

    /// The hubs as workers report them at present.
    package var hubs: [WorkerPage.Hub] { fleet.hubs }

    /// Answers a call, before it returns or later. Called on any thread.
    package func answer(_ call: OperatorCall) {
        if let threads = threads(for: call) {
            let publisher = call.publisher
            return work(on: threads, for: publisher.keyID, of: publisher.tenant, refuse: call.refuse) {
                [self] isOver throws(APIProblem) in try carryOut(call, until: isOver)
            }
        }
        do throws(APIProblem) {
            try orders.answer(call) { [self] in count($0, for: $1, then: $2) }
        } catch {
            call.refuse(error)
        }
    }

    /// The threads for a call, by the time that it takes, or nil for one that gives an order. No body is read for that.
    private func threads(for call: OperatorCall) -> JobThreads? {
        switch call.operation.row.work {
        case .none: nil
        // What is not found in milliseconds goes on elsewhere.
        case .find: finding
        // Without a filter it counts dead letters, too.
        case .search: (try? call.query()["filter"]) == nil ? scanning : searching
        case .scan: scanning
        case .act: acting
        }
    }

    /// Carries out a call on a thread for jobs. What only reads ends in time.
    private func carryOut(_ call: OperatorCall, until isOver: @escaping @Sendable () -> Bool) throws(APIProblem) {
        let (results, plans) = (results.ending(when: isOver), replays.ending(when: isOver))
        switch call.operation {
        case .listRequests, .searchRequests: try list(call, until: isOver)
        case .listFailures, .searchFailures: call.answer(try results.failures(call))
        case .listDeadLetters: call.answer(try results.deadLetters(call))
        case .showStatus: call.answer(try status())
        case .followStatus: streams.begin(EventStreams.fleet, for: call)
        case .showHistory: call.answer(try history(call))
        case .listIncidents: call.answer(try incidents.answer(call))
        case .listReplays: call.answer(try plans.list(call))
        case .showReplay: call.answer(try plans.show(call.id, for: call))
        case .deletePlan: call.answer(try replays.delete(call.id, for: call.publisher))
        case .listLeftovers: call.answer(try plans.leftovers(of: call.id, for: call))
        case .followReplay:
            try replays.checkIsThere(call.id, for: call.publisher)
            streams.begin(call.id, for: call)
        case .runReplay: try replays.run(call.id, for: call)
        case .pauseReplay: call.answer(try replays.command(.pause, of: call.id, for: call))
        case .resumeReplay: call.answer(try replays.command(.resume, of: call.id, for: call))
        case .stopReplay: call.answer(try replays.command(.stop, of: call.id, for: call))
        case .planReplay: try beginPlan(call)
        case .listHolds: call.answer(try orders.list(call))
        case .giveHold, .releaseHold, .cancelScope: throw .notFound
        }
    }

    /// Answers a list here where indexes alone find it, and else on a thread for longer work.
    private func list(_ call: OperatorCall, until isOver: @escaping @Sendable () -> Bool) throws(APIProblem) {
        let results = results.ending(when: isOver)
        let wanted = try results.wanted(by: call)
        if results.isCheap(wanted) { return call.answer(try results.list(wanted, for: call)) }
        let problem = scanning.put(for: call.publisher.keyID, of: call.publisher.tenant) { [self] in
            do throws(APIProblem) {
                call.answer(try results.list(wanted, for: call))
            } catch {
                call.refuse(refusal(error, unless: isOver))
            }
        }
        if let problem { throw problem }
    }

    /// The orders at this moment, nil while they are not known.
    package var knownOrders: Orders? { orders.watch.orders }

    /// Counts what an order concerns. `then` is called once, before this returns or later, in any thread.
    private func count(
        _ order: OrderRecord, for call: OperatorCall, then: @escaping @Sendable (Result<ScopeCounts, APIProblem>) -> Void
    ) {
        let from: Timestamp? = if case .cancel(let from) = order.kind { from } else { nil }
        let publisher = call.publisher
        work(on: scanning, for: publisher.keyID, of: publisher.tenant, refuse: { then(.failure($0)) }) {
            [context] isOver throws(APIProblem) in
            let counts = try APIProblem.catching { () throws(JobFailure) in
                try context.ending(when: isOver).counts(in: order.scope, from: from, until: order.since)
            }
            then(.success(counts))
        }
    }

    /// Reads an order for a plan, and has the plan made.
    private func beginPlan(_ call: OperatorCall) throws(APIProblem) {
        let (id, work) = try replays.plan(call)
        guard let problem = planning.put(for: call.publisher.keyID, of: call.publisher.tenant, work) else { return }
        replays.drafts.forget(id)
        throw problem
    }

    private func status() throws(APIProblem) -> APIAnswer {
        let report = try APIProblem.catching { () throws(JobFailure) in try fleet.report() }
        guard let report else { throw .noResults(topic: context.topics.requests) }
        var json = JSONObject(continuing: report.json { APIProblem.words(for: $0) })
        if let keeper { json.add("index", raw: keeper.condition.json) }
        if let requestIndex { json.add("request_index", raw: requestIndex.json) }
        orders.add(to: &json)
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    private func history(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let count = try query.integer("minutes", in: 1...APILimit.historyMinutes, default: APILimit.historyMinutes)
        let since = History.beginning(of: context.now()) - Int64(count - 1) * History.minute
        var json = JSONObject(["since": Timestamp(milliseconds: since).text, "step_ms": Int(History.minute)])
        json.add("items", array: fleet.minutes(since: since).map(\.json))
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }
}
