import Basics
import PushModel
import Replay
import Replays

/// A plan, and the job that carries it out, as the API shows them.
struct ReplayJSON {
    let header: ReplayPlanHeader
    /// Nil as long as it was never run.
    let job: JobLog.Job?
    /// Its state in this process, if it was run here.
    let standing: ReplayRuns.Standing?
    /// The wall clock, in milliseconds since 1970.
    let now: Int64

    /// The state in a word.
    var state: String {
        switch standing?.state {
        case .starting: "starting"
        case .running: JobRecord.State.running.rawValue
        case .paused: JobRecord.State.paused.rawValue
        case .ended(let state): job.map { $0.state(at: now).rawValue } ?? state.rawValue
        case .failed, nil: job.map { $0.state(at: now).rawValue } ?? "planned"
        }
    }

    /// The items that were dealt with, and those of them that were left out.
    var progress: (next: Int, skipped: Int) {
        let known = (next: job?.next ?? 0, skipped: job?.skippedCount ?? 0)
        guard let standing, standing.isAtWork, standing.next >= known.next else { return known }
        return (standing.next, standing.skipped)
    }

    /// The key that has it run, or else planned, by the name under which publishers act. Nil for other actors.
    var keyID: String? {
        let actor = job?.record.actor ?? header.actor
        guard actor.hasSuffix(")"), let mark = actor.ranges(of: " (key ").last else { return nil }
        return String(actor[mark.upperBound...].dropLast())
    }

    /// Adds the comment on the key of its actor, which is for operators: a key with a tenant does not get it.
    func addComment(to json: inout JSONObject, for publisher: Publisher, of comment: (String) -> String?) {
        guard publisher.tenant == nil else { return }
        json.add("comment", value: keyID.flatMap(comment))
    }

    /// True if it was run here or elsewhere, so that results may name it.
    var wasRun: Bool {
        if case .ended = standing?.state { return true }
        return job != nil || standing?.isAtWork == true
    }

    /// The members of a list's item.
    var summary: JSONObject {
        let (next, skipped) = progress
        return JSONObject([
            "id": header.jobID, "state": state, "source": header.source.rawValue, "filter": header.filter,
            "reason": job.map(\.record.reason) ?? header.reason, "actor": job.map(\.record.actor) ?? header.actor,
            "tenant": header.tenant, "created_at": header.createdAt.text, "requests": header.counts.requests, "next": next,
            "skipped": skipped,
        ])
    }

    /// The whole plan.
    ///
    /// - Parameters:
    ///   - samples: Some of its requests.
    ///   - rate: Requests a second for its price, or nil for those of a run that says nothing else.
    ///   - callsAtOnce: Calls that one worker has in flight at once.
    /// - Returns: An object.
    func whole(samples: [ReplayItem], rate: Int?, callsAtOnce: Int) -> JSONObject {
        let counts = header.counts
        let ownRate = header.rate(after: job)
        let pace = ReplayPace(rate: rate.map(Double.init) ?? ownRate, callsAtOnce: callsAtOnce, callTime: .milliseconds(100))
        var json = summary
        json.add("mode", value: (header.includesAmbiguous ? PlanOrder.Mode.includeAmbiguous : .safe).rawValue)
        json.add("matched", value: counts.matched)
        json.add("eligible", raw: JSONObject(["safe": counts.safe, "ambiguous": counts.ambiguous]).bytes)
        json.add("calls", value: counts.calls)
        json.add("rate", value: Int(ownRate))
        json.add("seconds", value: Int((pace.milliseconds(requests: counts.requests, calls: counts.calls) + 999) / 1000))
        json.add("left", raw: Self.object(counts.left.map { ($0.key.rawValue, $0.value) }))
        json.add("repairs", raw: Self.object(counts.repairs.map { ($0.key.rawValue, $0.value) }))
        json.add("unknown_hubs", raw: Self.object(counts.unknownHubs.map { ($0.key, $0.value) }))
        json.add("set", texts: header.edits.compactMap { try? RequestEdit($0).note })
        json.add("samples", array: samples.map(\.json))
        if let job {
            json.add([
                "started_at": job.record.startedAt.text, "updated_at": job.record.updatedAt.text,
            ])
            json.add("left_by_run", raw: Self.object(job.skippedCounts.map { ($0.key.rawValue, $0.value) }))
        }
        if case .failed(let problem) = standing?.state { json.add("problem", raw: problem.json) }
        return json
    }

    /// Its progress, for those who follow it.
    var event: [UInt8] {
        let (next, skipped) = progress
        return JSONObject([
            "id": header.jobID, "state": state, "next": next, "skipped": skipped, "requests": header.counts.requests,
        ])
        .bytes
    }

