package import FanOut
import Glibc
package import JobSupport
import Kafka
import PushModel

/// Carries out a plan exactly once, however often it is begun.
///
/// Each transaction holds new requests together with the record of what they repeat and how far the job is. A run that dies anywhere
/// leaves either all of a transaction or nothing of it, and the next run goes on behind it.
///
/// `run` blocks its thread until the replay ends, for hours perhaps. Of replays that may have the same originals one runs at a time on a
/// cluster, so of two threads or processes that run them, the later gets `running`. Any other thread may pause, resume or stop it with
/// `JobContext.request(_:of:actor:)`.
package struct ReplayRunner {
    /// Sessions in a row that fail without getting anything done.
    private static let maximumFailures = 6

    let context: JobContext
    /// The configuration by which audiences become calls.
    let planning: FanOutPlanner.Configuration
    /// The plan's file.
    let path: String
    /// The plan's first line, with the reason and the actor of the run.
    let header: ReplayPlanHeader
    /// The digest of the plan's file.
    let digest: String
    /// Requests a second.
    let rate: Double

    /// A runner of the plan with this digest, at `rate` requests a second, above 0. The header has the reason and the actor of
    /// the run.
    package init(
        _ context: JobContext, _ planning: FanOutPlanner.Configuration, path: String, header: ReplayPlanHeader, digest: String,
        rate: Double
    ) {
        self.context = context
        self.planning = planning
        self.path = path
        self.header = header
        self.digest = digest
        self.rate = rate
    }

    /// Runs the job to its end, or until an operator stops it, and returns how it stands then. Reports some 20 times a second. After an error another run
    /// continues.
    package func run(report: @escaping (RunProgress) -> Void) throws(JobFailure) -> JobLog.Job {
        var failures = 0
        var reached = -1
        let reporter = RunReporter(report)
        while true {
            do throws(SessionFailure) {
                var pass = try ReplayPass(self, try open(), reporter)
                if try pass.run() == .ended { return pass.job }
                failures = 0
            } catch {
                switch error {
                case .final(let failure): throw failure
                case .kafka(let error):
                    failures = reporter.count > reached ? 1 : failures + 1
                    reached = reporter.count
                    try giveUp(after: error, failures)
                    context.note(.retrying(error))
                    Pause.sleep(.milliseconds(500))
                }
            }
        }
    }

    /// Decides whether another session could do better.
    private func giveUp(after error: KafkaError, _ failures: Int) throws(JobFailure) {
        if error.isFenced {
            throw .room(ReplayFailure.takenOver)
        }
        guard error.isHopeless || failures >= Self.maximumFailures || context.isCancelled() else { return }
        throw .kafka(error, .replay)
    }

    /// A session that knows how far the job is.
    private func open() throws(SessionFailure) -> JobSession {
        try JobSession(claim, plannedAt: (header.jobsOffset, header.createdAt), context)
    }

    /// The record with which a session claims the job, under a name that no other has.
    var claim: JobRecord {
        var record = JobRecord(jobID: header.jobID, state: .running)
        record.source = header.source
        record.filter = header.filter
        record.reason = header.reason
        record.actor = header.actor
        record.tenant = header.tenant
        record.planDigest = digest
        record.requests = header.counts.requests
        record.rate = rate
        record.runner = "\(getpid()).\(UInt32.random(in: .min ... .max))"
        record.startedAt = Timestamp(milliseconds: context.now())
        return record
    }
}
