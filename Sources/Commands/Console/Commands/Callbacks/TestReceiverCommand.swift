import Basics
import CallbackRecords
import CurlHTTP
import HTTP1
import PushModel
import Settings
import Webhooks

/// The command `callbacks test`.
enum TestReceiverCommand {
    /// The bytes of an answer that are shown.
    private static let shownBytes = 200

    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let timeout = try invocation.arguments.duration("timeout")
        let set = try invocation.receivers(try invocation.settings())
        let receiver = try invocation.receiver(of: set)
        Interruption.catchSignals()
        var generator = SystemRandomNumberGenerator()
        let id = "test." + String(generator.next(), radix: 16)
        let begin = invocation.surroundings.instant()
        let outcome = try ReceiverCall(receiver, of: set, timeout: timeout).deliver(
            sample: id, now: invocation.surroundings.now())
        let milliseconds = Int((invocation.surroundings.instant() - begin) / .milliseconds(1))
        var table = Table("RECEIVER", "ID", "STATUS", "MS", "ANSWER")
        switch outcome {
        case .failure(let failure):
            throw CommandFailure(
                .unreachable,
                "the receiver \(receiver.name) at \(receiver.url) did not answer: \(Sanitised.line(failure.description))",
                hint: "`pushfan callbacks check --connect` shows its addresses")
        case .answer(let answer):
            let body = answer.bytes[answer.bodyRange].prefix(Self.shownBytes)
            table.add([
                "receiver": receiver.name, "id": id, "status": answer.status, "milliseconds": milliseconds,
                "answer": Sanitised.line(String(decoding: body, as: UTF8.self)),
            ])
            try invocation.out(table)
            return Self.note(answer.status, to: invocation.streams)
        }
    }

    private static func note(_ status: Int, to streams: Streams) -> ExitCode {
        switch status {
        case 200..<300:
            streams.note("it took the sample")
            return .done
        case 300..<400: streams.note("\(status) does not count as taken: callbacks follow no redirect")
        case 410: streams.note("410 disables a receiver: it would get nothing until `pushfan callbacks resume`")
        default: streams.note("\(status) does not count as taken: the service would call again later")
        }
        return .failed
    }
}
