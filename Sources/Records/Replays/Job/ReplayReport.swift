package import PushModel
import Replay

/// A replay as commands and the gateway show it: a plan, and the job that carries it out. What only one of them shows stands beside it.
package struct ReplayReport: Sendable {
    /// The plan's first line, or what the job says of it.
    package let header: ReplayPlanHeader
    /// The job, or nil for a plan that was never run.
    package let job: JobLog.Job?
    /// The state in a word.
    package var state: String
    /// True while a runner is there.
    package var hasRunner: Bool
    /// The number of the first item that was not dealt with.
    package var next: Int
    /// The number of items before it that were left out.
    package var skippedCount: Int
    /// Requests a second: of the last run, else of the next one or of a price.
    package var rate: Double

    /// A report by the records of the job.
    ///
    /// - Parameters:
    ///   - header: The plan's first line.
    ///   - job: The job, or nil for a plan that was never run.
    ///   - now: The present moment in milliseconds since 1970, by which a silent runner counts as gone.
    package init(_ header: ReplayPlanHeader, job: JobLog.Job?, now: Int64) {
        self.header = header
        self.job = job
        state = job?.state(at: now).rawValue ?? "planned"
        hasRunner = job?.isAlive(at: now) ?? false
        next = job?.next ?? 0
        skippedCount = job?.skippedCount ?? 0
        rate = header.rate(after: job)
    }

    /// A report of a job whose plan is not at hand.
    package init(_ job: JobLog.Job, now: Int64) {
        self.init(ReplayPlanHeader(of: job.record), job: job, now: now)
    }

    /// The members that change while it is run.
    package var progress: JSONObject {
        JSONObject([
            "id": header.jobID, "state": state, "has_runner": hasRunner, "requests": header.counts.requests, "next": next,
            "replayed": next - skippedCount,
        ])
    }

    /// All members of a job, and those that its plan shares with it.
    package var summary: JSONObject {
        var json = progress
        json.add([
            "source": header.source.rawValue, "filter": header.filter, "reason": job?.record.reason ?? header.reason,
            "actor": job?.record.actor ?? header.actor, "tenant": header.tenant, "rate": Int(rate),
            "created_at": header.createdAt.text, "started_at": job?.record.startedAt.text,
            "updated_at": job?.record.updatedAt.text,
        ])
        if let job { json.add("left_by_run", counts: job.skippedCounts.map { ($0.key.rawValue, $0.value) }) }
        return json
    }

    /// The members of a plan that is at hand, its price and some of its requests if they are known, beside those of the job.
    package func whole(at pace: ReplayPace, samples: [ReplayItem]?) -> JSONObject {
        var json = summary
        let counts = header.counts
        json.add([
            "mode": header.mode.rawValue, "matched": counts.matched, "calls": counts.calls,
            "estimated_ms": Int(pace.milliseconds(requests: counts.requests, calls: counts.calls)),
        ])
        json.add("eligible_by_safety", raw: counts.eligibleBySafety)
        json.add("left", counts: counts.left.map { ($0.key.rawValue, $0.value) })
        json.add("repairs", counts: counts.repairs.map { ($0.key.rawValue, $0.value) })
        json.add("unknown_hubs", counts: counts.unknownHubs.map { ($0.key, $0.value) })
        json.add("set", texts: header.edits.compactMap { try? RequestEdit($0).note })
        if let samples { json.add("samples", array: samples.map(\.json)) }
        return json
    }
}

extension ReplayPlanHeader {
    /// The header that a job without a plan here would have had.
    fileprivate init(of job: JobRecord) {
        self.init(jobID: job.jobID, createdAt: job.startedAt, filter: job.filter, actor: job.actor)
        source = job.source
        reason = job.reason
        tenant = job.tenant
        counts.requests = job.requests
    }
}
