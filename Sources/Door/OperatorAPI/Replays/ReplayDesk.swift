import FanOut
import GatewayAPI
import HTTPServing
import HubREST
import JobSupport
import Publishing
import PushModel
import Replay
import Replays
import Results
import Synchronization

/// Plans and runs replays, and shows how they stand. Each of its functions blocks its thread, but for ``plan(_:)``.
struct ReplayDesk: Sendable {
    private(set) var context: JobContext
    let planning: FanOutPlanner.Configuration
    /// The hubs that tenants may name.
    let hubs: HubRoutes
    /// Calls that one worker has in flight at once, for the price of a plan.
    let callsAtOnce: Int
    package private(set) var answers: ResultAnswers
    /// True if results are found without reading their topic.
    let isSearchCheap: @Sendable () -> Bool
    /// Nil without `gateway.state_dir`: then nothing is planned here.
    let store: PlanStore?
    /// Writes a problem whose cause callers do not get to the log.
    let note: @Sendable (APIProblem) -> Void
    let states: JobStates
    /// Gives the comment on a key of the file by the key's id.
    var comment: @Sendable (String) -> String? = { _ in nil }
    let drafts = PlanDrafts()
    let runs = ReplayRuns()

    /// The same, whose work ends by another condition, too. Not for runs, which go on when their call is answered.
    func ending(when isOver: @escaping @Sendable () -> Bool) -> ReplayDesk {
        var desk = self
        (desk.context, desk.answers) = (context.ending(when: isOver), answers.ending(when: isOver))
        return desk
    }

    // MARK: Planning

    /// Checks an order for a plan, and returns the work for a thread: it makes the plan, and answers the call.
    func plan(_ call: OperatorCall) throws(APIProblem) -> (id: String, work: @Sendable () -> Void) {
        let store = try requireStore()
        let now = context.now()
        let order = try PlanOrder(call, at: now).checked(by: PublishRights(publisher: call.publisher, hubs: hubs))
        try checkHub(of: order)
        var generator = SystemRandomNumberGenerator()
        var identifiers = RequestIdentifier()
        let id = identifiers.next(now: now, using: &generator)
        let header = order.header(jobID: id, at: now, by: call.publisher)
        guard let path = store.path(of: id) else { throw .failed }
        _ = try APIProblem.catching { () throws(JobFailure) in try header.manner() }
        let publisher = call.publisher
        guard drafts.add(id, tenant: publisher.tenant, source: publisher.source, answer: call.answer) else {
            throw .overloaded(after: 5000)
        }
        return (
            id,
            { [self] in
                var context = context
                let isStopping = context.isCancelled
                context.isCancelled = { isStopping() || drafts[id]?.isCancelled ?? true }
                context.progress = { drafts.note($0, of: id) }
                do throws(JobFailure) {
                    try make(order, header: header, path: path, context: context)
                    guard makeRoom(for: id) else { return drafts.end(id, with: .failure(.planTooLarge)) }
                    let plan = try APIAnswer(
                        status: 201, json: whole(path, job: nil, rate: nil).bytes, headers: headers(of: path, id: id))
                    drafts.end(id, with: .success(plan))
                } catch {
                    let problem: APIProblem =
                        isStopping() ? .stopping : drafts[id]?.isCancelled == true ? .planGivenUp : APIProblem(error)
                    note(problem)
                    drafts.end(id, with: .failure(problem))
                }
            }
        )
    }

    /// Checks that a change of the hub names one that is known. The rights of a tenant's key are checked before.
    private func checkHub(of order: PlanOrder) throws(APIProblem) {
        let edits = try APIProblem.catching { () throws(JobFailure) in try RequestEdit.read(order.edits) }
        guard let names = context.hubNames, let edit = edits.last(where: { $0.path == ["hub"] }),
            let name = names.unknown(edit.text)
        else { return }
        throw .unknownHub(name, known: names.all)
    }

