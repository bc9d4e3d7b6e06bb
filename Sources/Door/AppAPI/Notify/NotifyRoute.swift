package import DeviceHubs
import Basics
import FanOut
package import GatewayAPI
import HTTPServing
import PushModel

/// Serves `/api/notifications`: reads a call and has its request sent, or gives the text of a secure push.
package struct NotifyRoute: Sendable {
    private let users: UserTags
    private let sending: Sending
    private let messages: SecureMessages
    private let isAlwaysSecure: Bool
    private let tracksOutcome: Bool
    /// Milliseconds.
    private let timeToLive: Int64

    package init(_ configuration: GatewayConfiguration, users: UserTags, sending: Sending, messages: SecureMessages) {
        self.users = users
        self.sending = sending
        self.messages = messages
        isAlwaysSecure = configuration.isAlwaysSecure
        tracksOutcome = configuration.tracksOutcome
        timeToLive = configuration.sendLife.wholeMilliseconds
    }

    /// Answers a call of `POST /api/notifications`, now or later; waits for nothing.
    ///
    /// The text of a secure push is written first, because the id that is sent in its place says where it is.
    package func answer(_ call: APICall) {
        do throws(APIProblem) {
            let query = try NotifyQuery(call.request.percentDecodedQuery, isAlwaysSecure: isAlwaysSecure)
            let body = try NotifyBody.text(call.request.body, contentType: call.request.headers.single("Content-Type"))
            let text = try Self.text(body, query: query, from: call.caller)
            let sender = users.tag(of: call.caller.name)
            let recipient = query.recipient.map { users.tag(of: $0) } ?? sender
            let (reply, platform, deadline) = (call.reply, query.platform, sending.deadline)
            guard query.isSecure else {
                return send(
                    text, of: call.caller, to: recipient, from: sender, on: platform, for: timeToLive, until: deadline,
                    reply: reply)
            }
            messages.keep(SecureText(text.sentence(for: .apple), for: recipient), reply: reply) { id in
                send(
                    .secure(id: id.text), of: call.caller, to: recipient, from: sender, on: platform,
                    for: min(timeToLive, SecureText.lifetime), until: deadline, reply: reply)
            }
        } catch {
            call.reply.answer(error)
        }
    }

    /// Answers a call of `GET /api/notifications/{id}`, now or later; waits for nothing.
    package func answer(_ call: APICall, textOf id: String) {
        messages.read(id, for: users.tag(of: call.caller.name), reply: call.reply)
    }

    private func send(
        _ text: NotificationText, of caller: Caller, to recipient: UserTag, from sender: UserTag, on platform: Platform?,
        for timeToLive: Int64,
        until deadline: MonotonicTime, reply: Reply
    ) {
        sending.send(reply, of: caller, to: recipient, until: deadline) { (id, moment) in
            NotifyRequest(
                id: id, to: recipient, from: sender, text: text, on: platform, createdAt: moment, timeToLive: timeToLive,
                tracksOutcome: tracksOutcome)
        }
    }

    /// What is sent: to another user the text under the caller's name; to the caller's own devices the text alone, or a greeting.
    private static func text(
        _ body: String?, query: NotifyQuery, from caller: Caller
    ) throws(APIProblem) -> NotificationText {
        if query.recipient != nil {
            guard let body else {
                let sentence = "The body is missing; it must be one JSON string, the text in quotation marks."
                throw APIProblem.invalid([RequestFault(.schemaInvalid, at: "", message: sentence)])
            }
            return .message(from: caller.name, text: body)
        }
        if let body, !body.isEmpty { return .own(body) }
        return .greeting(user: caller.name)
    }
}
