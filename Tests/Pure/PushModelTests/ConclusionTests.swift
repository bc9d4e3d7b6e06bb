import PushModel
import Testing

struct ConclusionTests {
    /// Page Results, "States" and "Replay safety": what a request whose only call ended so is.
    @Test(
        arguments: [
            (.success, .sent, "duplicate_risk"), (.transient, .failed, "safe"), (.throttled, .failed, "safe"),
            (.permanent, .failed, "pointless"), (.auth, .failed, "safe"), (.payload, .failed, "pointless"),
            (.noTarget, .failed, "pointless"), (.expired, .expired, "pointless"), (.cancelled, .cancelled, "safe"),
            (.duplicate, .duplicate, "pointless"), (.ambiguous, .failed, "ambiguous"),
        ] as [(Outcome, ResultState, String)])
    func oneCallDecidesStateAndReplaySafety(outcome: Outcome, state: ResultState, safety: String) throws {
        var reporting = Reporting()
        reporting.add(.apple, outcome, outcome == .success ? nil : .internal)
        let result = try reporting.result()
        #expect(text("state", in: result) == state.rawValue)
        #expect(text("outcome", in: result) == outcome.rawValue)
        #expect(text("replay_safety", in: result) == safety)
        #expect(outcome.replaySafety.rawValue == safety)
        #expect((result["error"] == nil) == (outcome == .success))
        #expect((result["hub_state"] == nil) == (outcome != .success))
    }

    @Test(
        arguments: [
            ([.success, .success], .sent, .success, "duplicate_risk"), ([.success, .payload], .partial, .payload, "pointless"),
            ([.success, .throttled], .partial, .throttled, "safe"), ([.success, .ambiguous], .partial, .ambiguous, "ambiguous"),
            ([.success, .expired], .partial, .expired, "pointless"), ([.success, .cancelled], .partial, .cancelled, "safe"),
            ([.payload, .transient], .failed, .transient, "safe"), ([.permanent, .payload], .failed, .payload, "pointless"),
            ([.transient, .auth], .failed, .auth, "safe"), ([.throttled, .ambiguous, .auth], .failed, .ambiguous, "ambiguous"),
            ([.expired, .transient], .failed, .transient, "safe"), ([.expired, .payload], .expired, .expired, "pointless"),
            ([.cancelled, .cancelled], .cancelled, .cancelled, "safe"), ([.cancelled, .permanent], .failed, .permanent, "safe"),
            ([.noTarget, .permanent], .failed, .permanent, "pointless"),
        ] as [([Outcome], ResultState, Outcome, String)])
    func theGravestCallDecidesForAll(outcomes: [Outcome], state: ResultState, outcome: Outcome, safety: String) throws {
        for order in [outcomes, outcomes.reversed()] {
            var reporting = Reporting()
            for outcome in order { reporting.add(.apple, outcome, outcome == .success ? nil : .internal) }
            let result = try reporting.result()
            #expect(text("state", in: result) == state.rawValue)
            #expect(text("outcome", in: result) == outcome.rawValue)
            #expect(text("replay_safety", in: result) == safety)
            #expect(number("targets/accepted", in: result) == outcomes.count { $0 == .success })
            #expect(number("targets/ambiguous", in: result) == outcomes.count { $0 == .ambiguous })
        }
    }

    /// A 408 and a time-out have one code; the call that the error comes from must be the one that decided.
    @Test func theErrorIsThatOfTheCallThatDecided() throws {
        var reporting = Reporting()
        reporting.add(.apple, .transient, .hubTimeout, status: 408, detail: "first")
        reporting.add(.fcmv1, .ambiguous, .hubTimeout, status: 0, detail: "second")
        #expect(reporting.report.conclusion.call == 1)
        let result = try reporting.result()
        #expect(text("outcome", in: result) == "ambiguous")
        #expect(text("error/message", in: result) == "second")
        #expect(number("error/http_status", in: result) == nil)
    }

