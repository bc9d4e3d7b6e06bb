public import Delivery
internal import HTTPServing
internal import PushModel

/// Decides what a send is answered with: its results in, status and body out (the tutorials' "Abandoned or Unknown is a failure").
///
/// A send is done when its final result is there and, if outcomes are followed, that of every call which the hub accepted. Of several
/// outcomes the worst decides. Of two final results of one request, the one that is no `duplicate` counts.
public struct SendOutcome: Sendable {
    /// What is to be done when no time is left.
    public enum Limit: Sendable, Equatable {
        /// Answer.
        case answer(APIAnswer)
        /// Ask the hub for its telemetry of these notifications (`GET /messages/{id}`), and answer what `answer(telemetry:)` says.
        case ask([String])
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
    private let tracksOutcome: Bool
    private var conclusion: SendResult?
    private var hasDuplicate = false
    /// The outcomes by the index of their calls.
    private var outcomes: [Int64: SendResult] = [:]

    /// A send of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - requestID: The request's id.
    ///   - tracksOutcome: Whether the outcomes of its calls are awaited (`gateway.track_outcome`).
    public init(requestID: String, tracksOutcome: Bool = false) {
        self.requestID = requestID
        self.tracksOutcome = tracksOutcome
    }

    /// Takes a result of the request.
    ///
    /// - Parameter json: The record's value. What is no result, or an interim one, changes nothing.
    /// - Returns: The answer; nil while there is more to wait for.
    public mutating func take(_ json: [UInt8]) -> APIAnswer? {
        guard let result = SendResult(reading: json) else { return nil }
        if result.isOutcome {
            if let call = result.calls.first { outcomes[call.index] = result }
        } else if result.state == .duplicate {
            hasDuplicate = true
        } else if conclusion == nil {
            conclusion = result
        }
        return answerIfKnown
    }

    /// What is to be done when the time is over (`gateway.send_wait`).
    public func atLimit() -> Limit {
        if let answer = answerIfKnown { return .answer(answer) }
        guard let result = conclusion else {
            // The first one with this id was sent, or will be.
            return .answer(hasDuplicate ? success([]) : resultPending)
        }
        let ids = unknown(in: result).compactMap(\.notificationID)
        return ids.isEmpty ? .answer(outcomePending(nil)) : .ask(ids)
    }

    /// The answer after the limit.
    ///
    /// - Parameter telemetry: What the hub told of the notifications that `atLimit` named; one that is missing was not told of.
    /// - Returns: The answer to the app.
    public func answer(telemetry: [String: NotificationTelemetry]) -> APIAnswer {
        guard let result = conclusion else { return resultPending }
        var ends = known(in: result)
        for call in unknown(in: result) {
            let told = call.notificationID.flatMap { telemetry[$0] }
            ends.append(End(platform: call.platform, code: Self.code(of: told)))
        }
        return answer(result, ends)
    }

    // MARK: What is known

    private var answerIfKnown: APIAnswer? {
        guard let result = conclusion else { return nil }
        guard result.state == .sent || result.state == .partial else { return failure(result.code, result.replaySafety) }
        guard tracksOutcome else { return answer(result, []) }
        let ends = known(in: result)
        let isFailed = ends.contains { Self.gravity($0.code) == .failed }
        return isFailed || unknown(in: result).isEmpty ? answer(result, ends) : nil
    }

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

    /// What telemetry says that nobody has followed to its end.
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
    private func answer(_ result: SendResult, _ ends: [End]) -> APIAnswer {
        let worst = ends.max { (left, right) in Self.gravity(left.code) < Self.gravity(right.code) }
        switch worst.map({ Self.gravity($0.code) }) ?? .done {
        case .failed: return failure(worst?.code, .ambiguous)
        case .pending: return outcomePending(worst?.code)
        case .done:
            let refused = result.calls.filter { !$0.isAccepted }.map { End(platform: $0.platform, code: $0.code ?? .internal) }
            return success(refused + ends.filter { $0.code != nil }, result.state)
        }
    }

    /// 200; the body names the calls with a code.
    private func success(_ named: [End], _ state: ResultState = .duplicate) -> APIAnswer {
        var json = ByteWriter()
        json.append("{\"request_id\":")
        json.append(json: requestID)
        json.append(",\"state\":")
        json.append(json: state.rawValue)
        for (index, end) in named.enumerated() {
            json.append(index == 0 ? ",\"calls\":[" : ",")
            json.append("{\"platform\":")
            json.append(json: end.platform)
            json.append(",\"code\":")
            json.append(json: (end.code ?? .internal).rawValue)
            json.append("}")
        }
        json.append(named.isEmpty ? "}" : "]}")
        return APIAnswer(status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: json.bytes)
    }

    private func failure(_ code: ErrorCode?, _ safety: ReplaySafety) -> APIAnswer {
        let code = code ?? .internal
        let retry: APIProblem.Retry =
            switch safety {
            case .safe: .safe
            case .ambiguous, .duplicateRisk: .ambiguous
            case .pointless: .never
            }
        return APIAnswer(APIProblem(500, code, "\(code.explanation.cause) \(hint)", retry: retry, requestID: requestID))
    }

    private var resultPending: APIAnswer {
        APIAnswer(
            APIProblem(
                504, .resultPending, "The request is written, and its result did not come in time. \(hint)", retry: .ambiguous,
                requestID: requestID))
    }

    private func outcomePending(_ code: ErrorCode?) -> APIAnswer {
        let detail = "The hub accepted the notification, and what became of it was not known in time. \(hint)"
        guard let code else {
            return APIAnswer(APIProblem(504, .outcomePending, detail, retry: .ambiguous, requestID: requestID))
        }
        return APIAnswer(APIProblem(504, code, detail, retry: .ambiguous, requestID: requestID))
    }

    private var hint: String { "`pushfan results show \(requestID)` tells what became of it." }
}

extension APIProblem {
    /// 503: Kafka certainly does not have the request.
    public static let notWritten = APIProblem(
        503, .kafkaUnavailable, "The request could not be written to Kafka; nothing is sent.", retry: .safe, retryAfter: 1000)

    /// 504: Kafka may have the request.
    ///
    /// - Parameter requestID: The request's id.
    /// - Returns: The problem, which names the request.
    public static func perhapsWritten(_ requestID: String) -> APIProblem {
        APIProblem(
            504, .kafkaUnanswered,
            "Kafka did not say whether it has the request. `pushfan results show \(requestID)` tells what became of it.",
            retry: .ambiguous, requestID: requestID)
    }
}
