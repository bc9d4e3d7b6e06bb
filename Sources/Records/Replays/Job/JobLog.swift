import Delivery
package import JobSupport
package import Kafka
package import PushModel
package import Replay
import Synchronization

/// The content of the replays topic: every job, its progress, and its repetitions.
package struct JobLog {
    /// One job.
    package struct Job: Sendable {
        /// The state of the job, as its runner last recorded it.
        package var record: JobRecord
        /// The offset of that.
        package var recordOffset: Int64 = -1
        /// The time of that record, by the broker's or the runner's clock, in milliseconds since 1970.
        package var seenAt: Int64 = 0
        /// The number of the first item that was not dealt with.
        package var next = 0
        /// The number of skipped items by reason.
        package var skippedCounts: [Leftover: Int] = [:]
        /// The skipped items by their numbers, if the log was to keep those of this job.
        package var skipped: [Int: Leftover] = [:]
        /// The operator's wish for the job, and its offset.
        package var command: (command: JobCommand, offset: Int64)?

        /// The number of skipped items.
        package var skippedCount: Int { skippedCounts.values.reduce(0, +) }

        /// The state of the job, if the runner's last record may be outdated: a killed runner writes nothing.
        package func state(at now: Int64) -> JobRecord.State {
            guard record.state != .done, record.state != .stopped, !isAlive(at: now) else { return record.state }
            return command?.command.kind == .stop ? .stopped : .interrupted
        }

        /// A runner is there, or was until a moment ago.
        package func isAlive(at now: Int64) -> Bool {
            (record.state == .running || record.state == .paused) && now - seenAt < JobLog.patience
        }
    }

    /// The silence, in milliseconds, after which a runner counts as gone.
    package static let patience: Int64 = 30_000

    /// The jobs by their ids.
    package private(set) var jobs: [String: Job] = [:]
    /// The repetitions.
    package private(set) var history = ReplayHistory()
    /// The last record, by its offset and its time: a topic that was made again has another one there.
    private(set) var last: (offset: Int64, time: Int64?)?
    fileprivate let start: Int64
    private let startTime: Timestamp
    private let besides: String?
    private let places: Set<RecordPlace>?
    private let itemsJob: String?
    private var document = JSONDocument()

    /// Nothing was read yet.
    ///
    /// - Parameters:
    ///   - start: The offset of the first repetitions that `history` keeps. With `.max` it keeps none, however many there are.
    ///   - time: The moment at which the topic ended at `start`. What is written later is kept at any offset: a topic that was made again
    ///     counts from 0.
    ///   - besides: The job whose repetitions it does not keep.
    ///   - places: The requests whose repetitions it keeps, or nil for those of all.
    ///   - itemsJob: The job whose skipped items are kept one by one.
    package init(
        from start: Int64 = 0, endingAt time: Timestamp = .never, besides: String? = nil, at places: Set<RecordPlace>? = nil,
        itemsOf itemsJob: String? = nil
    ) {
        self.start = start
        startTime = time
        self.besides = besides
        self.places = places
        self.itemsJob = itemsJob
    }

    /// The offset behind the last record.
    package var end: Int64 { last.map { $0.offset + 1 } ?? 0 }

    /// The jobs, the newest first. Their ids sort by time.
    package var newestFirst: [Job] { jobs.values.sorted { $0.record.jobID > $1.record.jobID } }

    /// Takes a record in.
    package mutating func take(_ record: borrowing ConsumedRecord) {
        last = (record.offset, record.timestamp)
        guard let value = record.value, (try? document.read(value)) != nil,
            let id = document.text("job_id", of: document.root)
        else { return }
        switch document.text("kind", of: document.root) {
        case "job":
            guard let found = JobRecord(document) else { return }
            history.noteJob(id)
            jobs[id, default: Job(record: found)].record = found
            jobs[id]?.recordOffset = record.offset
            jobs[id]?.seenAt = record.timestamp ?? found.updatedAt.milliseconds
        case "batch":
            history.noteJob(id)
            let isLate = record.timestamp.map { Timestamp(milliseconds: $0) > startTime } ?? false
            takeBatch(of: id, keepsPlaces: record.offset >= start || isLate)
        case "wish":
            guard let kind = document.text("wish", of: document.root).flatMap(JobCommand.Kind.init(rawValue:)) else { return }
            let wish = JobCommand(jobID: id, kind: kind, actor: document.text("actor", of: document.root) ?? "")
            jobs[id, default: Job(record: JobRecord(jobID: id, state: .interrupted))].command = (wish, record.offset)
        default: return
        }
    }

    private mutating func takeBatch(of id: String, keepsPlaces: Bool) {
        let root = document.root
        var job = jobs[id] ?? Job(record: JobRecord(jobID: id, state: .interrupted))
        let known = job.next
        job.next = max(job.next, Int(min(document.integer("next", of: root) ?? 0, 1 << 53)))
        if let skipped = document.member("skipped", of: root) {
            document.forEachElement(of: skipped) { entry in
                var parts = document.children(of: entry)
                guard let (_, number) = parts.next(in: document), let (_, word) = parts.next(in: document),
                    let index = document.integer(at: number), index >= known,
                    let reason = Leftover(rawValue: document.string(document.text(of: word)))
                else { return }
                job.skippedCounts[reason, default: 0] += 1
                if id == itemsJob { job.skipped[Int(index)] = reason }
            }
        }
        jobs[id] = job
        guard keepsPlaces, id != besides, let replayed = document.member("replayed", of: root) else { return }
        var entries = document.children(of: replayed)
        while let (_, entry) = entries.next(in: document) {
            var parts = document.children(of: entry)
            guard let (_, first) = parts.next(in: document),
                let place = RecordPlace(document.string(document.text(of: first))), places?.contains(place) ?? true
            else { continue }
            var sends = SendSet()
            var original = Original(at: place)
            while let (_, part) = parts.next(in: document) {
                if document.kind(of: part) == .object {
                    original = Original(
                        at: place, id: document.text("request_id", of: part),
                        publishedAt: document.moment("published_at", of: part))
                } else {
                    sends.insert(Int(document.integer(at: part) ?? -1))
                }
            }
            history.noteReplay(of: sends.isEmpty ? .all : sends, in: original)
        }
    }
}