    @Test func aFailureWithoutACodeIsStillAnError() throws {
        var reporting = Reporting()
        reporting.add(.apple, .success)
        reporting.add(.fcmv1, .transient, nil, status: 500)
        #expect(reporting.report.conclusion.call == 1)
        #expect(text("error/code", in: try reporting.result()) == "internal")
        #expect(number("error/http_status", in: try reporting.result()) == 500)
    }

    /// What was never decided must not look like a success.
    @Test func aCallWithoutAnOutcomeIsCancelled() throws {
        var reporting = Reporting()
        reporting.add(.apple, nil)
        var result = try reporting.result()
        #expect(text("state", in: result) == "cancelled")
        #expect(text("error/code", in: result) == "worker_shutdown")
        #expect(text("replay_safety", in: result) == "safe")
        reporting.add(.fcmv1, .success)
        result = try reporting.result()
        #expect(text("state", in: result) == "partial")
        #expect(text("sends/0/outcome", in: result) == "cancelled")
        #expect(text("replay_safety", in: result) == "safe")
    }

    /// What nothing could help is `pointless`; a cause in settings, routes or rights is `safe`, once no device can have been reached.
    @Test(
        arguments: [
            (.permanent, .hubNotFound, "safe"), (.permanent, .responseInvalid, "safe"), (.permanent, .unknownHub, "safe"),
            (.permanent, .devicesRefused, "pointless"), (.payload, .payloadTooLarge, "pointless"),
            (.payload, .tagExpressionInvalid, "pointless"), (.expired, .expiredInQueue, "pointless"),
            (.expired, .expiredOnHold, "safe"), (.ambiguous, .expiredOnHold, "ambiguous"),
            (.ambiguous, .hubNotFound, "ambiguous"), (.success, nil, "duplicate_risk"),
        ] as [(Outcome, ErrorCode?, String)])
    func aCauseThatCanBeRepairedIsNotPointless(outcome: Outcome, code: ErrorCode?, safety: String) throws {
        var reporting = Reporting()
        reporting.add(.apple, outcome, code)
        #expect(text("replay_safety", in: try reporting.result()) == safety)
    }

