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
        var plan = try ReplayPlanReader(path)
        let job = try invocation.jobLog(try invocation.settings(), timeout: timeout).jobs[plan.header.jobID]
        var table = Table("REQUEST", "ORIGIN", "SENDS", "LEFT", "WHY")
        var objects: [[UInt8]] = []
        var count = 0
        while let line = try plan.next() {
            guard let (left, why) = left(line, job) else { continue }
            count += 1
            if invocation.arguments.format() == .table {
                let sends = left.sends == .all ? "all" : left.sends.indices.map(String.init).joined(separator: ",")
                table.add(left.requestID, left.place.description, sends, left.word, why)
            } else {
                objects.append(left.json)
            }
        }
        guard count > 0 else { throw CommandFailure(.nothingMatched, "nothing was left") }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        invocation.streams.note(
            "\(count) left; `pushfan replay plan --leftovers \(Sanitised.line(path))` plans them as a new job")
        return .done
    }

    /// What is left, in a person's words.
    private struct Left {
        var requestID: String
        var place: RecordPlace
        var sends: SendSet
        var word: String

        var json: [UInt8] {
            var object = JSONObject()
            object.add("request_id", requestID)
            object.add("origin", place.description)
            if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
            object.add("left", word)
            return object.bytes
        }
    }

    private static func left(_ line: ReplayPlanReader.Line, _ job: JobLog.Job?) -> (left: Left, why: String)? {
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
                Left(requestID: item.requestID, place: item.place, sends: item.sends, word: "open"),
                "the plan was not run so far"
            )
        }
    }
}
