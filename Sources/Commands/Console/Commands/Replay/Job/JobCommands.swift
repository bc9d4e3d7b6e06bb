import JobSupport
import PushModel
import Replay
import Replays
import Results
import Settings

/// `pushfan replay list`, `status`, `pause`, `resume`, `stop`: shows jobs, and commands their runners.
enum JobCommands {
    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let (settings, context) = try invocation.job()
        let jobs = try invocation.perform(context.jobStates(), with: settings).newestFirst
        guard !jobs.isEmpty else { throw CommandFailure(.nothingMatched, "no replay was ever run") }
        try write(jobs, invocation)
        return .done
    }

    static func status(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let (job, settings, context) = try find(invocation)
        let outcomes = try invocation.perform(ResultAnswers(context).outcomes(of: job), with: settings)
        let now = invocation.surroundings.now()
        guard invocation.arguments.format() == .table else {
            var json = ReplayReport(job, now: now).line
            if !outcomes.isEmpty { json.add("results", counts: outcomes.map { ($0.state, $0.count) }) }
            try invocation.streams.out(json.bytes + [UInt8(ascii: "\n")])
            return .done
        }
        let record = job.record
        var lines = [
            "job         \(Sanitised.line(record.jobID))", "state       \(state(job, now))",
            "filter      \(Sanitised.line(record.filter))", "reason      \(Sanitised.line(record.reason))",
            "actor       \(Sanitised.line(record.actor))", "started     \(record.startedAt.text)",
            "progress    \(job.next) of \(record.requests), \(job.skippedCount) of them left out",
        ]
        if record.state == .running, record.rate > 0, job.isAlive(at: now) {
            let rest = Int64(Double(record.requests - job.next) / record.rate * 1000)
            lines.append("to go       \(TimeText.length(milliseconds: rest)) at \(Int(record.rate)) requests a second")
        }
        for reason in Leftover.allCases {
            if let count = job.skippedCounts[reason] { lines.append("left out    \(count), \(reason.explanation)") }
        }
        let results = outcomes.map { "\($0.count) \($0.state)" }.joined(separator: ", ")
        lines.append("results     " + (results.isEmpty ? "none yet" : results))
        try invocation.streams.out(lines.joined(separator: "\n"))
        invocation.streams.note(
            "`pushfan results list \(Sanitised.word("job:" + record.jobID)) -state:sent` lists what failed again")
        return .done
    }

    static func pause(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try request(.pause, invocation) }
    static func resume(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try request(.resume, invocation) }
    static func stop(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try request(.stop, invocation) }

    /// Asks a job's runner to do something, and reports its answer.
    private static func request(_ kind: JobCommand.Kind, _ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        Interruption.catchSignals()
        let (job, settings, context) = try find(invocation)
        let id = job.record.jobID
        let actor = try PlanCommand.actor(invocation)
        let answer = try invocation.perform(context.request(kind, of: job, actor: actor), with: settings)
        switch answer {
        case .done(let job):
            try write([job], invocation)
            return .done
        case .ended(let state): throw CommandFailure(.refused, "the replay \(id) is \(state.rawValue) already")
        case .noRunner where kind == .stop:
            invocation.streams.note("no runner is at work; it will not be run again")
            return .done
        case .noRunner:
            throw CommandFailure(.temporary, "no runner is at work", hint: "`pushfan replay run PLAN` goes on where it stopped")
        case .late:
            throw CommandFailure(.temporary, "the runner of \(id) has not answered in time", hint: "it will when it is back")
        }
    }

    /// The job that the operand names, in whole or by an end that only one has.
    private static func find(
        _ invocation: Invocation
    ) throws(CommandFailure) -> (job: JobLog.Job, settings: Settings, context: JobContext) {
        let (settings, context) = try invocation.job()
        let log = try invocation.perform(context.jobStates(), with: settings)
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which replay? give its job's id", hint: "`pushfan replay list` lists them")
        }
        guard let job = log.job(named: id) else {
            throw CommandFailure(
                .nothingMatched, "there is no replay \(Sanitised.quoted(id))", hint: "`pushfan replay list` lists them")
        }
        return (job, settings, context)
    }

    /// The state of a job. A silent runner is marked as such.
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
                record.jobID, job.state(at: now).rawValue, String(job.next), String(record.requests), String(job.skippedCount),
                record.actor, record.reason)
        }
        try invocation.streams.out(invocation.arguments.format(), table, jobs.map { ReplayReport($0, now: now).line.bytes })
    }
}
