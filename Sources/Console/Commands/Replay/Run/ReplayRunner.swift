import Basics
import Glibc
import Kafka
import PushModel
import Replay
import Settings

/// Does what a plan says, exactly once, however often it is begun.
///
/// Each transaction holds new requests together with the record of what they repeat and how far the job is. A run that dies anywhere
/// leaves either all of a transaction or nothing of it, and the next run goes on behind it.
struct ReplayRunner {
    /// How a run ended.
    struct Ending {
        /// Where the job stands.
        var record: JobRecord
        /// What was passed over, in all runs, by the reason.
        var skipped: [Leftover: Int]
    }

    /// Sessions in a row that fail without getting anything done.
    private static let maximumFailures = 6

    /// The command.
    let invocation: Invocation
    /// Where the topics are.
    let settings: Settings
    /// The plan's file.
    let path: String
    /// The plan's first line, with the reason and the actor of the run.
    let header: ReplayPlanHeader
    /// The digest of the plan's file.
    let digest: String
    /// Requests a second.
    let rate: Double
    /// How long to wait for the brokers.
    let timeout: Duration

    /// Runs the job to its end, or until an operator stops it.
    ///
    /// - Returns: How it ended.
    /// - Throws: It cannot go on; running the plan again does.
    func run() throws(CommandFailure) -> Ending {
        var failures = 0
        var reached = -1
        let progress = ReplayProgress(total: header.counts.requests, invocation.streams)
        defer { progress.end() }
        while true {
            do throws(ReplayTrouble) {
                var pass = try ReplayPass(self, try open(), progress)
                if try pass.run() == .ended { return pass.ending }
                failures = 0
            } catch {
                switch error {
                case .final(let failure): throw failure
                case .kafka(let error):
                    failures = progress.count > reached ? 1 : failures + 1
                    reached = progress.count
                    try giveUp(after: error, failures)
                    invocation.streams.note("once more after: \(Sanitised.line(error.description))")
                    Self.pause(.milliseconds(500))
                }
            }
        }
    }

    /// Decides whether another session could do better.
    private func giveUp(after error: KafkaError, _ failures: Int) throws(CommandFailure) {
        if error.isFenced {
            throw CommandFailure(.temporary, "another process has taken the job over, and goes on with it")
        }
        guard error.isHopeless || failures >= Self.maximumFailures || Interruption.isRequested else { return }
        throw invocation.failure(error, settings.kafka, to: "replay")
    }

    /// A session that knows how far the job is.
    private func open() throws(ReplayTrouble) -> JobSession {
        var record = JobRecord(jobID: header.jobID, state: .running)
        record.filter = header.filter
        record.reason = header.reason
        record.actor = header.actor
        record.planDigest = digest
        record.requests = header.counts.requests
        record.rate = rate
        record.runner = "\(getpid()).\(UInt32.random(in: .min ... .max))"
        record.startedAt = Timestamp(milliseconds: invocation.surroundings.now())
        return try JobSession(
            record, plannedAt: header.jobsOffset, settings, timeout: timeout, now: invocation.surroundings.now)
    }

    /// Waits for less than a second.
    static func pause(_ time: Duration) {
        var time = timespec(tv_sec: 0, tv_nsec: Int(min(max(0, time.wholeMilliseconds), 999)) * 1_000_000)
        nanosleep(&time, nil)
    }
}
