import PushModel
import Replay

extension JobLog.Job {
    /// The job as commands and the gateway show it: one line of JSON.
    ///
    /// - Parameters:
    ///   - now: The present moment in milliseconds since 1970, by which a silent runner counts as gone.
    ///   - outcomes: The results of the job's requests by their states (`ResultAnswers.outcomes(of:)`), if they were counted.
    /// - Returns: A JSON object.
    package func json(now: Int64, outcomes: [(state: String, count: Int)] = []) -> [UInt8] {
        var object = JSONObject([
            "job_id": record.jobID, "state": state(at: now).rawValue, "has_runner": isAlive(at: now), "filter": record.filter,
            "reason": record.reason, "actor": record.actor, "tenant": record.tenant, "requests": record.requests, "next": next,
            "replayed": next - skippedCount,
        ])
        object.add("skipped", raw: skippedCounts.json)
        object.add(["rate": Int(record.rate), "started_at": record.startedAt.text, "updated_at": record.updatedAt.text])
        if !outcomes.isEmpty {
            var results = JSONObject()
            for (state, count) in outcomes { results.add(state, value: count) }
            object.add("results", raw: results.bytes)
        }
        return object.bytes
    }
}

extension [Leftover: Int] {
    /// The counts of left requests as a JSON object, by their reasons.
    package var json: [UInt8] {
        var object = JSONObject()
        for reason in Leftover.allCases { if let count = self[reason] { object.add(reason.rawValue, value: count) } }
        return object.bytes
    }
}
