import FanOut
import JobSupport
import Kafka
import PushModel
import Replay

/// The work of one session: from where the job stands to its end, a pause or an interruption.
struct ReplayPass {
    enum End {
        /// There is nothing more to do, or an operator wants it so.
        case ended
        /// The job continues with another session.
        case again
    }

    /// The bytes that may wait in memory when the originals are read back.
    private static let readAhead = 32 << 20
    /// The most items and bytes of one transaction, and how long it may stay open.
    private static let batchCount = 500
    private static let batchByteCount = 256 << 10
    private static let batchTime = Duration.milliseconds(500)
    /// The interval at which a runner records that it is alive.
    private static let heartbeat = Duration.seconds(5)

    private let runner: ReplayRunner
    private let session: JobSession
    private let reporter: RunReporter
    private let originals: OriginalReader
    private let history: ReplayHistory
    private let stopped: StoppedRequests
    /// The numbers of partitions of topics that are written to.
    private var partitionCounts: [String: Int] = [:]
    private var writer: ReplayWriter
    private var json = ByteWriter()
    private var batch: JobBatch
    private var skipped: [Leftover: Int]
    private var skippedCount: Int
    private var batchEnd = ContinuousClock.now
    private var nextHeartbeat: ContinuousClock.Instant
    private var nextCheck = ContinuousClock.now
    private let start = ContinuousClock.now
    private var doneCount = 0

    /// Prepares to continue at the session's position.
    init(_ runner: ReplayRunner, _ session: JobSession, _ reporter: RunReporter) throws(SessionFailure) {
        self.runner = runner
        self.session = session
        self.reporter = reporter
        let context = runner.context
        originals = try SessionFailure.catching { () throws(KafkaError) in
            try OriginalReader(context.kafka, readAhead: Self.readAhead, timeout: context.timeout)
        }
        let manner = try SessionFailure.ending { () throws(JobFailure) in try runner.header.manner() }
        writer = ReplayWriter(manner, planner: FanOutPlanner(runner.planning))
        history = session.log.history
        let isLeftOut = runner.header.source == .results && !runner.header.exceptions.cancelled
        stopped = try SessionFailure.ending { () throws(JobFailure) in
            isLeftOut ? try context.stoppedRequests() : StoppedRequests()
        }
        batch = JobBatch(jobID: session.record.jobID, first: session.record.next)
        skipped = session.job?.skippedCounts ?? [:]
        skippedCount = session.job?.skippedCount ?? 0
        nextHeartbeat = .now + Self.heartbeat
        reporter.begin(at: session.record.next)
    }

    /// The job as it stands now.
    var job: JobLog.Job {
        var job = JobLog.Job(record: session.record)
        job.next = session.record.next
        job.skippedCounts = skipped
        job.seenAt = session.record.updatedAt.milliseconds
        return job
    }

    /// Does the work.
    mutating func run() throws(SessionFailure) -> End {
        let path = runner.path
        var plan = try SessionFailure.ending { () throws(JobFailure) in try ReplayPlanReader(path) }
        while let item = try SessionFailure.ending({ () throws(JobFailure) in try plan.nextItem() }) {
            guard item.number >= batch.next else { continue }
            if let end = try waitForTurn() { return end }
            try replay(item)
            doneCount += 1
            if batch.count >= Self.batchCount || batch.byteCount >= Self.batchByteCount { try commit(.running) }
        }
        try commit(.done)
        return .ended
    }

    /// Waits until the next request is due, and does meanwhile what cannot wait. Returns the end of the pass, if an operator
    /// wants one.
    private mutating func waitForTurn() throws(SessionFailure) -> End? {
        let due = start + .nanoseconds(Int64(Double(doneCount) * 1e9 / runner.rate))
        while true {
            let now = ContinuousClock.now
            if runner.context.isCancelled() {
                try commit(.interrupted)
                return .ended
            }
            if now >= nextCheck {
                nextCheck = now + .milliseconds(50)
                switch session.nextCommand() {
                case .stop:
                    try commit(.stopped)
                    return .ended
                case .pause: return try waitForResumption()
                case .resume, nil: break
                }
                reporter.reach(batch.next, skipped: skippedCount)
            }
            if batch.count > 0 ? now >= batchEnd : now >= nextHeartbeat { try commit(.running) }
            guard now < due else { return nil }
            Pause.sleep(min(.milliseconds(20), due - now))
        }
    }

    /// Waits until an operator resumes the job. Then a new session reads the records of the pause.
    private mutating func waitForResumption() throws(SessionFailure) -> End {
        try commit(.paused)
        runner.context.note(.paused(next: batch.next, count: session.record.requests))
        while true {
            if runner.context.isCancelled() {
                try commit(.interrupted)
                return .ended
            }
            switch session.nextCommand() {
            case .stop:
                try commit(.stopped)
                return .ended
            case .resume: return .again
            case .pause, nil: break
            }
            if ContinuousClock.now >= nextHeartbeat { try commit(.paused) }
            Pause.sleep(.milliseconds(50))
        }
    }