    private func make(
        _ order: PlanOrder, header: ReplayPlanHeader, path: String, context: JobContext
    ) throws(JobFailure) {
        guard order.source == .deadletter else {
            var maker = try PlanMaker(context, planning: planning, header: header, path: path)
            return try maker.plan(PlanMaker.narrowed(order.filter), limit: order.limit)
        }
        let log = try context.jobLog()
        var header = header
        header.jobsOffset = log.end
        var plan = DeadLetterPlan(header, try header.manner().edits, log.history, context, path: path)
        try plan.make(
            order.filter, codes: order.codes, named: order.places, replacement: order.value,
            claiming: order.claimedSource)
    }

    /// Everything known of a plan in a file, and of its job, with its price at a rate, or at its own.
    private func whole(_ path: String, job: JobLog.Job?, rate: Int?) throws(JobFailure) -> JSONObject {
        let plan = try ReplayPlanReader(path)
        let report = ReplayReport(plan.header, job: job, now: context.now())
        return ReplayJSON(report, standing: runs.standing(of: plan.header.jobID)).whole(
            samples: try samples(plan), rate: rate, callsAtOnce: callsAtOnce)
    }

    /// Some of the requests of a plan, evenly spread.
    private func samples(_ plan: ReplayPlanReader) throws(JobFailure) -> [ReplayItem] {
        var (plan, samples) = (plan, [ReplayItem]())
        let step = max(1, plan.header.counts.requests / PlanMaker.sampleCount)
        while samples.count < PlanMaker.sampleCount, let item = try plan.nextItem() {
            if context.isCancelled() { throw .cancelled }
            if item.number >= samples.count * step { samples.append(item) }
        }
        return samples
    }

    private func headers(of path: String, id: String) throws(JobFailure) -> HTTPFields {
        let digest = try ReplayPlanReader.digest(path, isCancelled: context.isCancelled)
        return ["Location": "/v1/replays/\(id)", "ETag": "\"\(digest)\"", "Cache-Control": "no-store"]
    }

    private func requireStore() throws(APIProblem) -> PlanStore {
        guard let store else { throw .noStateFolder }
        return store
    }

    // MARK: Showing

