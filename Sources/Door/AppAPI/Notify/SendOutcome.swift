import GatewayAPI
import Outcomes
import PushModel
import Publishing

/// Decides what a send is answered with: what is known of it in, status and body out (the tutorials' "Abandoned or Unknown is a
/// failure").
///
/// Which results count, and whether more are to come, is what `Awaited` decides. Here the final result is judged and, where outcomes were
/// awaited, those of the calls that the hub accepted; of several the worst decides.
struct SendOutcome: Sendable {
    /// What to do.
    package enum Step: Sendable, Equatable {
        /// Answer.
        case answer(APIAnswer)
        /// Ask the hub for its telemetry of these notifications (`GET /messages/{id}`), and answer what `answer(telemetry:)` says.
        case ask([String])
    }

    /// What Kafka has said of the request's record.
    enum Record: Sendable, Equatable {
        /// Nothing yet: it may be written, or may never be.
        case unreported
        /// It is written there; the offset is nil where Kafka does not say it.
        case written(topic: String, partition: Int32, offset: Int64?)

        /// The place of the record, where Kafka has said it.
        package var place: (topic: String, partition: Int32, offset: Int64)? {
            guard case .written(let topic, let partition, let offset?) = self else { return nil }
            return (topic, partition, offset)
        }
    }

    /// How much an end matters; the greatest of several decides.
    private enum Gravity: Int, Comparable {
        case done, pending, failed

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// How one call ended; without a code, with devices that were reached.
    private struct End {
        let platform: String
        let code: ErrorCode?
    }

    private let requestID: String
    private let record: Record
    private let tracksOutcome: Bool
    private let conclusion: SendResult?
    /// The outcomes by the index of their calls.
    private var outcomes: [Int64: SendResult] = [:]

    /// Judges a send.
    ///
    /// - Parameters:
    ///   - requestID: The request's id.
    ///   - record: What is known of its record.
    ///   - awaited: What is known of its results, now that nothing more is waited for.
    init(requestID: String, record: Record, awaited: Awaited) {
        self.requestID = requestID
        self.record = record
        tracksOutcome = awaited.goal == .outcomes
        conclusion = awaited.finalResult.flatMap { SendResult(reading: $0.json) }
        for record in awaited.outcomes {
            guard let result = SendResult(reading: record.json), let call = result.calls.first else { continue }
            outcomes[call.index] = result
        }
    }

    /// What to do: the hub is asked only where the answer depends on calls whose outcome is not known.
    var step: Step {
        guard let result = conclusion else { return .answer(resultPending) }
        switch result.state {
        // The first one with its id or key was sent, or will be.
        case .duplicate: return .answer(success([], state: .duplicate))
        case .sent, .partial: break
        default: return .answer(failure(result.code, safety: result.replaySafety))
        }
        guard tracksOutcome else { return .answer(answer(result, ends: [])) }
        let ends = known(in: result)
        let open = unknown(in: result)
        let isFailed = ends.contains { Self.gravity($0.code) == .failed }
        if isFailed || open.isEmpty { return .answer(answer(result, ends: ends)) }
        let ids = open.compactMap(\.notificationID)
        return ids.isEmpty ? .answer(outcomePending(nil)) : .ask(ids)
    }

    /// The answer after the hub was asked. A notification that is missing in `telemetry` was not reported.
    package func answer(telemetry: [String: NotificationTelemetry]) -> APIAnswer {
        guard let result = conclusion else { return resultPending }
        var ends = known(in: result)
        for call in unknown(in: result) {
            let told = call.notificationID.flatMap { telemetry[$0] }
            ends.append(End(platform: call.platform, code: Self.code(of: told)))
        }
        return answer(result, ends: ends)
    }

    // MARK: What is known

    /// The calls that the hub accepted and whose outcome is not known.
    private func unknown(in result: SendResult) -> [SendResult.Call] {
        result.calls.filter { $0.isAccepted && outcomes[$0.index] == nil }
    }

    /// How the calls ended whose outcome is known.
    private func known(in result: SendResult) -> [End] {
        result.calls.compactMap { (call) -> End? in
            guard call.isAccepted, let outcome = outcomes[call.index] else { return nil }
            // Where some devices were reached, the others' refusals are no failure of the send.
            let isReached = outcome.state == .sent || outcome.state == .partial
            return End(platform: call.platform, code: isReached ? nil : outcome.code ?? .internal)
        }
    }

    /// What telemetry says that was not followed to its end.
    private static func code(of telemetry: NotificationTelemetry?) -> ErrorCode? {
        guard let telemetry else { return .telemetryMissing }
        switch telemetry.state {
        case .completed:
            if telemetry.successCount > 0 { return nil }
            return telemetry.failureCount > 0 ? .devicesRefused : .nothingCounted
        case .noTargetFound: return .noTarget
        case .abandoned: return .hubAbandoned
        case .canceled: return .hubCanceled
        case .unknown: return .hubStateUnknown
        case .enqueued, .detailedStateAvailable, .scheduled, .processing, .other, nil: return .telemetryUnfinished
        }
    }