    private mutating func replay(_ item: ReplayItem) throws(SessionFailure) {
        if batch.count == 0 { batchEnd = .now + Self.batchTime }
        if let reason = try write(item) {
            batch.addSkipped(item.number, reason)
            skipped[reason, default: 0] += 1
            skippedCount += 1
        } else {
            batch.addReplayed(item.sends, of: item.original)
        }
    }

    /// Writes the new request of an item, or returns the reason when it is left.
    private mutating func write(_ item: ReplayItem) throws(SessionFailure) -> Leftover? {
        guard item.sends.intersection(history.replayed(item.original)).isEmpty else { return .replayed }
        let originals = originals
        let record = try SessionFailure.catching { () throws(KafkaError) in try originals.record(at: item.place) }
        guard let record else { return .gone }
        if runner.header.source == .deadletter { return try giveBack(record, of: item) }
        guard let value = record.value else { return .gone }
        let headers = record.knownHeaders
        let published = record.publishedAt ?? Timestamp(milliseconds: 0)
        let reason = writer.read(
            value.span, headers: headers, as: item.original, time: record.publishedAt,
            calls: item.calls.map { ($0.count, $0.platforms) },
            now: Timestamp(milliseconds: runner.context.now()))
        if let reason { return reason }
        if stopped.cancellation(of: writer.original, from: item.place.topic, published: published) != nil {
            return .cancelled
        }
        guard writer.write(item.sends, id: "\(session.record.jobID):\(item.number)", into: &json) else { return .invalid }
        try produce(record, headers, of: item.place.partition)
        return nil
    }

    /// The partition of a topic with the number of the original's, so that requests which are compared or kept in order stay together,
    /// whoever chose it. Nil where the topic has no such partition: then the key decides.
    private mutating func partition(_ number: Int32, of topic: String) throws(SessionFailure) -> Int32? {
        let known = partitionCounts[topic]
        let originals = originals
        let count = try SessionFailure.catching { () throws(KafkaError) in
            if let known { known } else { try originals.partitionCount(of: topic) }
        }
        partitionCounts[topic] = count
        return (0..<count).contains(Int(number)) ? number : nil
    }

    private mutating func produce(
        _ original: FetchedRecord, _ known: borrowing RecordHeaders, of number: Int32
    ) throws(SessionFailure) {
        let partition = try partition(number, of: session.requests.name)
        var headers = HeaderList()
        headers.append("content-type", value: "application/json")
        if let parent = known.value(.traceParent, or: .ceTraceParent) {
            headers.append(name: "traceparent".utf8Span.span, value: parent)
        }
        if let state = known.value(.traceState, or: .ceTraceState) {
            headers.append(name: "tracestate".utf8Span.span, value: state)
        }
        do throws(KafkaError) {
            try session.begin()
            if let key = original.key {
                try session.producer.produce(
                    to: session.requests, partition: partition, key: key.span, value: json.span, headers: headers)
            } else {
                try session.producer.produce(
                    to: session.requests, partition: partition, key: nil, value: json.span, headers: headers)
            }
        } catch {
            throw .kafka(error)
        }
    }

    /// Writes a dead letter to where it came from: the same partition, key and headers, and the same value but for the plan's changes.
    private mutating func giveBack(_ record: FetchedRecord, of item: ReplayItem) throws(SessionFailure) -> Leftover? {
        guard item.original.mayBe(Original(at: item.place, publishedAt: record.publishedAt)) else { return .gone }
        guard let letter = DeadLetter(record) else { return .invalid }
        guard letter.isWhole else { return .cut }
        let value = letter.edited(writer.manner.edits, replacement: runner.header.replacement)
        guard value != nil || letter.value == nil else { return .invalid }
        let partition = try letter.partition.flatMap { number throws(SessionFailure) in
            try self.partition(number, of: letter.topic)
        }
        do throws(KafkaError) {
            try session.begin()
            let topic = try session.producer.topic(named: letter.topic)
            try session.producer.write(key: letter.key, value: value, headers: letter.headers, to: topic, partition: partition)
        } catch {
            throw .kafka(error)
        }
        return nil
    }

    /// Ends the transaction, or writes where the job stands in one of its own.
    private mutating func commit(_ state: JobRecord.State) throws(SessionFailure) {
        var record = session.record
        record.state = state
        record.next = batch.next
        record.skipped = skippedCount
        record.replayed = record.next - skippedCount
        try session.write(record, batch)
        batch = JobBatch(jobID: record.jobID, first: record.next)
        nextHeartbeat = .now + Self.heartbeat
        reporter.reach(record.next, skipped: record.skipped)
    }
}
