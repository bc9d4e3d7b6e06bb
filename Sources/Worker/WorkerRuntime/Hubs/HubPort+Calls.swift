import Basics
import CurlHTTP
import Delivery
import HubAuth
import HubREST
import Observability
import PushModel

/// The signs that calls give of the hub as a whole: when it is out, they stop and wait for it.
extension HubPort {
    /// True if a call is no good as a probe of a hub that is out, because it failed before. Notes whether it fails alone.
    func isUnfitAsProbe(_ flight: Flight, call index: Int) -> Bool {
        let (attempt, startedAt) = (flight.work.calls[index].attempt, flight.work.calls[index].startedAt)
        if limits.failsAlone(attempt: attempt, startedAt: startedAt) { flight.work.calls[index].noteFailsAlone() }
        return limits.isUnfitAsProbe(attempt: attempt)
    }

    /// Notes that a call ended.
    ///
    /// - Parameters:
    ///   - flight: The call's request.
    ///   - index: The call.
    ///   - isHubFailure: Whether it ended as it does when the hub is out, or nil where that is not known.
    ///   - isLost: Whether it ended as it does when there is too much at once.
    ///   - now: The present moment.
    ///   - generator: Draws the time of the next probe.
    ///   - log: Gets a change of the circuit breaker.
    func noteEnd(
        of flight: Flight, call index: Int, isHubFailure: Bool?, isLost: Bool, now: MonotonicTime,
        using generator: inout QuickRandom, log: Log
    ) {
        limits.noteEnd(startedAt: flight.work.calls[index].startedAt, now: now, isLost: isLost)
        guard let call = flight.work.calls[index].takeCircuitCall() else { return }
        let before = limits.circuit.state
        switch isHubFailure {
        case true?: limits.circuit.noteFailure(call, isOwnFault: flight.work.calls[index].failsAlone, now: now, using: &generator)
        case false?: limits.circuit.succeeded(call, now: now)
        case nil: limits.circuit.abandoned(call, now: now, using: &generator)
        }
        reportCircuit(before, to: log)
    }

    /// Notes that a request's calls are not waited for any more.
    func abandonCalls(of flight: Flight, now: MonotonicTime, using generator: inout QuickRandom, log: Log) {
        endWaits(of: flight)
        for index in flight.work.calls.indices {
            guard let call = flight.work.calls[index].takeCircuitCall() else { continue }
            let before = limits.circuit.state
            limits.circuit.abandoned(call, now: now, using: &generator)
            reportCircuit(before, to: log)
        }
    }

    /// The verdict on an answer to a call that was signed with the token of that number. A refused token is good for another attempt while
    /// there is one that was not refused.
    func verdict(on reply: HubAnswer, token serial: UInt64, log: Log) -> CallVerdict {
        var verdict = CallVerdict(of: reply.result)
        if reply.status != 401 {
            if !reply.isForeign { tokenAccepted(serial) }
        } else if verdict.retry == .reauthenticate, !tokenRefused(serial, log: log) {
            verdict.retry = .never
        }
        return verdict
    }

    /// Notes that the hub took a token.
    func tokenAccepted(_ serial: UInt64) {
        client.accepted(token: serial)
        limits.isKeyInDoubt = client.isKeyInDoubt
    }

    /// Notes that the hub refused a token, and logs that the other key is tried.
    ///
    /// - Returns: Whether there is another token to try.
    func tokenRefused(_ serial: UInt64, log: Log) -> Bool {
        let refusal = client.rejected(token: serial)
        limits.isKeyInDoubt = client.isKeyInDoubt
        if case .switched(to: let slot) = refusal {
            log.warning(
                .hubUnauthorized,
                slot == .secondary
                    ? "the hub refuses the first key; the second is used from now on"
                    : "the hub refuses the second key; the first is used from now on", [.hub: .string(name)])
        }
        return refusal.allowsRetry
    }

    /// Notes the answer to a call for what it says about the hub as a whole: its pace, its health.
    func noteAnswer(
        _ reply: HubAnswer, to flight: Flight, call index: Int, verdict: CallVerdict, now: MonotonicTime,
        using generator: inout QuickRandom, log: Log
    ) {
        noteEnd(
            of: flight, call: index,
            isHubFailure: verdict.isForAnotherToken
                ? nil : verdict.isHubFailure(status: reply.status) || reply.hint == .notTheHub,
            isLost: reply.status >= 500 || verdict.outcome == .throttled, now: now, using: &generator, log: log)
        if limits.answered(isRefusal: verdict.pausesHub, now: now), let wait = reply.retryAfter {
            limits.pause.asked(for: wait, now: now)
            log.warning(
                .hubThrottled, "the hub asked to wait; all calls to it do",
                [.hub: .string(name), .delayMilliseconds: LogValue(wait), .code: LogValue(reply.status)])
        }
        if verdict.isForAnotherToken { return }
        if verdict.outcome == .auth {
            log.error(
                .hubUnauthorized, "the hub does not accept the key or its rights",
                [.hub: .string(name), .code: LogValue(reply.status)])
        }
        noteStanding(reply, isRefused: verdict.outcome == .auth)
    }

    /// Notes that a call ended without an answer.
    func noteFailure(
        _ failure: TransportFailure, of flight: Flight, call index: Int, attempt: Int, now: MonotonicTime,
        using generator: inout QuickRandom, log: Log
    ) {
        noteEnd(of: flight, call: index, isHubFailure: true, isLost: true, now: now, using: &generator, log: log)
        standing.noteFailure(failure.reason.label)
        log.warning(
            .hubConnection, "a hub call ended without an answer",
            [.hub: .string(name), .reason: .string(failure.reason.label), .attempt: LogValue(attempt)])
    }
}

extension CallVerdict {
    /// True if the token was refused, and only another one can show how hub and key are.
    fileprivate var isForAnotherToken: Bool { retry == .reauthenticate }

    /// True if the hub itself is at fault, or the key: then the next request would fare no better.
    fileprivate func isHubFailure(status: Int) -> Bool { outcome == .auth || status == 404 || status >= 500 }
}
