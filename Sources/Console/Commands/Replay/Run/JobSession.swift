import Glibc
import Kafka
import PushModel
import Replay
import Settings

/// The right to run a job: held by one process at a time, and for one job at a time.
///
/// The transactional id comes from the job, so that a new session fences an earlier one and settles what it left open. The session then
/// writes a claim and reads the topic up to it. So it has read whatever was committed before, above all the job's own progress, even if
/// another producer's open transaction had hidden it. Of two claims the earlier one counts. A runner that was silent for 30 s is fenced by
/// its own transactional id before its claim is ignored. So it can write nothing more if it wakes up.
final class JobSession {
    /// The producer, between transactions.
    let producer: Producer
    /// Where the new requests go.
    let requests: Producer.Topic
    /// What the topic tells, up to the claim.
    private(set) var log: JobLog
    /// Where the job stands.
    private(set) var record: JobRecord

    private let topic: Producer.Topic
    private let reader: TopicReader
    private let configuration: KafkaConfiguration
    private let timeout: Duration
    private let now: @Sendable () -> Int64
    private var claimCount = 0
    private var isOpen = false
    /// When the latest transaction was begun.
    private var begun = ContinuousClock.now
    /// Who is fenced after so long was so by a time-out, that of 15 s which producers have.
    private static let overlong = Duration.milliseconds(13_500)
    /// The job as its last runner left it.
    private var before: JobRecord?

    /// The transactional id of a job.
    static func transactionalID(_ jobID: String) -> String { "pushfan-replay-\(jobID)" }

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - record: The job, as a first run would begin it.
    ///   - plannedAt: The offset up to which the plan knows what was replayed.
    ///   - settings: Where the topics are.
    ///   - timeout: How long to wait for the brokers.
    ///   - now: Milliseconds since 1970.
    /// - Throws: Kafka does not answer, the job was ended, or another one is running.
    init(
        _ record: JobRecord, plannedAt: Int64, _ settings: Settings, timeout: Duration, now: @escaping @Sendable () -> Int64
    ) throws(ReplayTrouble) {
        self.record = record
        self.timeout = timeout
        self.now = now
        let configuration = settings.kafkaConfiguration()
        self.configuration = configuration
        let names = [settings.kafka.topics.requestsOwn, settings.kafka.topics.replays]
        log = JobLog(from: plannedAt, besides: record.jobID)
        let producer = try ReplayTrouble.catching { () throws(KafkaError) in
            try Producer(configuration, transactionalID: Self.transactionalID(record.jobID))
        }
        self.producer = producer
        let topics = try ReplayTrouble.catching { () throws(KafkaError) in
            try FreshTopics.retrying { () throws(KafkaError) in try producer.warmUp(topics: names, timeout: timeout) }
        }
        requests = topics[0]
        topic = topics[1]
        reader = try ReplayTrouble.catching { () throws(KafkaError) in
            try TopicReader(configuration, topic: names[1], start: .beginning, timeout: timeout)
        }
        try ReplayTrouble.catching { () throws(KafkaError) in try producer.fenceOthers(within: timeout) }
        try claim()
        try checkJob(record.planDigest)
        try yieldToOthers()
    }

    deinit {
        reader.close()
        producer.close(timeout: .zero)
    }

    /// What is known of the job itself.
    var job: JobLog.Job? { log.jobs[record.jobID] }

    /// Writes that the job runs, and reads the topic up to that.
    private func claim() throws(ReplayTrouble) {
        claimCount += 1
        let name = "\(record.runner)/\(claimCount)"
        var claim = record
        claim.runner = name
        try write(claim, nil)
        let deadline = Deadline(after: timeout)
        while log.jobs[record.jobID]?.record.runner != name {
            before = log.jobs[record.jobID]?.record ?? before
            if case .error(let error) = reader.read(timeout: .milliseconds(100), { log.take($0) }), error.isAuthorization {
                throw .kafka(error)
            }
            if Interruption.isRequested { throw .final(CommandFailure(Interruption.exitCode, "interrupted")) }
            guard deadline.hasPassed else { continue }
            throw .final(
                CommandFailure(
                    .temporary, "\(topic.name) cannot be read up to what was written just now",
                    hint: "a hanging transaction may block it; the broker aborts it when it times out"))
        }
        takeUp()
    }

