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
        if reply.status == 401, Self.finding(in: reply, of: answer).kind == .keyRefused {
            if !tokenRefused(serial, log: log) { standing.noteFailure("it answers 401", isProof: true) }
        } else if !reply.isForeign {
            tokenAccepted(serial)
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

/// The telemetry polls of one loop.
struct OutcomePolling {
    /// The number of polls that may wait for their turn. More are deferred, because behind them in a lane others would wait that
    /// are no polls.
    static let maximumWaiting = 1024

    var queue = FIFO<WaitingCall>()
    var allowance = PollAllowance()
    /// The rest that the hub asked for when it was asked for an outcome. Sends go on.
    var pause = HubPause()
    /// True if the hub says nothing of any notification. It is not asked any more, for as long as the worker runs.
    var isRefused = false
    /// True if it was said that calls cannot be followed for want of something of ours.
    var isAbsenceKnown = false

    var hasRoom: Bool { queue.count < Self.maximumWaiting }
}

extension ExchangeID {
    /// The exchange of a flight's telemetry poll. Numbers below zero set such apart from calls.
    static func poll(of flight: Flight) -> Int { ~ExchangeID(flight, call: 0).number }

    /// True if the exchange is the poll of what `flight` carries now.
    func isPoll(of flight: Flight) -> Bool { flight.isActive && number >> 48 == Int(flight.generation & 0x7FFF) }
}
