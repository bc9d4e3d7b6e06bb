import Audiences
import Delivery
import FanOut
import HubREST
import Intake
import JobSupport
import Publishing
import PushModel
import Settings

/// `pushfan enqueue --audience-file`: one logical request, whose audience is too long for a record.
///
/// The file is read twice: once to check it, to find repeated lines and to count its parts, and once to write them. The progress
/// is in Kafka, in the transactions of the parts. So the same command, given again, continues after the last one.
enum AudienceCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        guard let path = arguments.value("audience-file"), arguments.operands.isEmpty else {
            throw .usage("--audience-file describes a request, and so does a file of requests; give one of the two")
        }
        if let flag = arguments.firstGiven(of: ["repeat", "rate"]) {
            throw .usage("--\(flag) is not for --audience-file, which is one request")
        }
        Interruption.catchSignals()
        let (settings, context) = try invocation.job()
        let now = invocation.surroundings.now()
        let planner = FanOutPlanner(settings.planning())
        let sample = try request(invocation, id: "sample", at: now)
        let spread = try checkContent(sample, settings, now)
        let survey = try invocation.perform(
            AudienceSurvey(of: path, planner: planner, request: sample.request, over: spread), with: nil)
        try check(survey, sample.request, invocation)
        let digest = AudienceRequest.digest(
            of: try RequestFlags.json(arguments, now: 0), survey: survey, planner: planner, request: sample.request)
        let id = arguments.value("id") ?? "file-\(digest)"
        let draft = try request(invocation, id: id, at: now)
        let sizes = try invocation.perform(
            AudienceSizes(of: draft, id: id, survey: survey, planner: planner, publishedAt: now), with: nil)
        if arguments.has("dry-run") {
            try report(invocation, id, survey, state: "dry_run")
            return survey.faultCount > 0 ? .partlyFailed : .done
        }
        let limits = AudienceSizes.limits(context)
        try invocation.perform(sizes.check(limits: limits, topics: context.topics), with: nil)
        let follower = try invocation.resultFollower(settings, context: context)
        defer { follower?.close() }
        let published = EnqueuedRequests(capacity: 1, follower: follower)
        published.add(id)
        var run = AudienceRun(
            of: draft, id: id, survey: survey, planner: planner, digest: digest, publishedAt: now, batchByteCount: limits.batch,
            context: context)
        let progress = ReplayProgress(total: survey.names, invocation.streams, hasBar: true)
        defer { progress.end() }
        try invocation.perform(settings) { () throws(JobFailure) in try run.run { progress.show($0) } }
        progress.end()
        if run.isComplete && run.writtenCount > 0 {
            published.waitForResults(until: Deadline(after: context.timeout), unless: context.isCancelled)
        }
        let result = published.all.first?.result
        try report(invocation, id, survey, state: state(run), run, result)
        return conclude(run, survey, result, invocation)
    }

    /// The request that the flags describe, with this id if they give none.
    private static func request(
        _ invocation: Invocation, id: String, at moment: Int64
    ) throws(CommandFailure) -> AudienceRequest {
        let json = try RequestFlags.json(invocation.arguments, now: moment)
        let request = OutgoingRequest(json: json, id: invocation.arguments.value("id"))
        return try invocation.perform(AudienceRequest(request.json(withID: id), publishedAt: moment), with: nil)
    }

    private static func state(_ run: AudienceRun) -> String {
        guard run.isComplete else { return "interrupted" }
        return run.writtenCount > 0 ? "enqueued" : "enqueued_before"
    }

    /// Refuses content that no worker would send, before the file is read. Returns the hubs that share the audience, or nil for
    /// one.
    private static func checkContent(
        _ sample: AudienceRequest, _ settings: Settings, _ now: Int64
    ) throws(CommandFailure) -> HubSpread? {
        var reporter = try RequestReporter(settings)
        let outgoing = OutgoingRequest(json: sample.json, id: "sample")
        let report = reporter.report(on: outgoing, read: StrictReader(), at: Timestamp(milliseconds: now))
        if let refusal = report.refusal { throw .usage("the flags: \(refusal)") }
        let (routes, tenant) = (settings.routes, RequestTrial.tenant(of: sample.request))
        guard let route = try? routes.router.route(of: sample.request, tenant: tenant), case .spread(let number) = route,
            routes.spreads[number].numbers.count > 1
        else { return nil }
        return routes.spreads[number].hubs
    }

    private static func check(_ survey: AudienceSurvey, _ request: PushRequest, _ invocation: Invocation) throws(CommandFailure) {
        for fault in survey.faults { invocation.streams.note("pushfan enqueue: \(fault.text)") }
        if survey.faultCount > survey.faults.count {
            invocation.streams.note("and \(survey.faultCount - survey.faults.count) lines more")
        }
        guard survey.faultCount == 0 || (invocation.arguments.has("keep-going") && survey.names > 0) else {
            throw CommandFailure(
                .usage, "nothing was sent: \(survey.faultCount) lines hold no name and no handle",
                hint: survey.names > 0 ? "--keep-going leaves them out" : nil)
        }
        try invocation.perform(survey.check(for: request), with: nil)
    }

    private static func report(
        _ invocation: Invocation, _ id: String, _ survey: AudienceSurvey, state: String, _ run: AudienceRun? = nil,
        _ result: ResultRecord? = nil
    ) throws(CommandFailure) {
        var object = JSONObject([
            "id": id, "state": state, "lines": survey.lines, "names": survey.names, "duplicates": survey.duplicates,
            "faults": survey.faultCount, "parts": survey.parts, "calls": survey.calls,
        ])
        if let run {
            object.add("resumed_at", value: run.resumedAt)
            object.add("written", value: run.writtenCount)
        }
        object.add("result", value: result?.state)
        var table = Table("ID", "STATE", "NAMES", "TWICE", "PARTS", "CALLS", "RESULT")
        table.add(
            id, state, String(survey.names), String(survey.duplicates), String(survey.parts), String(survey.calls),
            result?.state ?? "-")
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
    }

    private static func conclude(
        _ run: AudienceRun, _ survey: AudienceSurvey, _ result: ResultRecord?, _ invocation: Invocation
    ) -> ExitCode {
        guard run.isComplete else {
            invocation.streams.note("interrupted; the same command goes on where it stopped")
            return .interrupted
        }
        if run.writtenCount == 0 {
            invocation.streams.note("this was enqueued before; another --id makes another request of it")
        } else if invocation.arguments.has("wait") {
            guard let result else {
                invocation.streams.note(
                    "the result did not come in time; `pushfan results show \(Sanitised.word(run.id))` shows it when it is there")
                return Interruption.isRequested ? .interrupted : .temporary
            }
            let unsent = UnsentRequests.lines(CollectionOfOne((run.id, result)))
            for line in unsent { invocation.streams.note(line) }
            if !unsent.isEmpty { return .partlyFailed }
        }
        return survey.faultCount > 0 ? .partlyFailed : .done
    }
}
