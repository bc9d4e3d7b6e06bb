import Audiences
import Delivery
import JobSupport
import Publishing
import Settings

extension Topics {
    /// The topics of requests that publishers write to.
    var ofRequests: RequestTopics { RequestTopics(high: requestsHigh, normal: requests, bulk: requestsBulk) }
}

extension Invocation {
    /// The content of the file that an operand names, or standard input for `-`. A request instead of a name is refused.
    func requestFile(_ path: String) throws(CommandFailure) -> [UInt8] {
        guard path.first != "{", path.first != "[" else {
            throw .usage("a request itself is no file", hint: "send it through a pipe: echo '{…}' | pushfan \(command.name) -")
        }
        return try InputFile.read(path, or: streams)
    }

    /// Follows the results from now on, if the command waits for them.
    func resultFollower(_ settings: Settings, context: JobContext) throws(CommandFailure) -> ResultFollower? {
        guard arguments.has("wait") else { return nil }
        return try perform(context.resultFollower(), with: settings)
    }
}

extension InputFault {
    /// `place: message`, fit for a terminal.
    var text: String { Sanitised.line("\(place): \(message)", atMost: 2048) }
}
