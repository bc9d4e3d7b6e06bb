import Delivery
import JobSupport
import Kafka
import PushModel

/// The right to run a job: held by one process at a time, and for one job at a time of those that may have the same originals.
///
/// The transactional id comes from the job (`TransactionalSession`), and what is read back is above all the job's own progress. Of two
/// claims the earlier one counts. A runner that was silent for 30 s is fenced by its own transactional id before its claim is ignored.
/// So it can write nothing more if it wakes up.
final class JobSession {
    /// The producer, between transactions.
    var producer: Producer { session.producer }
    var requests: Producer.Topic { session.topics[0] }
    /// The content of the topic up to the claim.
    private(set) var log: JobLog
    private(set) var record: JobRecord

    private let session: TransactionalSession
    private var reader: TopicReader
    private let context: JobContext
    private var claimCount = 0
    private var isOpen = false
    /// The time at which the latest transaction was begun.
    private var begun = ContinuousClock.now
    /// A session that is fenced after so long was fenced by a time-out, namely the 15 s of producers.
    private static let overlong = Duration.milliseconds(13_500)
    /// The job as its last runner left it.
    private var before: JobRecord?

    static func transactionalID(_ jobID: String) -> String { "pushfan-replay-\(jobID)" }

    /// Opens a session. The plan knows the earlier replays up to an offset that it read at a moment.
    init(
        _ record: JobRecord, plannedAt: (offset: Int64, time: Timestamp), _ context: JobContext
    ) throws(SessionFailure) {
        self.record = record
        self.context = context
        let names = [context.topics.requestsOwn, context.topics.replays]
        log = JobLog(from: plannedAt.offset, endingAt: plannedAt.time, besides: record.jobID)
        do throws(KafkaError) {
            let session = try TransactionalSession(
                context.kafka, id: Self.transactionalID(record.jobID), topics: names, timeout: context.timeout,
                isCancelled: context.isCancelled)
            self.session = session
            reader = try session.reader(of: session.topics[1])
            try session.fence()
        } catch {
            throw .kafka(error)
        }
        try claim()
        try checkJob(record.planDigest)
        try yieldToOthers()
    }

    /// The job's own entry in the log.
    var job: JobLog.Job? { log.jobs[record.jobID] }

    /// Writes that the job runs, and reads the topic up to that.
    private func claim() throws(SessionFailure) {
        claimCount += 1
        let name = "\(record.runner)/\(claimCount)"
        var claim = record
        claim.runner = name
        try write(claim, nil)
        do throws(KafkaError) {
            try session.readBack(reader, until: { job?.record.runner == name }) { next in
                before = job?.record ?? before
                log.take(next)
            }
        } catch {
            if error.isAuthorization || error.isFatal { throw .kafka(error) }
            if context.isCancelled() { throw .final(.cancelled) }
            throw .final(.room(ReplayFailure.unreadClaim(error)))
        }
        resume()
    }

    /// Goes on where the job's batches end.
    private func resume() {
        guard let job else { return }
        record.next = job.next
        record.skipped = job.skippedCount
        record.replayed = job.next - job.skippedCount
        if let before { record.startedAt = before.startedAt }
    }

    /// Refuses a job that was ended, and one whose plan was another file.
    private func checkJob(_ planDigest: String) throws(SessionFailure) {
        if before?.state == .stopped || job?.command?.command.kind == .stop {
            try withdraw(.stopped)
            throw .final(.room(ReplayFailure.stopped(job: record.jobID)))
        }
        guard let before else { return }
        do throws(JobFailure) {
            try before.requirePlan(planDigest)
        } catch {
            try withdraw(before.state)
            throw .final(error)
        }
    }

    /// Takes the claim back.
    private func withdraw(_ state: JobRecord.State) throws(SessionFailure) {
        var withdrawn = before ?? record
        withdrawn.state = state
        try write(withdrawn, nil)
    }

    /// Ignores claims of runners that are gone, and yields to a running one. Jobs of two tenants have no original in common.
    private func yieldToOthers() throws(SessionFailure) {
        let own = job?.seenAt ?? context.now()
        let others = log.jobs.values.filter {
            $0.record.jobID != record.jobID && $0.record.state == .running
                && JobRecord.mayOverlap($0.record.tenant, with: record.tenant)
        }
        if let other = others.first(where: { $0.isAlive(at: own) }) {
            try withdraw(before?.state ?? .interrupted)
            throw .final(.room(ReplayFailure.running(job: other.record.jobID)))
        }
        guard !others.isEmpty else { return }
        for other in others {
            let id = Self.transactionalID(other.record.jobID)
            try SessionFailure.catching { () throws(KafkaError) in try session.fence(id) }
        }
        // The records that they had committed before they were fenced lie before this claim.
        try claim()
    }

    /// Writes in one transaction the state of the job, the work that was done, and all records handed to the producer since it
    /// began. After an error the next session finds out whether it took place.
    func write(_ record: JobRecord, _ batch: JobBatch?) throws(SessionFailure) {
        var record = record
        record.updatedAt = Timestamp(milliseconds: context.now())
        do throws(KafkaError) {
            try begin()
            if let batch, batch.count > 0 { try produce(key: batch.key, batch.json) }
            try produce(key: record.jobID, record.json)
            try commit()
        } catch {
            throw .kafka(error)
        }
        isOpen = false
        self.record = record
    }

    /// Begins a transaction, unless one is open.
    func begin() throws(KafkaError) {
        guard !isOpen else { return }
        try producer.beginTransaction()
        begun = .now
        isOpen = true
    }

    private func produce(key: String, _ value: [UInt8]) throws(KafkaError) {
        // In one partition everything has one order.
        try producer.write(key: Array(key.utf8), value: value, to: session.topics[1], partition: 0)
    }

    private func commit() throws(KafkaError) {
        do throws(KafkaError) {
            try session.commit()
        } catch {
            if error.isFenced, begun.duration(to: .now) >= Self.overlong { throw .overlongTransaction }
            throw error
        }
    }

    /// The operator's new wish for the job since the session began, if any.
    func nextCommand() -> JobCommand.Kind? {
        let known = job?.command?.offset
        var result: ReadResult
        repeat { result = reader.read(timeout: .zero) { log.take($0) } } while result == .record
        if case .error(let error) = result, error.isOutdated,
            let other = try? session.reader(of: session.topics[1], from: .offsets(reader.positions))
        {
            reader.close()
            reader = other
        }
        guard let command = job?.command, command.offset != known else { return nil }
        return command.command.kind
    }
}
