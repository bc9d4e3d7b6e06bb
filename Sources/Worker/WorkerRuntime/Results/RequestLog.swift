import Observability
import Outcomes
import PushModel

/// The lines about single requests. Failures are warnings, which the log bounds.
struct RequestLog {
    let log: Log
    let logged: LoggedRequests

    /// Notes the end of a request.
    func note(_ conclusion: Conclusion, of id: @autoclosure () -> String, attempts: Int, at place: RecordOrigin) {
        guard isLogged(conclusion.state.isFailure) else { return }
        let fields: KeyValuePairs<LogKey, LogValue> = [
            .requestID: .string(id()), .outcome: .string(conclusion.outcome.rawValue),
            .code: .string(conclusion.code?.rawValue ?? "none"), .attempt: LogValue(attempts),
            .partition: LogValue(place.partition), .offset: LogValue(place.offset),
        ]
        if logged == .all {
            log.info(.requestFinished, "a request has its final result", fields)
        } else {
            log.warning(.requestFinished, "a request did not succeed", fields)
        }
    }

    /// Notes that a request is divided into parts.
    func noteParts(_ count: Int, of id: @autoclosure () -> String) {
        guard isLogged(false) else { return }
        log.info(
            .requestExpanded, "a large request was divided into parts", [.requestID: .string(id()), .count: LogValue(count)])
    }

    /// Notes that an accepted call did not reach all its devices, or that this is unknown.
    func note(_ outcome: CallOutcome, of poll: OutcomePoll) {
        guard isLogged(outcome.state.isFailure) else { return }
        let message: StaticString = "an accepted call did not reach all its devices, or that is unknown"
        let fields: KeyValuePairs<LogKey, LogValue> = [
            .requestID: .string(poll.call.requestText), .outcome: .string(outcome.outcome.rawValue),
            .reason: .string(outcome.reason), .count: LogValue(poll.call.tracking.pollCount),
        ]
        if logged == .all { log.info(.outcomeKnown, message, fields) } else { log.warning(.outcomeKnown, message, fields) }
    }

    private func isLogged(_ isFailure: Bool) -> Bool {
        switch logged {
        case .off: false
        case .failures: isFailure && log.isEnabled(.warning)
        case .all: log.isEnabled(.info)
        }
    }
}