    /// Goes on where the job's batches end.
    private func takeUp() {
        guard let job else { return }
        record.next = job.next
        record.skipped = job.skipped.count
        record.replayed = job.next - job.skipped.count
        if let before { record.startedAt = before.startedAt }
    }

    /// Refuses a job that was ended, and one whose plan was another file.
    private func checkJob(_ planDigest: String) throws(ReplayTrouble) {
        if before?.state == .stopped || job?.wish?.wish.kind == .stop {
            try withdraw(.stopped)
            throw .final(
                CommandFailure(
                    .refused, "the replay \(record.jobID) was stopped",
                    hint: "`pushfan replay plan --leftovers FILE` plans what it left as a new job"))
        }
        if let before, !before.planDigest.isEmpty, before.planDigest != planDigest {
            try withdraw(before.state)
            throw .final(
                CommandFailure(.refused, "the job \(record.jobID) was begun with another plan", hint: "make a new plan")
            )
        }
    }

    /// Takes the claim back.
    private func withdraw(_ state: JobRecord.State) throws(ReplayTrouble) {
        var withdrawn = before ?? record
        withdrawn.state = state
        try write(withdrawn, nil)
    }

    /// Passes over claims of runners that are gone, and gives way to one that is not.
    private func yieldToOthers() throws(ReplayTrouble) {
        let own = job?.seenAt ?? now()
        let others = log.jobs.values.filter { $0.record.jobID != record.jobID && $0.record.state == .running }
        if let other = others.first(where: { $0.isAlive(at: own) }) {
            try withdraw(before?.state ?? .interrupted)
            throw .final(
                CommandFailure(
                    .temporary, "the replay \(other.record.jobID) is running; one runs at a time",
                    hint: "wait for it, or `pushfan replay pause \(other.record.jobID)`"))
        }
        guard !others.isEmpty else { return }
        for other in others {
            try ReplayTrouble.catching { () throws(KafkaError) in
                let fence = try Producer(configuration, transactionalID: Self.transactionalID(other.record.jobID))
                defer { fence.close(timeout: .zero) }
                try fence.fenceOthers(within: timeout)
            }
        }
        // What they had committed before they were fenced lies before this claim.
        try claim()
    }

    /// Writes in one transaction: where the job stands, what was dealt with, and whatever was handed to the producer since it began.
    ///
    /// - Parameters:
    ///   - record: Where the job stands then.
    ///   - batch: What was dealt with.
    /// - Throws: Kafka did not confirm it. Whether it took place, the next session finds out.
    func write(_ record: JobRecord, _ batch: JobBatch?) throws(ReplayTrouble) {
        var record = record
        record.updatedAt = Timestamp(milliseconds: now())
        try begin()
        if let batch, batch.count > 0 { try produce(key: batch.key, batch.json) }
        try produce(key: record.jobID, record.json)
        try ReplayTrouble.catching { () throws(KafkaError) in try commit() }
        isOpen = false
        self.record = record
    }

    /// Begins a transaction, unless one is open.
    func begin() throws(ReplayTrouble) {
        guard !isOpen else { return }
        try ReplayTrouble.catching { () throws(KafkaError) in try producer.beginTransaction() }
        begun = .now
        isOpen = true
    }

    private func produce(key: String, _ value: [UInt8]) throws(ReplayTrouble) {
        let key = Array(key.utf8)
        try ReplayTrouble.catching { () throws(KafkaError) in
            // In one partition everything has one order.
            try producer.produce(to: topic, partition: 0, key: key.span, value: value.span)
        }
    }

    private func commit() throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try producer.commitTransaction(timeout: nil)
            } catch {
                if error.isFenced, begun.duration(to: .now) >= Self.overlong { throw .overlongTransaction }
                guard error.isRetriable, !error.isFatal else { throw error }
            }
        }
    }

    /// Looks whether an operator has a new wish for the job since the session began.
    func nextWish() -> JobWish.Kind? {
        let known = job?.wish?.offset
        while case .record = reader.read(timeout: .zero, { log.take($0) }) {}
        guard let wish = job?.wish, wish.offset != known else { return nil }
        return wish.wish.kind
    }
}
