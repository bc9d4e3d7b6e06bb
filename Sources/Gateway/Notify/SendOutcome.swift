public import Delivery
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

    private let requestID: String
    private let tracksOutcome: Bool
    private var final: SendResult?
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
        } else if final == nil {
            final = result
        }
        return answerIfKnown
    }

    /// What is to be done when the time is over (`gateway.send_wait`).
    public func atLimit() -> Limit {
        if let answer = answerIfKnown { return .answer(answer) }
        guard let final else {
            // The first one with this id was sent, or will be.
            return .answer(hasDuplicate ? success([]) : resultPending)
        }
        let ids = open(of: final).compactMap(\.notificationID)
        return ids.isEmpty ? .answer(outcomePending(nil)) : .ask(ids)
    }

    /// The answer after the limit.
    ///
    /// - Parameter telemetry: What the hub told of the notifications that `atLimit` named; one that is missing was not told of.
    public func answer(telemetry: [String: NotificationTelemetry]) -> APIAnswer {
        guard let final else { return resultPending }
        var ends = known(of: final)
        for call in open(of: final) {
            let told = call.notificationID.flatMap { telemetry[$0] }
            ends.append((call.platform, Self.end(of: told)))
        }
        return answer(final, ends)
    }

    // MARK: What is known

    private var answerIfKnown: APIAnswer? {
        guard let final else { return nil }
        guard final.state == .sent || final.state == .partial else { return failure(final.code, final.replaySafety) }
        guard tracksOutcome else { return answer(final, []) }
        let ends = known(of: final)
        let isFailed = ends.contains { Self.gravity($0.end) == .failed }
        return isFailed || open(of: final).isEmpty ? answer(final, ends) : nil
    }

    /// The calls that the hub accepted and whose outcome is not known.
    private func open(of final: SendResult) -> [SendResult.Call] {
        final.calls.filter { $0.isAccepted && outcomes[$0.index] == nil }
    }

    /// How the calls ended whose outcome is known.
    private func known(of final: SendResult) -> [(platform: String, end: ErrorCode?)] {
        final.calls.compactMap { call in
            guard call.isAccepted, let outcome = outcomes[call.index] else { return nil }
            // Where some devices were reached, the others' refusals are no failure of the send.
            let isReached = outcome.state == .sent || outcome.state == .partial
            return (call.platform, isReached ? nil : outcome.code ?? .internal)
        }
    }

    /// What telemetry says that nobody has followed to its end.
    private static func end(of telemetry: NotificationTelemetry?) -> ErrorCode? {
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

    private static func gravity(_ end: ErrorCode?) -> Gravity {
        switch end {
        case nil, .telemetryUnavailable, .nothingCounted, .noTarget: .done
        case .telemetryMissing, .telemetryUnanswered, .telemetryUnfinished: .pending
        default: .failed
        }
    }

    // MARK: Answers

    /// The answer to a send that the hub accepted at least a part of.
    private func answer(_ final: SendResult, _ ends: [(platform: String, end: ErrorCode?)]) -> APIAnswer {
        let worst = ends.max { Self.gravity($0.end) < Self.gravity($1.end) }
        switch worst.map({ Self.gravity($0.end) }) ?? .done {
        case .failed: return failure(worst?.end, .ambiguous)
        case .pending: return outcomePending(worst?.end)
        case .done:
            let refused = final.calls.filter { !$0.isAccepted }.map { ($0.platform, $0.code ?? ErrorCode.internal) }
            let named = ends.compactMap { platform, end in end.map { (platform, $0) } }
            return success(refused + named, final.state)
        }
    }

    private func success(_ named: [(platform: String, code: ErrorCode)], _ state: ResultState = .duplicate) -> APIAnswer {
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
            json.append(json: end.code.rawValue)
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
    public static func perhapsWritten(_ requestID: String) -> APIProblem {
        APIProblem(
            504, .kafkaUnanswered,
            "Kafka did not say whether it has the request. `pushfan results show \(requestID)` tells what became of it.",
            retry: .ambiguous, requestID: requestID)
    }
}
