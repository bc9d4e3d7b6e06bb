import Jobs
import PushModel
import Replay
import Settings

/// `pushfan replay leftovers`: what a plan has left, what its runs passed over, and what they have not come to.
enum LeftoversCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let path = invocation.arguments.operands.first else {
            throw .usage("whose leftovers? give a plan's file", hint: "`pushfan replay plan FILTER` makes one")
        }
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        var plan = try invocation.perform { () throws(JobFailure) in try ReplayPlanReader(path) }
        let job = try invocation.jobLog(try invocation.settings(), timeout: timeout).jobs[plan.header.jobID]
        var table = Table("REQUEST", "ORIGIN", "SENDS", "LEFT", "WHY")
        var objects: [[UInt8]] = []
        let standing = job?.state(at: invocation.surroundings.now())
        var (count, openCount) = (0, 0)
        while let line = try invocation.perform(nil, { () throws(JobFailure) -> ReplayPlanReader.Line? in try plan.next() }) {
            guard let (left, why) = left(line, job, standing) else { continue }
            count += 1
            if left.word == open { openCount += 1 }
            if invocation.arguments.format() == .table {
                let sends = left.sends == .all ? "all" : left.sends.indices.map(String.init).joined(separator: ",")
                table.add(left.requestID, left.place.description, sends, left.word, why)
            } else {
                objects.append(left.json)
            }
        }
        guard count > 0 else { throw CommandFailure(.nothingMatched, "nothing was left") }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        let run = "pushfan replay run \(Sanitised.line(path))" + (plan.header.reason.isEmpty ? " --reason TEXT" : "")
        let rest = "pushfan replay plan --leftovers \(Sanitised.line(path))"
        invocation.streams.note("\(count) left; " + advice(standing, openCount: openCount, run: run, rest: rest))
        return .done
    }

    /// The word for what no run has come to.
    private static let open = "open"

    /// The reason for which a run has not come to a request.
    ///
    /// - Parameter standing: The state of the job, or nil if the plan was never run.
    /// - Returns: The words for a person.
    static func explanation(ofOpen standing: JobRecord.State?) -> String {
        switch standing {
        case nil: "the plan was not run so far"
        case .running, .paused: "its turn has not come yet"
        case .interrupted, .done: "the run was interrupted before it"
        case .stopped: "the replay was stopped before it"
        }
    }

    /// The remedy for the remaining requests.
    ///
    /// - Parameters:
    ///   - standing: The state of the job, or nil if the plan was never run.
    ///   - openCount: The number of requests that no run has come to.
    ///   - run: The command that runs the plan.
    ///   - rest: The command that plans what is left.
    /// - Returns: The words behind the number of what is left.
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

    /// A left request, in a person's words.
    private struct Left {
        var requestID: String
        var place: RecordPlace
        var sends: SendSet
        var word: String

        var json: [UInt8] {
            var object = JSONObject()
            object.add("request_id", value: requestID)
            object.add("origin", value: place.description)
            if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
            object.add("left", value: word)
            return object.bytes
        }
    }

    private static func left(
        _ line: ReplayPlanReader.Line, _ job: JobLog.Job?, _ standing: JobRecord.State?
    ) -> (left: Left, why: String)? {
        switch line {
        case .left(let left):
            return (
                Left(requestID: left.requestID, place: left.place, sends: left.sends, word: left.reason.rawValue),
                left.reason.explanation
            )
        case .item(let item):
            if let reason = job?.skipped[item.number] {
                return (
                    Left(requestID: item.requestID, place: item.place, sends: item.sends, word: reason.rawValue),
                    reason.explanation
                )
            }
            guard item.number >= job?.next ?? 0 else { return nil }
            return (
                Left(requestID: item.requestID, place: item.place, sends: item.sends, word: open),
                explanation(ofOpen: standing)
            )
        }
    }
}
