import EventLoop
import FanOut
import HTTPServing
import PushModel

/// Serves `POST /api/notifications`: reads the call, and has its request sent.
struct NotifyRoute: Sendable {
    private let users: UserTag.Pattern
    private let sending: Sending
    private let tracksOutcome: Bool
    /// Milliseconds.
    private let timeToLive: Int64

    init(_ configuration: GatewayConfiguration, users: UserTag.Pattern, _ sending: Sending) {
        self.users = users
        self.sending = sending
        tracksOutcome = configuration.tracksOutcome
        timeToLive = MonotonicTime(nanoseconds: 0).advanced(by: configuration.sendLife).nanoseconds / 1_000_000
    }

    /// Answers a call of `POST /api/notifications`, now or later; waits for nothing.
    func answer(_ call: APICall) {
        do throws(APIProblem) {
            let query = try NotifyQuery(call.request.percentDecodedQuery)
            guard !query.isSecure else { throw APIProblem.noSecurePush }
            let body = try NotifyBody.text(call.request.body, contentType: call.request.headers["Content-Type"])
            let text = try Self.text(body, query, from: call.caller)
            let sender = try users.tag(of: call.caller.name)
            let recipient: UserTag
            if let name = query.recipient { recipient = try users.tag(of: name) } else { recipient = sender }
            sending.send(call.reply) { (id, moment) in
                NotifyRequest(
                    id: id, to: recipient, from: sender, text, on: query.platform, createdAt: moment, timeToLive: timeToLive,
                    tracksOutcome: tracksOutcome)
            }
        } catch {
            call.reply.answer(error)
        }
    }

    /// What is sent: to somebody the text under the caller's name; to the caller's own devices the text alone, or a greeting.
    private static func text(
        _ body: String?, _ query: NotifyQuery, from caller: Caller
    ) throws(APIProblem) -> NotificationText {
        if query.recipient != nil {
            guard let body else {
                let sentence = "The body is missing; it must be one JSON string, the text in quotation marks."
                throw APIProblem.invalid([RequestFault(.schemaInvalid, "", sentence)])
            }
            return .message(from: caller.name, text: body)
        }
        if let body, !body.isEmpty { return .own(body) }
        return .greeting(user: caller.name)
    }
}