    /// All replays that are known, the newest first: plans of this gateway, and jobs of any.
    func list(_ call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let limit = try query.integer("limit", in: 1...1000, default: 100)
        guard query["cursor"].map({ PlanStore.isID($0) }) ?? true else { throw .badCursor }
        let (drafts, publisher, log) = (drafts.all(for: call.publisher), call.publisher, try jobStates())
        let all = Set(store?.ids ?? []).union(log.jobs.keys).union(drafts.keys)
        let rest = all.filter { id in query["cursor"].map { id < $0 } ?? true }.sorted(by: >)
        var (items, last): ([[UInt8]], String?) = ([], nil)
        for id in rest {
            guard items.count < limit else {
                last = last ?? id
                break
            }
            if let draft = drafts[id] {
                items.append(draft.json(id: id))
            } else if let shown = shown(id, in: log), publisher.mayUse(tenant: shown.header.tenant) {
                var row = shown.summary
                shown.addComment(to: &row, for: publisher, of: comment)
                items.append(row.bytes)
            } else {
                continue
            }
            if items.count == limit { last = id }
        }
        var json = JSONObject()
        json.add("items", array: items)
        if let last, rest.last != last { json.add("next", value: last) }
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// A plan that is here, or else a job. Nil for neither, and for a file that is no plan.
    private func shown(_ id: String, in log: JobLog) -> ReplayJSON? {
        let job = log.jobs[id]
        let plan = store?.existingPath(of: id).flatMap { try? ReplayPlanReader($0).header }
        let report =
            plan.map { ReplayReport($0, job: job, now: context.now()) } ?? job.map { ReplayReport($0, now: context.now()) }
        return report.map { ReplayJSON($0, standing: runs.standing(of: id)) }
    }

    /// One replay that a caller may see.
    private func find(_ id: String, for publisher: Publisher) throws(APIProblem) -> ReplayJSON {
        guard let shown = shown(id, in: try jobStates()), publisher.mayUse(tenant: shown.header.tenant) else {
            throw .unknownReplay
        }
        return shown
    }

    private func jobStates() throws(APIProblem) -> JobLog {
        try APIProblem.catching { () throws(JobFailure) in try states.current() }
    }

    /// One replay: its plan, how it stands and, where that costs little or was asked for, what became of its requests.
    func show(_ id: String, for call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let rate = try query.integer("rate", in: 1...1_000_000)
        if let draft = drafts.all(for: call.publisher)[id] {
            return APIAnswer(status: 200, json: draft.json(id: id), headers: ["Cache-Control": "no-store"])
        }
        let shown = try find(id, for: call.publisher)
        let wantsResults = try query.isTrue("results")
        return try APIProblem.catching { () throws(JobFailure) in
            let path = store?.existingPath(of: id)
            var json = try path.map { path throws(JobFailure) in try whole(path, job: shown.job, rate: rate) } ?? shown.summary
            shown.addComment(to: &json, for: call.publisher, of: comment)
            if let job = shown.job, wantsResults || isSearchCheap() {
                json.add("results", counts: try answers.outcomes(of: job).map { ($0.state, $0.count) })
            }
            let bare: HTTPFields = ["Cache-Control": "no-store"]
            let fields = try path.map { path throws(JobFailure) in try headers(of: path, id: id) } ?? bare
            return APIAnswer(status: 200, json: json.bytes, headers: fields)
        }
    }

    /// A page of what the plan and its runs have left, and of what no run has come to, in the plan's order.
    func leftovers(of id: String, for call: OperatorCall) throws(APIProblem) -> APIAnswer {
        let query = try call.query()
        let limit = try query.integer("limit", in: 1...1000, default: 100)
        let start = try query["cursor"].map { text throws(APIProblem) in
            guard let start = Int64(text), start >= 0 else { throw .badCursor }
            return start
        }
        _ = try find(id, for: call.publisher)
        guard let path = store?.existingPath(of: id) else { throw .planElsewhere }
        return try APIProblem.catching { () throws(JobFailure) in
            var rows = Leftovers(
                of: try ReplayPlanReader(path), job: try context.job(id), isCancelled: context.isCancelled)
            if let start { try rows.skip(to: start) }
            var (items, next): ([[UInt8]], Int64?) = ([], nil)
            while let row = try rows.next() {
                guard items.count < limit else {
                    next = rows.lineStart
                    break
                }
                items.append(row.json)
            }
            var json = JSONObject()
            json.add("items", array: items)
            json.add("next", value: next.map { String($0) })
            return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
        }
    }

    // MARK: Running

    /// Runs a plan, or goes on with it. Answers as soon as it has begun.
    func run(_ id: String, for call: OperatorCall) throws(APIProblem) {
        let order = try RunOrder(call.request)
        let store = try requireStore()
        let shown = try find(id, for: call.publisher)
        guard let path = store.existingPath(of: id) else { throw .planElsewhere }
        let prepared = try APIProblem.catching { () throws(JobFailure) in
            try PreparedReplay(path: path, reason: order.reason, actor: call.publisher.actor, context)
        }
        try requireNoOther(than: id, of: prepared.header.tenant)
        try Self.check(prepared, order: order, headers: call.request.headers, shown: shown)
        let (rest, isStopping) = (Latch(), context.isCancelled)
        var noting = context
        noting.isCancelled = { isStopping() || rest.isSet }
        noting.note = { [runs, note = context.note] event in
            if case .paused = event { runs.notePause(of: id) }
            note(event)
        }
        let runner = prepared.runner(noting, planning, rate: order.rate.map(Double.init) ?? prepared.rate)
        // Whoever runs it has it written, and may be another one than who has planned it.
        let rights = PublishRights(publisher: call.publisher, hubs: hubs)
        _ = try rights.check(edits: prepared.header.edits, replacement: prepared.header.replacement)
        let gone = prepared.gone.count
        let admission = runs.start(id, of: prepared.header.tenant, rest: rest) { standing in
            if case .failed(let problem) = standing.state {
                note(problem)
                return call.refuse(problem)
            }
            var json = JSONObject(["id": id, "state": standing.isAtWork ? "running" : "done", "next": standing.next])
            json.add(["requests": prepared.header.counts.requests, "gone": gone])
            call.answer(
                APIAnswer(status: 202, json: json.bytes, headers: ["Location": "/v1/replays/\(id)", "Cache-Control": "no-store"]))
        } work: { report throws(JobFailure) in
            try runner.run(report: report).record
        }
        switch admission {
        case .begins: break
        case .excluded: throw .otherReplayRuns
        case .full: throw .overloaded(after: 10_000)
        }
    }

    private static func check(
        _ prepared: PreparedReplay, order: RunOrder, headers: HTTPFields, shown: ReplayJSON
    ) throws(APIProblem) {
        // Whoever says `*` has not said which plan was looked at.
        guard let named = headers.list("If-Match"), named != "*" else { throw .planUnnamed }
        guard headers.requires("\"\(prepared.digest)\"") else { throw .otherPlan }
        if prepared.isFinished || shown.state == "stopped" { throw .replayIsOver(shown.state) }
        guard prepared.header.hasReason else { throw .reasonMissing }
        let count = prepared.header.counts.requests
        guard count > 0 else { throw .emptyPlan }
        guard count <= PreparedReplay.unaskedCount || order.count == count else { throw .unconfirmed(count) }
    }

    /// Has a job's runner, wherever it is, pause, go on or stop.
    func command(_ kind: JobCommand.Kind, of id: String, for call: OperatorCall) throws(APIProblem) -> APIAnswer {
        try BodyReader(call.request, members: []).check()
        if kind == .stop, drafts.all(for: call.publisher)[id] != nil, drafts.cancel(id) {
            return APIAnswer(status: 202, json: JSONObject(["id": id, "state": "stopping"]).bytes)
        }
        let shown = try find(id, for: call.publisher)
        guard let job = shown.job else { throw .replayNotRunning }
        if kind == .resume { try requireNoOther(than: id, of: job.record.tenant) }
        let answer = try APIProblem.catching { () throws(JobFailure) in
            try context.request(kind, of: job, actor: call.publisher.actor)
        }
        switch answer {
        case .done(let job):
            let after = ReplayJSON(ReplayReport(shown.header, job: job, now: context.now()), standing: runs.standing(of: id))
            var json = after.summary
            after.addComment(to: &json, for: call.publisher, of: comment)
            return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
        case .ended(let state): throw .replayIsOver(state.rawValue)
        case .noRunner where kind == .stop:
            return APIAnswer(status: 200, json: JSONObject(["id": id, "state": "stopped"]).bytes)
        case .noRunner: throw .replayNotRunning
        case .late:
            return APIAnswer(status: 202, json: JSONObject(["id": id, "state": shown.state, "asked": kind.rawValue]).bytes)
        }
    }

    /// Removes a plan that was never run, and one that could not be made. What was run stays for as long as its job's record.
    func delete(_ id: String, for publisher: Publisher) throws(APIProblem) -> APIAnswer {
        if let draft = drafts.all(for: publisher)[id] {
            guard draft.problem != nil else { throw .planIsMade }
            drafts.forget(id)
        } else {
            let shown = try find(id, for: publisher)
            guard !shown.wasRun else { throw .replayWasRun(shown.state) }
            guard let store, store.remove(id) else { throw .failed }
        }
        return APIAnswer(status: 204, headers: ["Cache-Control": "no-store"])
    }

    /// Fails with 404 for a replay that is not known, or that a caller may not see.
    func checkIsThere(_ id: String, for publisher: Publisher) throws(APIProblem) {
        if drafts.all(for: publisher)[id] == nil { _ = try find(id, for: publisher) }
    }

    /// The state of a replay, for those who follow it, nil when it is not known. `log` is read where this process cannot say it.
    func event(_ id: String, in log: JobLog?) -> (json: [UInt8], isOver: Bool)? {
        if let draft = drafts[id] { return (draft.json(id: id), draft.problem != nil) }
        guard let shown = shown(id, in: log ?? JobLog()) else { return nil }
        return (shown.event, shown.isOver)
    }
}
