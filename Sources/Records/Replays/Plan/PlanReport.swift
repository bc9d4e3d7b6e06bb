import PushModel

/// The totals of a plan, its price and some of its requests, as commands and the gateway show them.
package struct PlanReport: Sendable {
    /// The plan's first line.
    package let header: ReplayPlanHeader
    /// Some of the requests, evenly spread.
    package let samples: [ReplayItem]
    /// The pace at which the plan would be run.
    package let pace: ReplayPace

    /// A report of the given parts.
    package init(header: ReplayPlanHeader, samples: [ReplayItem], pace: ReplayPace) {
        self.header = header
        self.samples = samples
        self.pace = pace
    }

    /// The duration of the run in milliseconds.
    package var milliseconds: Int64 { pace.milliseconds(requests: header.counts.requests, calls: header.counts.calls) }

    /// One line of JSON.
    ///
    /// - Parameter path: The plan's file, if its name is of use to the reader.
    /// - Returns: A JSON object.
    package func json(path: String? = nil) -> [UInt8] {
        var object = JSONObject([
            "job_id": header.jobID, "file": path, "filter": header.filter, "reason": header.reason, "actor": header.actor,
            "tenant": header.tenant,
        ])
        object.add("counts", raw: header.counts.json)
        object.add("estimated_ms", value: Int(milliseconds))
        object.add("samples", array: samples.map(\.json))
        return object.bytes
    }
}
