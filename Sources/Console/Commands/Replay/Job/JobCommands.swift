import Kafka
import PushModel
import Replay
import ResultQuery
import Settings

/// `pushfan replay list`, `status`, `pause`, `resume`, `stop`: looks at jobs, and tells their runners what to do.
enum JobCommands {
    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try invocation.settings()
        let log = try invocation.jobLog(settings, timeout: try timeout(invocation))
        let jobs = log.newestFirst
        guard !jobs.isEmpty else { throw CommandFailure(.nothingMatched, "no replay was ever run") }
        try write(jobs, invocation)
        return .done
    }

    static func status(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try invocation.settings()
        let job = try find(try invocation.jobLog(settings, timeout: try timeout(invocation)), invocation)
        let outcomes = try outcomes(of: job, settings, invocation)
        let now = invocation.surroundings.now()
        guard invocation.arguments.format() == .table else {
            try invocation.streams.out(json(job, now, outcomes) + [UInt8(ascii: "\n")])
            return .done
        }
        let record = job.record
        var lines = [
            "job         \(Sanitised.line(record.jobID))", "state       \(state(job, now))",
            "filter      \(Sanitised.line(record.filter))", "reason      \(Sanitised.line(record.reason))",
            "actor       \(Sanitised.line(record.actor))", "started     \(record.startedAt.text)",
            "progress    \(job.next) of \(record.requests), \(job.skipped.count) of them left out",
        ]
        if record.state == .running, record.rate > 0, job.isAlive(at: now) {
            let rest = Int64(Double(record.requests - job.next) / record.rate * 1000)
            lines.append("to go       \(TimeText.length(milliseconds: rest)) at \(Int(record.rate)) requests a second")
        }
        for reason in Leftover.allCases {
            let count = job.skipped.values.count { $0 == reason }
            if count > 0 { lines.append("left out    \(count), \(reason.explanation)") }
        }
        let results = outcomes.map { "\($0.count) \($0.state)" }.joined(separator: ", ")
        lines.append("results     " + (results.isEmpty ? "none yet" : results))
        try invocation.streams.out(lines.joined(separator: "\n"))
        invocation.streams.note("`pushfan results list job:\(Sanitised.line(record.jobID)) -state:sent` lists what failed again")
        return .done
    }

    static func pause(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try want(.pause, .paused, invocation) }
    static func resume(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try want(.resume, .running, invocation) }
    static func stop(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try want(.stop, .stopped, invocation) }

    /// Writes a wish, and waits until the runner has heard it.
    private static func want(
        _ kind: JobWish.Kind, _ state: JobRecord.State, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        Interruption.catchSignals()
        let settings = try invocation.settings()
        let timeout = try timeout(invocation)
        let job = try find(try invocation.jobLog(settings, timeout: timeout), invocation)
        let id = job.record.jobID
        let standing = job.state(at: invocation.surroundings.now())
        if standing == .done || standing == .stopped {
            throw CommandFailure(.refused, "the replay \(id) is \(standing.rawValue) already")
        }
        guard standing != state else {
            try write([job], invocation)
            return .done
        }
        try write(JobWish(jobID: id, kind: kind, actor: try PlanCommand.actor(invocation)), settings, timeout, invocation)
        guard job.isAlive(at: invocation.surroundings.now()) else {
            guard kind != .stop else {
                invocation.streams.note("no runner is at work; it will not be run again")
                return .done
            }
            throw CommandFailure(.temporary, "no runner is at work", hint: "`pushfan replay run PLAN` goes on where it stopped")
        }
        let deadline = Deadline(after: timeout)
        while !deadline.hasPassed, !Interruption.isRequested {
            let now = try find(try invocation.jobLog(settings, timeout: timeout), invocation)
            if now.record.state == state || now.record.state == .done {
                try write([now], invocation)
                return .done
            }
            ReplayRunner.pause(.milliseconds(200))
        }
        throw CommandFailure(.temporary, "the runner of \(id) has not answered in time", hint: "it will when it is back")
    }

    private static func write(
        _ wish: JobWish, _ settings: Settings, _ timeout: Duration, _ invocation: Invocation
    ) throws(CommandFailure) {
        do throws(KafkaError) {
            let producer = try Producer(settings.kafkaConfiguration(), transactionalID: nil)
            defer { producer.close(timeout: .zero) }
            let topic = try producer.topic(named: settings.kafka.topics.replays)
            try producer.write(key: Array(wish.key.utf8), value: wish.json, to: topic, partition: 0)
            try producer.flush(timeout: timeout)
            if let error = producer.failedDeliveries.first { throw error }
        } catch {
            throw invocation.failure(error, settings.kafka, to: "write to \(settings.kafka.topics.replays)")
        }
    }

    private static func timeout(_ invocation: Invocation) throws(CommandFailure) -> Duration {
        try invocation.arguments.duration("timeout") ?? .seconds(10)
    }

    /// The job that the operand names, in whole or by an end that only one has.
    static func find(_ log: JobLog, _ invocation: Invocation) throws(CommandFailure) -> JobLog.Job {
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which replay? give its job's id", hint: "`pushfan replay list` lists them")
        }
        if let job = log.jobs[id] { return job }
        let matching = log.jobs.values.filter { id.count >= 4 && $0.record.jobID.hasSuffix(id) }
        guard matching.count == 1, let job = matching.first else {
            throw CommandFailure(
                .nothingMatched, "there is no replay \(Sanitised.quoted(id))", hint: "`pushfan replay list` lists them")
        }
        return job
    }

    /// What became of the job's requests, by their results' states.
    private static func outcomes(
        of job: JobLog.Job, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) -> [(state: String, count: Int)] {
        var filter = ResultFilter()
        filter.require(.job, [job.record.jobID])
        filter.require(.kind, ["final"])
        let scan = ResultScan(invocation, settings, timeout: try timeout(invocation))
        let reader = try scan.open(.time(job.record.startedAt.milliseconds), .end)
        defer { reader.close() }
        var matcher = ResultMatcher(filter)
        var counts: [String: Int] = [:]
        try scan.read(reader) { record in
            guard let value = record.value, ReplayHistory.mayConcern(value),
                matcher.matches(value, writtenAt: record.timestamp ?? 0)
            else { return }
            counts[matcher.document.text("state", of: matcher.document.root) ?? "unknown", default: 0] += 1
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    /// Where a job stands; a runner that is silent is said to be.
    private static func state(_ job: JobLog.Job, _ now: Int64) -> String {
        let state = job.state(at: now)
        guard state == .interrupted, job.record.state != .interrupted else { return state.rawValue }
        return "interrupted (its runner is silent since \(Timestamp(milliseconds: job.seenAt).text))"
    }

    private static func write(_ jobs: [JobLog.Job], _ invocation: Invocation) throws(CommandFailure) {
        let now = invocation.surroundings.now()
        var table = Table("JOB", "STATE", "DONE", "OF", "LEFT OUT", "ACTOR", "REASON")
        for job in jobs {
            let record = job.record
            table.add(
                record.jobID, job.state(at: now).rawValue, String(job.next), String(record.requests), String(job.skipped.count),
                record.actor, record.reason)
        }
        try invocation.streams.out(invocation.arguments.format(), table, jobs.map { json($0, now, []) })
    }

    private static func json(_ job: JobLog.Job, _ now: Int64, _ outcomes: [(state: String, count: Int)]) -> [UInt8] {
        let record = job.record
        var object = JSONObject()
        object.add("job_id", record.jobID)
        object.add("state", job.state(at: now).rawValue)
        object.add("has_runner", job.isAlive(at: now))
        object.add("filter", record.filter)
        object.add("reason", record.reason)
        object.add("actor", record.actor)
        object.add("requests", record.requests)
        object.add("next", job.next)
        object.add("replayed", job.next - job.skipped.count)
        var skipped = JSONObject()
        for reason in Leftover.allCases {
            let count = job.skipped.values.count { $0 == reason }
            if count > 0 { skipped.add(reason.rawValue, count) }
        }
        object.add("skipped", raw: skipped.bytes)
        object.add("rate", Int(record.rate))
        object.add("started_at", record.startedAt.text)
        object.add("updated_at", record.updatedAt.text)
        if !outcomes.isEmpty {
            var results = JSONObject()
            for (state, count) in outcomes { results.add(state, count) }
            object.add("results", raw: results.bytes)
        }
        return object.bytes
    }
}
