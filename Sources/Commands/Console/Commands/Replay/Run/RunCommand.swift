import Glibc
import JobSupport
import PushModel
import Replay
import Replays
import Settings

/// `pushfan replay run`.
enum RunCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        Interruption.catchSignals()
        let path = try planPath(invocation)
        var header = try invocation.perform(ReplayPlanReader(path), with: nil).header
        if let reason = try PlanCommand.reason(invocation) { header.reason = reason }
        if invocation.arguments.has("actor") { header.actor = try PlanCommand.actor(invocation) }
        return try run(header, path, invocation)
    }

    /// Asks, runs and reports.
    static func run(_ header: ReplayPlanHeader, _ path: String, _ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        try requireReason(header)
        guard header.counts.requests > 0 else { throw CommandFailure(.nothingMatched, "there is nothing to replay in \(path)") }
        let (settings, context) = try invocation.job()
        let replay = try invocation.perform(
            PreparedReplay(path: path, reason: header.reason, actor: header.actor, context), with: settings)
        if let job = replay.job, replay.isFinished {
            try report(job, invocation)
            let id = Sanitised.line(job.record.jobID)
            invocation.streams.note("the replay \(id) finished at \(job.record.updatedAt.text); nothing was sent now")
            return exitCode(job, path, invocation)
        }
        if replay.gone.count > 0 { invocation.streams.note(replay.gone.text) }
        try invocation.confirm(header.counts.requests, to: "replayed")
        let runner = replay.runner(
            context, settings.planning(), rate: invocation.arguments.has("rate") ? try PlanCommand.rate(invocation) : replay.rate)
        let job = try run(runner, of: header.counts.requests, settings, invocation)
        try report(job, invocation)
        return exitCode(job, path, invocation)
    }

    /// Runs the job and shows its progress.
    private static func run(
        _ runner: ReplayRunner, of count: Int, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) -> JobLog.Job {
        let progress = ReplayProgress(total: count, invocation.streams)
        defer { progress.end() }
        return try invocation.perform(settings) { () throws(JobFailure) in try runner.run { progress.show($0) } }
    }

    /// The plan's file: the operand, or what is planned now for a filter.
    private static func planPath(_ invocation: Invocation) throws(CommandFailure) -> String {
        let operands = invocation.arguments.operands
        if operands.count == 1, !operands[0].contains(":") || access(operands[0], R_OK) == 0 { return operands[0] }
        guard !operands.isEmpty || invocation.arguments.has("leftovers") else {
            throw .usage("which replay? give a plan's file, or a filter", hint: "`pushfan replay plan FILTER` makes a plan")
        }
        let summary = try PlanCommand.plan(invocation)
        invocation.streams.note(summary.text)
        return summary.path
    }

    /// A replay without a reason is not begun.
    static func requireReason(_ header: ReplayPlanHeader) throws(CommandFailure) {
        guard !header.hasReason else { return }
        throw .usage("a replay needs a reason", hint: "--reason TEXT gives one; it stands in every new result")
    }

    private static func report(_ job: JobLog.Job, _ invocation: Invocation) throws(CommandFailure) {
        let record = job.record
        var table = Table("JOB", "STATE", "REPLAYED", "LEFT OUT", "OF")
        table.add(record.jobID, record.state.rawValue, String(record.replayed), String(record.skipped), String(record.requests))
        let json = ReplayReport(job, now: invocation.surroundings.now()).line
        try invocation.streams.out(invocation.arguments.format(), table, [json.bytes])
        invocation.note(left: job.skippedCounts)
    }

    private static func exitCode(_ job: JobLog.Job, _ path: String, _ invocation: Invocation) -> ExitCode {
        let record = job.record
        switch record.state {
        case .interrupted, .running, .paused:
            invocation.streams.note("`pushfan replay run \(Sanitised.word(path))` goes on where it stopped")
            return Interruption.exitCode
        case .stopped:
            invocation.streams.note("`pushfan replay plan --leftovers \(Sanitised.word(path))` plans the rest as a new job")
            return .partlyFailed
        case .done:
            invocation.streams.note("`pushfan replay status \(Sanitised.word(record.jobID))` shows what became of them")
            return record.skipped > 0 ? .partlyFailed : .done
        }
    }
}

extension Invocation {
    /// Notes the number of left requests for each reason.
    func note(left: [Leftover: Int]) {
        for reason in Leftover.allCases {
            if let count = left[reason] { streams.note("left out: \(count), \(reason.explanation)") }
        }
    }
}
