import Replay
import Replays
import PushModel

/// The report as a line of a command. Earlier versions called some members otherwise, and those stay beside the others for one more version.
extension ReplayReport {
    /// The line of a job.
    var line: JSONObject {
        var json = summary
        json.add("job_id", value: header.jobID)
        if let job { json.add("skipped", counts: job.skippedCounts.map { ($0.key.rawValue, $0.value) }) }
        return json
    }

    /// The line of a plan, in a file if it has one.
    func line(at pace: ReplayPace, samples: [ReplayItem]? = nil, path: String?) -> JSONObject {
        var priced = self
        priced.rate = job.map { header.rate(after: $0) } ?? pace.rate
        var json = priced.whole(at: pace, samples: samples)
        json.add(["job_id": header.jobID, "file": path])
        json.add("counts", raw: header.counts.json)
        return json
    }
}