extension JobContext {
    /// Reads the jobs up to now, none when there is no topic for them yet.
    package func jobLog() throws(JobFailure) -> JobLog { try read(JobLog()) }

    /// Reads the states of the jobs up to now, in memory that does not grow with what they have repeated.
    package func jobStates() throws(JobFailure) -> JobLog { try read(JobLog(from: .max)) }

    /// Reads one job with its skipped items, or returns nil when it was never run.
    package func job(_ id: String) throws(JobFailure) -> JobLog.Job? { try read(JobLog(from: .max, itemsOf: id)).jobs[id] }

    /// Reads what was repeated of these requests.
    func history(of places: Set<RecordPlace>) throws(JobFailure) -> ReplayHistory { try read(JobLog(at: places)).history }

    private func read(_ empty: JobLog) throws(JobFailure) -> JobLog {
        var log = empty
        try readJobs { log.take($0) }
        return log
    }
}

/// The states of all jobs, kept by a service that asks for them often. Each time it reads new records alone.
package final class JobStates: Sendable {
    private let context: JobContext
    /// Held by the one thread that reads.
    private let log: Mutex<JobLog>

    /// States of which nothing was read. With `keepsPlaces`, what the jobs have repeated is kept with them.
    package init(_ context: JobContext, keepsPlaces: Bool = false) {
        self.context = context
        log = Mutex(JobLog(from: keepsPlaces ? 0 : .max))
    }

    /// The states now, none when there is no topic for jobs. What was read before `other` has ended is kept for the next time.
    package func current(in other: JobContext? = nil) throws(JobFailure) -> JobLog {
        try log.withLock { log -> Result<JobLog, JobFailure> in
            Result { () throws(JobFailure) in
                try (other ?? context).readOn(&log)
                return log
            }
        }.get()
    }
}

extension JobContext {
    /// Reads the records since a log was read, or all of them where the last one is no longer there, as after the topic was made again.
    fileprivate func readOn(_ log: inout JobLog) throws(JobFailure) {
        let scan = TopicScan(self, topic: topics.replays)
        if let last = log.last, let reader = try scan.openIfThere(.offsets([0: last.offset]), .end) {
            defer { reader.close() }
            var isSame: Bool?
            try readJobs(reader, of: scan) { record in
                if isSame == true { log.take(record) }
                isSame = isSame ?? ((record.offset, record.timestamp) == last)
            }
            if isSame == true { return }
        }
        log = JobLog(from: log.start)
        try readJobs { log.take($0) }
    }
}
