import Basics
import Glibc
import Jobs
import PushModel
import Replay
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
        if let job = replay.job, replay.isFinished { return try reportFinished(job, path, invocation) }
        if replay.gone.count > 0 { invocation.streams.note(replay.gone.text) }
        try invocation.confirm(header.counts.requests, to: "replayed")
        let runner = replay.runner(
            context, settings.planning(), rate: invocation.arguments.has("rate") ? try PlanCommand.rate(invocation) : replay.rate)
        let ending = try run(runner, of: header.counts.requests, settings, invocation)
        try report(ending, invocation)
        return exitCode(ending, path, invocation)
    }

    /// Runs the job and shows its progress.
    private static func run(
        _ runner: ReplayRunner, of count: Int, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) -> ReplayRunner.Ending {
        let progress = ReplayProgress(total: count, invocation.streams)
        defer { progress.end() }
        return try invocation.perform(settings) { () throws(JobFailure) in try runner.run { progress.show($0) } }
    }

    /// Reports the time at which a finished job ended, and that this run has sent nothing.
    private static func reportFinished(
        _ job: JobLog.Job, _ path: String, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let ending = ReplayRunner.Ending(record: job.record, skipped: job.skippedCounts)
        try report(ending, invocation)
        let id = Sanitised.line(job.record.jobID)
        invocation.streams.note("the replay \(id) finished at \(job.record.updatedAt.text); nothing was sent now")
        return exitCode(ending, path, invocation)
    }

    /// The plan's file: the operand, or what is planned now for a filter.
    private static func planPath(_ invocation: Invocation) throws(CommandFailure) -> String {
        let operands = invocation.arguments.operands
        if operands.count == 1, !operands[0].contains(":") || access(operands[0], R_OK) == 0 { return operands[0] }
        guard !operands.isEmpty || invocation.arguments.has("leftovers") else {
            throw .usage("which replay? give a plan's file, or a filter", hint: "`pushfan replay plan FILTER` makes a plan")
        }
        let (header, path, samples) = try PlanCommand.plan(invocation)
        let pace = try PlanCommand.pace(invocation, try invocation.settings())
        invocation.streams.note(PlanSummary(PlanReport(header: header, samples: samples, pace: pace), path: path).text)
        return path
    }

    /// A replay without a reason is not begun.
    static func requireReason(_ header: ReplayPlanHeader) throws(CommandFailure) {
        guard !header.hasReason else { return }
        throw .usage("a replay needs a reason", hint: "--reason TEXT gives one; it stands in every new result")
    }

    private static func report(_ ending: ReplayRunner.Ending, _ invocation: Invocation) throws(CommandFailure) {
        let record = ending.record
        var table = Table("JOB", "STATE", "REPLAYED", "LEFT OUT", "OF")
        table.add(record.jobID, record.state.rawValue, String(record.replayed), String(record.skipped), String(record.requests))
        var object = JSONObject([
            "job_id": record.jobID, "state": record.state.rawValue, "requests": record.requests, "replayed": record.replayed,
        ])
        object.add("skipped", raw: ending.skipped.json)
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
        invocation.note(left: ending.skipped)
    }

    private static func exitCode(_ ending: ReplayRunner.Ending, _ path: String, _ invocation: Invocation) -> ExitCode {
        let record = ending.record
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
