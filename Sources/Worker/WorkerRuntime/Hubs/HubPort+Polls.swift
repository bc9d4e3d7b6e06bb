import Basics
import CurlHTTP
import Delivery
import HTTP1
import HubREST
import Observability
import Outcomes
import PushModel

/// The port's part in telemetry polls: what it allows, and what their answers say.
extension HubPort {
    /// Sends a poll that is written.
    func submitPoll(_ request: ByteWriter, of flight: Flight, now: MonotonicTime) {
        limits.startedPoll()
        polls.allowance.noteStart()
        connections.submit(
            id: ExchangeID.poll(of: flight), request: request.room, byteCount: request.count, deadline: now + requestNanoseconds)
    }

    /// Reads the answer to a poll that was signed with the token of that number.
    func read(_ answer: borrowing Answer, toPollSignedWith serial: UInt64, at time: Timestamp, log: Log) -> PollAnswer {
        let reply = HubAnswer(answer, now: time.milliseconds)
        metrics.polled(status: reply.status)
        if reply.status == 401 {
            _ = client.rejected(token: serial)
        } else {
            client.accepted(token: serial)
        }
        var telemetry: NotificationTelemetry?
        if reply.status == 200 {
            do throws(TelemetryFault) {
                telemetry = try NotificationTelemetry(reading: answer.body)
            } catch {
                log.warning(
                    .hubConnection, "the telemetry of a notification cannot be read",
                    [.hub: .string(name), .reason: .string(error.description)])
            }
        }
        return PollAnswer(reply.result, retryAfter: reply.retryAfter, telemetry: telemetry)
    }

    /// Notes that the hub refuses telemetry: it is not asked any more.
    func notePollRefusal(log: Log) {
        guard !polls.isRefused else { return }
        polls.isRefused = true
        log.warning(
            .outcomesUnavailable,
            "outcomes are not followed any more: the hub refuses telemetry (below the Standard tier, or without the right)",
            [.hub: .string(name), .code: LogValue(403)])
    }

    /// Notes that a call cannot be followed, for want of an id or of a lane.
    func notePollAbsence(hasID: Bool, log: Log) {
        guard !polls.isRefused, !polls.isAbsenceKnown else { return }
        polls.isAbsenceKnown = true
        log.warning(
            .outcomesUnavailable,
            hasID
                ? "the outcome of calls cannot be followed, because no delay lane is there (`pushfan topics create`)"
                : "the outcome of calls cannot be followed, because the hub gives notifications no id; only the Standard tier does",
            [.hub: .string(name)])
    }

    /// Notes that a list of refused devices was not read.
    func noteDetailsFailure(_ reason: String, log: Log) {
        metrics.readDetails("failed")
        log.warning(
            .hubConnection, "a list of refused devices cannot be read; dead handles of it are not told",
            [.hub: .string(name), .reason: .string(reason)])
    }
}