    private static func gravity(_ code: ErrorCode?) -> Gravity {
        switch code {
        case nil, .telemetryUnavailable, .nothingCounted, .noTarget: .done
        case .telemetryMissing, .telemetryUnanswered, .telemetryUnfinished: .pending
        default: .failed
        }
    }

    // MARK: Answers

    /// The answer to a send that the hub accepted at least a part of.
    private func answer(_ result: SendResult, ends: [End]) -> APIAnswer {
        let worst = ends.max { (left, right) in Self.gravity(left.code) < Self.gravity(right.code) }
        switch worst.map({ Self.gravity($0.code) }) ?? .done {
        case .failed: return failure(worst?.code, safety: .ambiguous)
        case .pending: return outcomePending(worst?.code)
        case .done:
            let refused = result.calls.filter { !$0.isAccepted }.map { End(platform: $0.platform, code: $0.code ?? .internal) }
            return success(refused + ends.filter { $0.code != nil }, state: result.state)
        }
    }

    /// 200; the body names the calls with a code.
    private func success(_ named: [End], state: ResultState) -> APIAnswer {
        var json = ByteWriter()
        json.append("{\"request_id\":", json: requestID)
        json.append(",\"state\":", json: state.rawValue)
        for (index, end) in named.enumerated() {
            json.append(index == 0 ? ",\"calls\":[" : ",")
            json.append("{\"platform\":", json: end.platform)
            json.append(",\"code\":", json: (end.code ?? .internal).rawValue)
            json.append("}")
        }
        json.append(named.isEmpty ? "}" : "]}")
        return APIAnswer(status: 200, json: json.bytes)
    }

    private func failure(_ code: ErrorCode?, safety: ReplaySafety) -> APIAnswer {
        let code = code ?? .internal
        let retry: APIProblem.Retry =
            switch safety {
            case .safe: .safe
            case .ambiguous, .duplicateRisk: .ambiguous
            case .pointless: .never
            }
        return APIAnswer(
            APIProblem(500, code: code, detail: "\(code.explanation.cause) \(hint)", retry: retry, requestID: requestID))
    }

    /// 504 that says what is known of the record. A request with an outcome is written, whether or not Kafka has said so.
    private var resultPending: APIAnswer {
        let place: String
        switch record {
        case .unreported where outcomes.isEmpty: return APIAnswer(APIProblem.perhapsWritten(requestID))
        case .unreported: place = ""
        case .written(let topic, let partition, let offset):
            place = " to \(topic), partition \(partition)" + (offset.map { ", offset \($0)" } ?? "")
        }
        let detail = "The request is written\(place), and its result did not come in time. \(hint)"
        return APIAnswer(located(APIProblem(504, code: .resultPending, detail: detail, retry: .ambiguous, requestID: requestID)))
    }

    private func outcomePending(_ code: ErrorCode?) -> APIAnswer {
        let detail = "The hub accepted the notification, and what became of it was not known in time. \(hint)"
        guard let code else {
            return APIAnswer(
                located(APIProblem(504, code: .outcomePending, detail: detail, retry: .ambiguous, requestID: requestID)))
        }
        return APIAnswer(located(APIProblem(504, code: code, detail: detail, retry: .ambiguous, requestID: requestID)))
    }

    /// The problem, with the place where the request can be asked about.
    private func located(_ problem: APIProblem) -> APIProblem {
        var problem = problem
        problem.location = RequestLocation.of(requestID, at: record.place)
        return problem
    }

    private var hint: String { "`pushfan results show \(requestID)` tells what became of it." }
}

extension APIProblem {
    /// 503: it is not known where Kafka has the text of a secure push, if it has it.
    static let notWritten = APIProblem(
        503, code: .brokerUnavailable, detail: "The text could not be written to Kafka; nothing is sent.", retry: .safe,
        retryAfter: 1000)

    /// 503: the request's result could not be reported, so it is not written.
    static let resultsUnread = APIProblem(
        503, code: .brokerUnavailable, detail: "Results are not read from Kafka yet; nothing is sent.", retry: .safe,
        retryAfter: 1000)

    /// 500: the text of a secure push could not be encrypted.
    static let textNotSealed = APIProblem(
        500, code: Code.internal, detail: "The text could not be encrypted; nothing is sent.", retry: .safe)

    /// 504: Kafka may have the request, which the problem names.
    static func perhapsWritten(_ requestID: String) -> APIProblem {
        var problem = APIProblem(
            504, code: .ackUnknown,
            detail: "It is not known whether the request was written: Kafka did not say so in time. "
                + "`pushfan results show \(requestID)` tells what became of it, if it was.",
            retry: .ambiguous, requestID: requestID)
        problem.location = RequestLocation.of(requestID)
        return problem
    }
}
