import Basics
import GatewayAPI
import PushModel
import Replays

/// A replay as the API shows it. Earlier versions called some members otherwise, and those stay beside the others for one more version.
struct ReplayJSON {
    /// The report, with what this process knows before the job's records say it.
    private(set) var report: ReplayReport
    /// The run in this process, if there was one.
    let standing: ReplayRuns.Standing?

    /// A replay of which the job's records are known, and its run in this process.
    init(_ report: ReplayReport, standing: ReplayRuns.Standing?) {
        (self.report, self.standing) = (report, standing)
        switch standing?.state {
        case .starting: self.report.state = "starting"
        case .running: self.report.state = JobRecord.State.running.rawValue
        case .paused: self.report.state = JobRecord.State.paused.rawValue
        case .ended(let state) where report.job == nil: self.report.state = state.rawValue
        case .ended, .failed, nil: break
        }
        guard let standing, standing.isAtWork else { return }
        self.report.hasRunner = true
        guard standing.next >= report.next else { return }
        (self.report.next, self.report.skippedCount) = (standing.next, standing.skipped)
    }

    var header: ReplayPlanHeader { report.header }
    var job: JobLog.Job? { report.job }
    var state: String { report.state }

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
    package var summary: JSONObject { withSkipped(report.summary) }

    /// Its progress, for those who follow it.
    var event: [UInt8] { withSkipped(report.progress).bytes }

    private func withSkipped(_ json: JSONObject) -> JSONObject {
        var json = json
        json.add("skipped", value: report.skippedCount)
        return json
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
        let pace = ReplayPace(
            rate: rate.map(Double.init) ?? header.rate(after: job), callsAtOnce: callsAtOnce, callTime: .milliseconds(100))
        var json = withSkipped(report.whole(at: pace, samples: samples))
        json.add("eligible", raw: counts.eligibleBySafety)
        json.add("seconds", value: Int((pace.milliseconds(requests: counts.requests, calls: counts.calls) + 999) / 1000))
        if case .failed(let problem) = standing?.state { json.add("problem", raw: problem.json) }
        return json
    }

    /// True if nothing more happens by itself.
    var isOver: Bool { standing?.isAtWork != true && !["running", "paused", "starting"].contains(state) }
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
