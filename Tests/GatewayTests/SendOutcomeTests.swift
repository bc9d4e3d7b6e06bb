import Delivery
import Gateway
import HTTPServing
import PushModel
import Testing

struct SendOutcomeTests {
    private func text(_ answer: APIAnswer?) -> String { String(decoding: answer?.body ?? [], as: UTF8.self) }

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

    private func tracked() -> SendOutcome { SendOutcome(requestID: "r-1", tracksOutcome: true) }

    @Test(
        arguments: [
            ("sent", nil, 200), ("partial", "hub_throttled", 200), ("failed", "hub_unavailable", 500),
            ("rejected", "payload_too_large", 500), ("expired", "expired_in_queue", 500), ("cancelled", "cancelled", 500),
            ("failed", "hub_forbidden", 500), ("failed", "a_new_code", 500), ("a_new_state", nil, 500),
        ] as [(String, String?, Int)])
    func aFinalResultIsAnswered(_ state: String, code: String?, status: Int) throws {
        var send = SendOutcome(requestID: "r-1")
        let taken = send.take(ended(state, code))
        let answer = try #require(taken)
        #expect(answer.status == status)
        #expect(text(answer).contains(#""request_id":"r-1""#))
        if status == 500, let code, let known = ErrorCode(rawValue: code) {
            #expect(text(answer).contains(#""code":"\#(known.rawValue)""#) && text(answer).contains(known.explanation.cause))
        }
    }

    @Test(arguments: [("safe", "safe"), ("ambiguous", "ambiguous"), ("duplicate_risk", "ambiguous"), ("pointless", "never")])
    func aFailureSaysWhetherToTryAgain(_ safety: String, retry: String) {
        var send = SendOutcome(requestID: "r-1")
        #expect(text(send.take(ended("failed", "hub_timeout", safety: safety))).contains(#""retry":"\#(retry)""#))
    }

    @Test func aPartialSendNamesWhatWasNotAccepted() {
        var outcome = SendOutcome(requestID: "r-1")
        let answer = outcome.take(ended("partial", "hub_throttled", sends: [send(0), send(1, "throttled", "hub_throttled")]))
        #expect(text(answer) == #"{"request_id":"r-1","state":"partial","calls":[{"platform":"p1","code":"hub_throttled"}]}"#)
    }

    @Test func whatIsNoFinalResultChangesNothing() {
        var send = SendOutcome(requestID: "r-1")
        for json in ["", "x", "[]", #"{"kind":"interim","state":"sent"}"#, #"{"state":"sent"}"#, #"{"kind":1}"#] {
            #expect(send.take(Array(json.utf8)) == nil)
        }
        #expect(send.take(outcome(0, "failed", "hub_abandoned")) == nil)
    }

    @Test func theResultThatIsNoDuplicateCounts() {
        var before = SendOutcome(requestID: "r-1")
        #expect(before.take(ended("duplicate", "duplicate")) == nil)
        #expect(before.take(ended("failed", "hub_timeout"))?.status == 500)
        var after = SendOutcome(requestID: "r-1")
        #expect(after.take(ended("sent"))?.status == 200)
        #expect(after.take(ended("duplicate", "duplicate"))?.status == 200)
        var alone = SendOutcome(requestID: "r-1")
        _ = alone.take(ended("duplicate", "duplicate"))
        guard case .answer(let answer) = alone.atLimit() else {
            Issue.record("the hub is asked")
            return
        }
        #expect(answer.status == 200 && text(answer).contains("duplicate"))
    }

