import JobSupport
import Replay
import Replays

/// `pushfan replay leftovers`: what a plan has left, what its runs passed over, and what they have not come to.
enum LeftoversCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let path = invocation.arguments.operands.first else {
            throw .usage("whose leftovers? give a plan's file", hint: "`pushfan replay plan FILTER` makes one")
        }
        let plan = try invocation.perform(ReplayPlanReader(path), with: nil)
        let (settings, context) = try invocation.job()
        let job = try invocation.perform(context.job(plan.header.jobID), with: settings)
        var table = Table("REQUEST", "ORIGIN", "SENDS", "LEFT", "WHY")
        var objects: [[UInt8]] = []
        let standing = job?.state(at: invocation.surroundings.now())
        var (count, openCount) = (0, 0)
        var leftovers = Leftovers(of: plan, job: job)
        while let row = try invocation.perform(nil, { () throws(JobFailure) -> Leftovers.Row? in try leftovers.next() }) {
            count += 1
            if row.reason == nil { openCount += 1 }
            if invocation.arguments.format() == .table {
                let sends = row.sends == .all ? "all" : row.sends.indices.map(String.init).joined(separator: ",")
                let why = row.reason?.explanation ?? explanation(ofOpen: standing)
                table.add(row.requestID, row.place.description, sends, row.word, why)
            } else {
                objects.append(row.json)
            }
        }
        guard count > 0 else { throw CommandFailure(.nothingMatched, "nothing was left") }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        let run = "pushfan replay run \(Sanitised.word(path))" + (plan.header.reason.isEmpty ? " --reason TEXT" : "")
        let rest = "pushfan replay plan --leftovers \(Sanitised.word(path))"
        invocation.streams.note("\(count) left; " + advice(standing, openCount: openCount, run: run, rest: rest))
        return .done
    }

    /// The reason for which a run has not come to a request. `standing` is nil if the plan was never run.
    static func explanation(ofOpen standing: JobRecord.State?) -> String {
        switch standing {
        case nil: "the plan was not run so far"
        case .running, .paused: "its turn has not come yet"
        case .interrupted, .done: "the run was interrupted before it"
        case .stopped: "the replay was stopped before it"
        }
    }

    /// The remedy for the remaining requests. `run` is the command that runs the plan, `rest` the one that plans what is left.
    static func advice(_ standing: JobRecord.State?, openCount: Int, run: String, rest: String) -> String {
        let open = Counted.text(openCount, "that is open", "that are open")
        switch standing {
        case nil where openCount > 0: return "`\(run)` replays the \(open)"
        case .interrupted where openCount > 0: return "`\(run)` goes on with the \(open)"
        case .running where openCount > 0, .paused where openCount > 0:
            return "the replay is \(standing?.rawValue ?? ""), and goes on with the \(open)"
        default: return "`\(rest)` plans them as a new job"
        }
    }
}