    /// True if nothing more happens by itself.
    var isOver: Bool { standing?.isAtWork != true && !["running", "paused", "starting"].contains(state) }

    static func object(_ counts: [(String, Int)]) -> [UInt8] {
        var json = JSONObject()
        for (name, count) in counts.sorted(by: { $0.0 < $1.0 }) where count > 0 { json.add(name, value: count) }
        return json.bytes
    }
}

extension ReplayPlanHeader {
    /// The header that a job without a plan here would have had.
    init(of job: JobRecord) {
        self.init(jobID: job.jobID, createdAt: job.startedAt, filter: job.filter, actor: job.actor)
        reason = job.reason
        tenant = job.tenant
        counts.requests = job.requests
    }
}

extension APIProblem {
    /// 501: without a folder no plan can be kept.
    static let noStateFolder = APIProblem(
        501, code: .notConfigured, detail: "This gateway keeps no plans, because gateway.state_dir is not set.")

    /// 404: neither a plan nor a job.
    static let unknownReplay = APIProblem(
        404, code: .notFound, detail: "No such replay of yours is known. Plans are known to the gateway alone that made them.")

    /// 404: a job without its plan.
    static let planElsewhere = APIProblem(
        404, code: .notFound,
        detail: "The plan of this replay is not here. Put its file into gateway.state_dir, or run it where it is.")

    /// 428: the tag of the plan is missing.
    static let planUnnamed = APIProblem(
        428, code: .preconditionRequired, detail: "Send the ETag of the plan that you looked at as If-Match.")

    /// 412: the tag is another one's.
    static let otherPlan = APIProblem(412, code: .preconditionFailed, detail: "If-Match names another plan than this one.")

    /// 409: the number must be repeated.
    static func unconfirmed(_ count: Int) -> APIProblem {
        APIProblem(
            409, code: .countUnconfirmed,
            detail: "\(count) requests would be replayed. Beyond \(PreparedReplay.unaskedCount), repeat the number as count.",
            retry: .safe)
    }

    /// 409: it is over.
    static func replayIsOver(_ state: String) -> APIProblem {
        APIProblem(409, code: .replayEnded, detail: "The replay is \(state) already.")
    }

    /// 422: a change names a hub that there is not.
    static func unknownHub(_ name: String, known: [String]) -> APIProblem {
        let hint = Spelling.nearest(to: name, among: known).map { " Was \($0) meant?" } ?? ""
        return APIProblem(
            422, code: .invalidRequest, detail: "The change of hub names one that is in no settings.\(hint)",
            faults: [.init(.unknownHub, at: "/set", message: "No hub or spread has this name.\(hint)")])
    }

    /// 409: its record stays.
    static func replayWasRun(_ state: String) -> APIProblem {
        APIProblem(
            409, code: .replayEnded,
            detail:
                "The replay is \(state): plans that were never run can be deleted. What was run is forgotten by itself after 30 days."
        )
    }

    /// 409: it has to end first.
    static let planIsMade = APIProblem(
        409, code: .replayRunning, detail: "The plan is being made. POST /v1/replays/ID:stop gives it up.", retry: .safe)

    /// 409: no process runs it.
    static let replayNotRunning = APIProblem(
        409, code: .replayNotRunning, detail: "No process runs the replay. POST /v1/replays/ID:run goes on where it stopped.")

    /// 409: another one runs.
    static let otherReplayRuns = APIProblem(
        409, code: .replayRunning,
        detail: "Another replay is running that may have the same requests: one of the tenant, or one of all tenants. "
            + "One whose runner was killed holds up others for 30 s.",
        retry: .safe,
        retryAfter: 10_000)

    /// 422: it would take the room of all plans.
    static let planTooLarge = APIProblem(
        422, code: .tooManyMatches, detail: "The plan takes more room than there is for plans. Narrow the filter, or lower limit."
    )

    /// 409: a plan was given up while it was made.
    static let planGivenUp = APIProblem(409, code: .replayEnded, detail: "The plan was given up before it was made.")

    /// 422: it has nothing to do.
    static let emptyPlan = APIProblem(422, code: .invalidRequest, detail: "The plan has nothing to replay.")

    /// 422: a replay is run for a reason.
    static let reasonMissing = APIProblem(
        422, code: .invalidRequest, detail: "A replay needs a reason; it stands in every new result.",
        faults: [.init(.schemaInvalid, at: "/reason", message: "It must have 1 to 512 characters.")])
}