    @Test func withoutAResultInTimeItIs504WithTheID() {
        guard case .answer(let answer) = SendOutcome(requestID: "r-1").atLimit() else {
            Issue.record("the hub is asked")
            return
        }
        #expect(answer.status == 504 && answer.headers.all.contains { $0.name == "Location" && $0.value == "/v1/requests/r-1" })
        #expect(text(answer).contains(#""code":"result_pending""#) && text(answer).contains("pushfan results show r-1"))
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
        var outcome = tracked()
        #expect(outcome.take(ended("sent", sends: [send(0)])) == nil)
        let taken = outcome.take(self.outcome(0, state, code))
        let answer = try #require(taken)
        #expect(answer.status == status)
        if let code, state != "partial", ErrorCode(rawValue: code) != nil { #expect(text(answer).contains(code)) }
    }

    @Test func withoutTrackingNoOutcomeIsAwaited() {
        var send = SendOutcome(requestID: "r-1")
        #expect(send.take(ended("sent", sends: [self.send(0)]))?.status == 200)
    }

    @Test func allOutcomesAreAwaitedAndTheWorstDecides() {
        var good = tracked()
        _ = good.take(ended("sent", sends: [send(0), send(1), send(2)]))
        #expect(good.take(outcome(1, "sent")) == nil)
        #expect(good.take(outcome(0, "failed", "no_target")) == nil)
        let named = good.take(outcome(2, "sent"))
        #expect(text(named) == #"{"request_id":"r-1","state":"sent","calls":[{"platform":"p0","code":"no_target"}]}"#)
        var pending = tracked()
        _ = pending.take(ended("sent", sends: [send(0), send(1)]))
        #expect(pending.take(outcome(0, "failed", "telemetry_missing")) == nil)
        #expect(pending.take(outcome(1, "failed", "hub_abandoned"))?.status == 500)
        var early = tracked()
        _ = early.take(outcome(0, "failed", "hub_abandoned"))
        #expect(early.take(ended("sent", sends: [send(0), send(1)]))?.status == 500)
    }

    @Test func callsThatWereNotAcceptedHaveNoOutcome() {
        var outcome = tracked()
        _ = outcome.take(ended("partial", "hub_throttled", sends: [send(0), send(1, "throttled", "hub_throttled")]))
        #expect(outcome.take(self.outcome(0, "sent"))?.status == 200)
    }

    @Test(
        arguments: [
            (NotificationState.enqueued, 504), (.scheduled, 504), (.processing, 504), (.other("New"), 504), (.unknown, 500),
            (.abandoned, 500), (.canceled, 500), (.noTargetFound, 200), (.completed, 200),
        ] as [(NotificationState, Int)])
    func atTheLimitTheHubIsAsked(_ state: NotificationState, status: Int) {
        var outcome = tracked()
        _ = outcome.take(ended("sent", sends: [send(0, id: "n-0"), send(1, id: "n-1")]))
        _ = outcome.take(self.outcome(0, "sent"))
        #expect(outcome.atLimit() == .ask(["n-1"]))
        #expect(outcome.answer(telemetry: ["n-1": NotificationTelemetry(state: state)]).status == status)
        #expect(outcome.answer(telemetry: [:]).status == 504)
    }

    @Test func aNotificationThatEveryDeviceRefusedIsAFailure() {
        var outcome = tracked()
        _ = outcome.take(ended("sent", sends: [send(0, id: "n-0")]))
        let refused = NotificationTelemetry.Count(platform: "apple", outcome: .known(.expiredChannel), count: 2)
        let reached = NotificationTelemetry.Count(platform: "apple", outcome: .known(.success), count: 1)
        let some = NotificationTelemetry(state: .completed, counts: [refused, reached])
        #expect(outcome.answer(telemetry: ["n-0": NotificationTelemetry(state: .completed, counts: [refused])]).status == 500)
        #expect(outcome.answer(telemetry: ["n-0": some]).status == 200)
    }

    @Test func aCallWithoutAnIDCannotBeAskedFor() {
        var outcome = tracked()
        _ = outcome.take(ended("sent", sends: [send(0)]))
        guard case .answer(let answer) = outcome.atLimit() else {
            Issue.record("the hub is asked")
            return
        }
        #expect(answer.status == 504 && text(answer).contains("outcome_pending"))
    }
}
