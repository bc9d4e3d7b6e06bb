package import FanOut
package import JobSupport
import Kafka

/// A plan that is ready to be run: its file was read, and what became of its job and its originals is known.
package struct PreparedReplay: Sendable {
    /// The most requests that are replayed without a confirmation. Beyond it the caller repeats their number.
    package static let unaskedCount = 1000
    /// The bytes that may wait in memory when single originals are read.
    private static let readAhead = 4 << 20

    /// The plan's first line, with the reason and the actor of the run.
    package let header: ReplayPlanHeader
    /// The plan's file.
    package let path: String
    /// The digest of the plan's file.
    package let digest: String
    /// The job as it was when this was prepared, or nil if it was never run.
    package let job: JobLog.Job?
    /// The originals of requests still to be replayed that are no longer kept. None of a job that is finished.
    package let gone: GoneOriginals

    /// True if there is nothing more to do, and a run would send nothing.
    package var isFinished: Bool { job?.record.state == .done }

    /// Reads the plan, its job and the offsets of the originals' topics. Of each partition one original is read.
    ///
    /// - Parameters:
    ///   - path: The plan's file.
    ///   - reason: The reason of the run, 1 to 512 characters; nil keeps the plan's.
    ///   - actor: The user who replays, 1 to 128 characters; nil keeps the plan's.
    ///   - context: The brokers and topics.
    /// - Throws: The file cannot be read or is no plan, the finished job was another plan's (`otherPlan`), the job was cancelled, or
    ///   Kafka fails.
    package init(path: String, reason: String?, actor: String?, _ context: JobContext) throws(JobFailure) {
        let plan = try ReplayPlanReader(path)
        var header = plan.header
        if let reason { header.reason = reason }
        if let actor { header.actor = actor }
        self.header = header
        self.path = path
        digest = try ReplayPlanReader.digest(path, isCancelled: context.isCancelled)
        job = try context.job(header.jobID)
        if let job, job.record.state == .done {
            try job.record.requirePlan(digest)
            gone = GoneOriginals()
        } else {
            let originals = try JobFailure.naming(.readOriginals) { () throws(KafkaError) in
                try OriginalReader(context.kafka, readAhead: Self.readAhead, timeout: context.timeout)
            }
            gone = try GoneOriginals(
                plan, from: job?.next ?? 0, isCancelled: context.isCancelled,
                bounds: { topic throws(JobFailure) in try context.bounds(of: topic) },
                isReplaced: { item throws(JobFailure) in
                    try JobFailure.naming(.readOriginals) { () throws(KafkaError) in try originals.isReplaced(item.original) }
                })
        }
    }

    /// Requests a second for a run that says nothing else: those of the run before, or of the plan, or 500.
    package var rate: Double { header.rate(after: job) }

    /// A runner of the plan.
    ///
    /// - Parameters:
    ///   - context: The brokers and topics.
    ///   - planning: The configuration by which audiences become calls.
    ///   - rate: Requests a second, above 0.
    /// - Returns: The runner, which has done nothing yet.
    package func runner(_ context: JobContext, _ planning: FanOutPlanner.Configuration, rate: Double) -> ReplayRunner {
        ReplayRunner(context, planning, path: path, header: header, digest: digest, rate: rate)
    }

    /// The leftovers of the plan and of the runs up to the preparation.
    ///
    /// - Throws: The file cannot be read or is no plan.
    package func leftovers() throws(JobFailure) -> Leftovers { Leftovers(of: try ReplayPlanReader(path), job: job) }
}

extension ReplayPlanHeader {
    /// Requests a second for a run that says nothing else.
    ///
    /// - Parameter job: The run before, or nil for a plan that was never run.
    /// - Returns: The rate of the run before, or of the plan, or 500.
    package func rate(after job: JobLog.Job?) -> Double {
        job.flatMap { $0.record.rate > 0 ? min($0.record.rate, 1_000_000) : nil } ?? rate ?? 500
    }
}
