@testable import GatewayAPI
@testable import AppAPI
import HTTPServing
import Outcomes
import Publishing
import PushModel
import Testing

struct SendOutcomeTests {
    private static let written = SendOutcome.Record.written(topic: "q", partition: 3, offset: 12)

    private func text(_ answer: APIAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func send(_ index: Int, _ outcome: String = "success", _ code: String? = nil, id: String? = nil) -> String {
        #"{"index":\#(index),"platform":"p\#(index)","outcome":"\#(outcome)""#
            + (id.map { #","notification_id":"\#($0)""# } ?? "") + (code.map { #","error_code":"\#($0)""# } ?? "") + "}"
    }

    private func ended(
        _ state: String, _ code: String? = nil, safety: String = "safe", sends: [String] = [], kind: String = "final"
    ) -> [UInt8] {
        let error = code.map { #","error":{"code":"\#($0)","message":"m","retryable":false}"# } ?? ""
        return Array(
            (#"{"schema_version":1,"request_id":"r-1","kind":"\#(kind)","state":"\#(state)","replay_safety":"\#(safety)""#
                + error + #","sends":[\#(sends.joined(separator: ","))]}"#).utf8)
    }

    private func outcome(_ index: Int, _ state: String, _ code: String? = nil) -> [UInt8] {
        ended(state, code, safety: "ambiguous", sends: [send(index, "success", code)], kind: "outcome")
    }

    /// What is to be done once these results came.
    private func outcome(
        of results: [[UInt8]], _ goal: Awaited.Goal = .finalResult, _ record: SendOutcome.Record = Self.written
    ) throws -> SendOutcome {
        var awaited = Awaited(goal)
        for json in results {
            awaited.take(try #require(ResultRecord(json: json, partition: 0, offset: 0, timestamp: 0)))
        }
        return SendOutcome(requestID: "r-1", record: record, awaited: awaited)
    }

    /// The answer once these results came.
    private func answer(
        to results: [[UInt8]], _ goal: Awaited.Goal = .finalResult, _ record: SendOutcome.Record = Self.written
    ) throws -> APIAnswer {
        let step = try outcome(of: results, goal, record).step
        guard case .answer(let answer) = step else {
            Issue.record("the hub is asked: \(step)")
            return APIAnswer(status: 599)
        }
        return answer
    }

    @Test(
        arguments: [
            ("sent", nil, 200), ("partial", "hub_throttled", 200), ("failed", "hub_unavailable", 500),
            ("rejected", "payload_too_large", 500), ("expired", "expired_in_queue", 500), ("cancelled", "cancelled", 500),
            ("failed", "hub_forbidden", 500), ("failed", "a_new_code", 500), ("a_new_state", nil, 500),
            ("duplicate", "duplicate", 200),
        ] as [(String, String?, Int)])
    func aFinalResultIsAnswered(_ state: String, code: String?, status: Int) throws {
        let answer = try self.answer(to: [ended(state, code)])
        #expect(answer.status == status)
        #expect(text(answer).contains(#""request_id":"r-1""#))
        if status == 500, let code, let known = ErrorCode(rawValue: code) {
            #expect(text(answer).contains(#""code":"\#(known.rawValue)""#) && text(answer).contains(known.explanation.cause))
        }
    }

    @Test(arguments: [("safe", "safe"), ("ambiguous", "ambiguous"), ("duplicate_risk", "ambiguous"), ("pointless", "never")])
    func aFailureSaysWhetherToTryAgain(_ safety: String, retry: String) throws {
        let answer = try self.answer(to: [ended("failed", "hub_timeout", safety: safety)])
        #expect(text(answer).contains(#""retry":"\#(retry)""#))
    }

    @Test func aPartialSendNamesWhatWasNotAccepted() throws {
        let sends = [send(0), send(1, "throttled", "hub_throttled")]
        let answer = try self.answer(to: [ended("partial", "hub_throttled", sends: sends)])
        #expect(
            text(answer) == #"{"request_id":"r-1","state":"partial","calls":[{"platform":"p1","code":"hub_throttled"}]}"# + "\n")
    }

    @Test(arguments: [[], ["interim"], ["outcome"]]) func withoutAFinalResultItIs504WithTheID(kinds: [String]) throws {
        let results = kinds.map { ended("failed", "hub_abandoned", sends: [send(0)], kind: $0) }
        let answer = try self.answer(to: results, .outcomes)
        #expect(answer.status == 504 && answer.headers["Location"] == "/v1/requests/r-1?at=q/3/12")
        #expect(text(answer).contains(#""code":"result_pending""#) && text(answer).contains("pushfan results show r-1"))
        #expect(text(answer).contains(#""request_id":"r-1""#))
    }

    @Test(
        arguments: [
            (written, "result_pending", "The request is written to q, partition 3, offset 12, and"),
            (.written(topic: "q", partition: 0, offset: nil), "result_pending", "The request is written to q, partition 0, and"),
            (.unreported, "ack_unknown", "It is not known whether the request was written:"),
        ] as [(SendOutcome.Record, String, String)])
    func withoutAResultItSaysWhatIsKnownOfTheRecord(_ record: SendOutcome.Record, code: String, detail: String) throws {
        let answer = try self.answer(to: [], .finalResult, record)
        #expect(answer.status == 504 && answer.headers["Location"] == RequestLocation.of("r-1", at: record.place))
        for part in ["\"code\":\"\(code)\"", "\"detail\":\"\(detail)", #""retry":"ambiguous""#, #""request_id":"r-1""#] {
            #expect(text(answer).contains(part), "\(text(answer))")
        }
    }

    @Test func aRequestWithAnOutcomeIsWritten() throws {
        let answer = try self.answer(to: [outcome(0, "sent")], .outcomes, .unreported)
        #expect(answer.status == 504 && text(answer).contains("The request is written, and its result did not come in time."))
    }

    @Test func aResultThatCameCountsWhateverIsKnownOfTheRecord() throws {
        #expect(try answer(to: [ended("sent")], .finalResult, .unreported).status == 200)
    }

    // MARK: Outcomes

    @Test(
        arguments: [
            ("sent", nil, 200), ("partial", "devices_refused", 200), ("failed", "devices_refused", 500),
            ("failed", "hub_abandoned", 500),
            ("failed", "hub_state_unknown", 500), ("failed", "hub_canceled", 500), ("failed", "no_target", 200),
            ("failed", "nothing_counted", 200), ("unknown", "telemetry_unavailable", 200), ("failed", "telemetry_missing", 504),
            ("failed", "telemetry_unanswered", 504), ("failed", "telemetry_unfinished", 504), ("failed", "a_new_code", 500),
        ] as [(String, String?, Int)])
    func anOutcomeIsAnswered(_ state: String, code: String?, status: Int) throws {
        let answer = try self.answer(to: [ended("sent", sends: [send(0)]), outcome(0, state, code)], .outcomes)
        #expect(answer.status == status)
        if let code, state != "partial", ErrorCode(rawValue: code) != nil { #expect(text(answer).contains(code)) }
    }

    @Test func withoutTrackingNoOutcomeMatters() throws {
        let answer = try self.answer(to: [ended("sent", sends: [send(0)]), outcome(0, "failed", "hub_abandoned")])
        #expect(answer.status == 200)
    }

    @Test func theWorstOutcomeDecides() throws {
        let sent = ended("sent", sends: [send(0), send(1), send(2)])
        let good = [outcome(1, "sent"), outcome(0, "failed", "no_target"), outcome(2, "sent")]
        let named = try answer(to: [sent] + good, .outcomes)
        #expect(text(named) == #"{"request_id":"r-1","state":"sent","calls":[{"platform":"p0","code":"no_target"}]}"# + "\n")
        let pending = [outcome(0, "failed", "telemetry_missing"), outcome(1, "sent"), outcome(2, "sent")]
        #expect(try answer(to: [sent] + pending, .outcomes).status == 504)
        let bad = [outcome(0, "failed", "telemetry_missing"), outcome(1, "failed", "hub_abandoned")]
        #expect(try answer(to: [sent] + bad, .outcomes).status == 500, "the third one cannot make it better")
        #expect(try answer(to: bad + [sent], .outcomes).status == 500, "the order does not matter")
    }

    @Test func callsThatWereNotAcceptedHaveNoOutcome() throws {
        let sends = [send(0), send(1, "throttled", "hub_throttled")]
        let answer = try self.answer(to: [ended("partial", "hub_throttled", sends: sends), outcome(0, "sent")], .outcomes)
        #expect(answer.status == 200)
    }

    @Test(
        arguments: [
            (NotificationState.enqueued, 504), (.scheduled, 504), (.processing, 504), (.other("New"), 504), (.unknown, 500),
            (.abandoned, 500), (.canceled, 500), (.noTargetFound, 200), (.completed, 200),
        ] as [(NotificationState, Int)])
    func theHubIsAskedForOutcomesThatAreNotKnown(_ state: NotificationState, status: Int) throws {
        let sent = ended("sent", sends: [send(0, id: "n-0"), send(1, id: "n-1")])
        let outcome = try self.outcome(of: [sent, self.outcome(0, "sent")], .outcomes)
        #expect(outcome.step == .ask(["n-1"]))
        #expect(outcome.answer(telemetry: ["n-1": NotificationTelemetry(state: state)]).status == status)
        #expect(outcome.answer(telemetry: [:]).status == 504)
    }

    @Test func aNotificationThatEveryDeviceRefusedIsAFailure() throws {
        let outcome = try self.outcome(of: [ended("sent", sends: [send(0, id: "n-0")])], .outcomes)
        let refused = NotificationTelemetry.Count(platform: "apple", outcome: .known(.expiredChannel), count: 2)
        let reached = NotificationTelemetry.Count(platform: "apple", outcome: .known(.success), count: 1)
        let some = NotificationTelemetry(state: .completed, counts: [refused, reached])
        #expect(outcome.answer(telemetry: ["n-0": NotificationTelemetry(state: .completed, counts: [refused])]).status == 500)
        #expect(outcome.answer(telemetry: ["n-0": some]).status == 200)
    }

    @Test func aCallWithoutAnIDCannotBeAskedFor() throws {
        let answer = try self.answer(to: [ended("sent", sends: [send(0)])], .outcomes)
        #expect(answer.status == 504 && text(answer).contains("outcome_pending"))
    }
}