    @Test func everyCodeThatCanBeRepairedEndsSafeAndNoOtherIsMadeSafe() {
        for code in ErrorCode.allCases {
            let isSafe = ReplaySafety(of: .permanent, code: code) == .safe
            #expect(isSafe == (code.repair != nil))
            #expect(
                ReplaySafety(of: .ambiguous, code: code) == .ambiguous && ReplaySafety(of: .success, code: code) == .duplicateRisk
            )
        }
    }

    @Test func aRequestWithoutCallsIsNoSuccess() throws {
        let result = try Reporting().result()
        #expect(text("state", in: result) == "failed")
        #expect(text("error/code", in: result) == "internal")
        #expect(text("replay_safety", in: result) == "safe")
    }

    @Test(
        arguments: [
            (.schemaInvalid, .rejected, .payload), (.recordTooLarge, .rejected, .payload), (.unknownHub, .rejected, .permanent),
            (.expiredInQueue, .expired, .expired), (.expiredOnHold, .expired, .expired), (.duplicate, .duplicate, .duplicate),
            (.cancelled, .cancelled, .cancelled),
            (.orderingKeyFull, .rejected, .throttled),
            (.payloadTooLarge, .rejected, .payload), (.tagLimitExceeded, .rejected, .payload),
            (.tagExpressionInvalid, .rejected, .payload), (.payloadRejected, .rejected, .payload),
        ] as [(ErrorCode, ResultState, Outcome)])
    func aFaultEndsARequestBeforeAnyCall(code: ErrorCode, state: ResultState, outcome: Outcome) throws {
        var reporting = Reporting()
        reporting.report.faults = [
            RequestFault(code, at: "/a", message: "It is wrong."), RequestFault(.internal, at: "", message: "Too."),
        ]
        let result = try reporting.result()
        #expect(text("state", in: result) == state.rawValue)
        #expect(text("outcome", in: result) == outcome.rawValue)
        #expect(text("replay_safety", in: result) == ReplaySafety(of: outcome, code: code).rawValue)
        #expect(text("error/code", in: result) == code.rawValue)
        #expect(text("error/message", in: result) == "/a: It is wrong. Too.")
        #expect(text("error/faults/0/pointer", in: result) == "/a")
        #expect(text("error/faults/1/code", in: result) == "internal")
        #expect(number("attempt_count", in: result) == 0)
    }

    @Test func manyFaultsAreAllNamedUnderAMessageOfBoundedLength() throws {
        let wrong = (0..<40).map { #""f\#($0)":{"platform":1}"# }.joined(separator: ",")
        let devices = (0..<40).map { _ in "{\"platform\":\"nowhere\",\"handle\":\"\"}" }.joined(separator: ",")
        let reporting = Reporting(record(#""audience":{"devices":[\#(devices)]},"message":{\#(wrong)}"#))
        #expect(reporting.report.faults.count == 32)
        let result = try reporting.result()
        #expect((value("error/faults", in: result) as? [Any])?.count == 32)
        let message = try #require(text("error/message", in: result))
        #expect((200...512).contains(message.unicodeScalars.count))
        #expect(message.hasSuffix("."))
    }

    /// One letter may be many scalars, and JSON Schema counts those.
    @Test(arguments: ["e" + String(repeating: "\u{301}", count: 2000), String(repeating: "👩‍👩‍👧‍👦", count: 300)])
    func aFaultWithALongNameKeepsTheMessageShort(name: String) throws {
        var reporting = Reporting()
        reporting.report.faults = [RequestFault(.schemaInvalid, at: "/" + name, message: "It is wrong.")]
        #expect(text("error/message", in: try reporting.result())?.unicodeScalars.count == 500)
    }

    @Test func everyCodeIsExplained() {
        var causes: Set<String> = []
        for code in ErrorCode.allCases {
            let explanation = code.explanation
            for sentence in [explanation.cause, explanation.effect, explanation.remedy] {
                #expect(sentence.hasSuffix("."), "\(code.rawValue)")
                #expect(sentence.first?.isUppercase == true || sentence.hasPrefix("pushfan"), "\(code.rawValue)")
            }
            #expect(causes.insert(explanation.cause).inserted, "\(code.rawValue) has another code's cause")
            #expect(code.rawValue.wholeMatch(of: /[a-z][a-z0-9_]{1,47}/) != nil)
            #expect(code.outcome != .success)
        }
        // The closed list of the contract, and what telemetry tells.
        #expect(ErrorCode.allCases.count == 27 + 10)
    }

    @Test func textsAreCutBeforeAWholeCharacter() {
        var report = DeliveryReport()
        func kept(_ bytes: [UInt8], _ limit: Int) -> [UInt8]? {
            guard let text = report.keep(bytes.span, limit: limit) else { return nil }
            let span = report.span(text)
            return span.indices.map { span[$0] }
        }
        #expect(kept(Array("abc".utf8), 3) == Array("abc".utf8))
        #expect(kept(Array("abcd".utf8), 3) == Array("abc".utf8))
        #expect(kept(Array("aé".utf8), 2) == Array("a".utf8))
        #expect(kept(Array("a€b".utf8), 3) == Array("a".utf8))
        #expect(kept(Array("a€b".utf8), 4) == Array("a€".utf8))
        #expect(kept(Array("😀".utf8), 3) == nil)
        #expect(kept([0x80, 0x80, 0x80, 0x80, 0x80], 4) == [0x80, 0x80, 0x80, 0x80])
        #expect(kept([], 9) == nil)
        #expect(kept([1], 0) == nil)
    }
}
