import Delivery
import PushModel
import Testing

struct VerdictTableTests {
    private static func verdict(
        _ status: Int, retryAfter: Bool = false, _ detail: CallResult.DetailHint = .none
    ) -> CallVerdict { CallVerdict(of: .answered(status: status, hasRetryAfter: retryAfter, detail: detail)) }

    private static func verdict(curl code: Int32, bodySent: Bool, isAnswerInvalid: Bool = false) -> CallVerdict {
        CallVerdict(of: .failed(curlCode: code, isAnswerInvalid: isAnswerInvalid, bodySent: bodySent))
    }

    /// Page HubProtocol, "Statuses"; page Results, "Outcome classes".
    @Test(
        arguments: [
            (200, .success, nil, .never), (201, .success, nil, .never),
            (202, .ambiguous, .responseInvalid, .ifAmbiguityAllowed), (204, .ambiguous, .responseInvalid, .ifAmbiguityAllowed),
            (301, .permanent, .responseInvalid, .never), (304, .permanent, .responseInvalid, .never),
            (400, .payload, .payloadRejected, .never), (401, .auth, .hubUnauthorized, .reauthenticate),
            (403, .auth, .hubForbidden, .never), (404, .transient, .hubNotFound, .backoff),
            (405, .permanent, .responseInvalid, .never), (408, .transient, .hubTimeout, .backoff),
            (409, .permanent, .payloadRejected, .never), (410, .permanent, .hubNotFound, .never),
            (412, .permanent, .payloadRejected, .never), (413, .payload, .payloadTooLarge, .never),
            (429, .throttled, .hubThrottled, .backoff),
            // Of servers before the hub, each judged by what it says of the call.
            (402, .permanent, .payloadRejected, .never), (406, .permanent, .payloadRejected, .never),
            (407, .permanent, .responseInvalid, .never), (411, .permanent, .responseInvalid, .never),
            (414, .permanent, .responseInvalid, .never), (415, .permanent, .payloadRejected, .never),
            (416, .permanent, .responseInvalid, .never), (417, .permanent, .responseInvalid, .never),
            (421, .transient, .hubUnavailable, .backoff), (422, .permanent, .payloadRejected, .never),
            (423, .transient, .hubUnavailable, .backoff), (424, .permanent, .payloadRejected, .never),
            (425, .transient, .hubUnavailable, .backoff), (426, .permanent, .responseInvalid, .never),
            (428, .permanent, .responseInvalid, .never), (431, .payload, .payloadTooLarge, .never),
            (451, .permanent, .responseInvalid, .never), (498, .permanent, .payloadRejected, .never),
            (499, .ambiguous, .hubUnavailable, .ifAmbiguityAllowed), (511, .transient, .connectFailed, .backoff),
            (520, .ambiguous, .hubUnavailable, .ifAmbiguityAllowed), (521, .transient, .hubUnavailable, .backoff),
            (522, .ambiguous, .hubUnavailable, .ifAmbiguityAllowed), (523, .transient, .hubUnavailable, .backoff),
            (524, .ambiguous, .hubTimeout, .ifAmbiguityAllowed), (525, .transient, .hubUnavailable, .backoff),
            (526, .transient, .hubUnavailable, .backoff), (527, .transient, .hubUnavailable, .backoff),
            (500, .transient, .hubUnavailable, .backoff), (501, .permanent, .responseInvalid, .never),
            (502, .transient, .hubUnavailable, .backoff), (503, .transient, .hubUnavailable, .backoff),
            (504, .transient, .hubUnavailable, .backoff), (505, .permanent, .responseInvalid, .never),
            (599, .transient, .hubUnavailable, .backoff), (100, .ambiguous, .responseInvalid, .ifAmbiguityAllowed),
            (199, .ambiguous, .responseInvalid, .ifAmbiguityAllowed), (0, .ambiguous, .responseInvalid, .ifAmbiguityAllowed),
        ] as [(Int, Outcome, ErrorCode?, CallVerdict.Retry)])
    func aStatusMeans(status: Int, outcome: Outcome, code: ErrorCode?, retry: CallVerdict.Retry) {
        let verdict = Self.verdict(status)
        #expect(verdict.outcome == outcome)
        #expect(verdict.code == code)
        #expect(verdict.retry == retry)
        #expect(verdict.pausesHub == (status == 429))
    }

    /// 403 throttles with Retry-After and refuses without it (page HubProtocol, "Throttling").
    @Test(
        arguments: [
            (403, true, .none, .throttled, .hubThrottled, .backoff, true),
            (403, true, .quota, .throttled, .hubThrottled, .backoff, true),
            (403, false, .quota, .throttled, .hubQuota, .never, false), (403, false, .tags, .auth, .hubForbidden, .never, false),
            (200, false, .notTheHub, .ambiguous, .responseInvalid, .ifAmbiguityAllowed, false),
            (201, true, .notTheHub, .ambiguous, .responseInvalid, .ifAmbiguityAllowed, false),
            (400, false, .tags, .payload, .tagExpressionInvalid, .never, false),
            (400, true, .tags, .payload, .tagExpressionInvalid, .never, false),
            (400, false, .quota, .payload, .payloadRejected, .never, false),
            (429, true, .none, .throttled, .hubThrottled, .backoff, true),
            (503, true, .none, .transient, .hubUnavailable, .backoff, true),
            (500, true, .none, .transient, .hubUnavailable, .backoff, false),
            (401, true, .none, .auth, .hubUnauthorized, .reauthenticate, false),
        ] as [(Int, Bool, CallResult.DetailHint, Outcome, ErrorCode, CallVerdict.Retry, Bool)])
    func retryAfterAndDetailNarrowAStatus(
        status: Int, retryAfter: Bool, detail: CallResult.DetailHint, outcome: Outcome, code: ErrorCode, retry: CallVerdict.Retry,
        pausesHub: Bool
    ) {
        let verdict = Self.verdict(status, retryAfter: retryAfter, detail)
        #expect(verdict.outcome == outcome)
        #expect(verdict.code == code)
        #expect(verdict.retry == retry)
        #expect(verdict.pausesHub == pausesHub)
    }

    /// Numbers of `CURLcode` in curl/curl.h.
    @Test(
        arguments: [
            (3, .transient, .connectFailed, .backoff), (5, .transient, .dnsFailed, .backoff),
            (6, .transient, .dnsFailed, .backoff),
            (7, .transient, .connectFailed, .backoff), (18, .transient, .connectFailed, .backoff),
            (27, .transient, .internal, .backoff), (28, .transient, .connectFailed, .backoff),
            (35, .transient, .tlsFailed, .backoff),
            (52, .transient, .connectFailed, .backoff), (55, .transient, .connectFailed, .backoff),
            (56, .transient, .connectFailed, .backoff), (58, .transient, .tlsFailed, .backoff),
            (60, .transient, .tlsFailed, .backoff),
            (77, .transient, .tlsFailed, .backoff), (83, .transient, .tlsFailed, .backoff),
            (91, .transient, .tlsFailed, .backoff),
            (97, .transient, .connectFailed, .backoff), (0, .transient, .connectFailed, .backoff),
            (81, .transient, .connectFailed, .backoff),
        ] as [(Int32, Outcome, ErrorCode, CallVerdict.Retry)])
    func anErrorBeforeTheBodyLeftMeans(code: Int32, outcome: Outcome, reason: ErrorCode, retry: CallVerdict.Retry) {
        let verdict = Self.verdict(curl: code, bodySent: false)
        #expect(verdict.outcome == outcome)
        #expect(verdict.code == reason)
        #expect(verdict.retry == retry)
    }

    @Test func afterTheBodyLeftEveryErrorIsAmbiguousAndNothingElse() {
        for code in 0...99 as ClosedRange<Int32> {
            let verdict = Self.verdict(curl: code, bodySent: true)
            #expect(verdict.outcome == .ambiguous, "curl \(code)")
            #expect(verdict.retry == .ifAmbiguityAllowed, "curl \(code)")
            #expect(verdict.code == (code == 28 ? .hubTimeout : .hubUnavailable), "curl \(code)")
            #expect(!verdict.pausesHub)
            let before = Self.verdict(curl: code, bodySent: false)
            #expect(before.outcome != .ambiguous, "curl \(code)")
            #expect(before.retry == .backoff || before.outcome == .permanent, "curl \(code)")
        }
        #expect(Self.verdict(curl: 0, bodySent: true, isAnswerInvalid: true).outcome == .ambiguous)
        #expect(Self.verdict(curl: 0, bodySent: true, isAnswerInvalid: true).code == .responseInvalid)
        #expect(Self.verdict(curl: 0, bodySent: false, isAnswerInvalid: true).outcome == .transient)
    }

    @Test func everyResultHasOneVerdictAndItIsSound() {
        for result in Self.everyResult {
            let row = VerdictTable.row(for: result)
            #expect(CallVerdict(of: result) == row.verdict)
            let verdict = row.verdict
            #expect((verdict.code == nil) == (verdict.outcome == .success), "\(result)")
            switch verdict.outcome {
            case .success, .permanent, .payload: #expect(verdict.retry == .never, "\(result)")
            case .transient: #expect(verdict.retry == .backoff, "\(result)")
            case .ambiguous: #expect(verdict.retry == .ifAmbiguityAllowed, "\(result)")
            case .auth: #expect(verdict.retry == .reauthenticate || verdict.code == .hubForbidden, "\(result)")
            case .throttled: #expect(verdict.retry == .backoff || verdict.code == .hubQuota, "\(result)")
            case .noTarget, .expired, .cancelled, .duplicate: Issue.record("no call ends as \(verdict.outcome): \(result)")
            }
            if verdict.pausesHub { #expect(verdict.retry == .backoff, "\(result)") }
        }
    }

    /// A row that another one hides would be shown by `explain --codes` and mean nothing.
    @Test func everyRowDecidesSomething() {
        var names: Set<String> = []
        for result in Self.everyResult { names.insert(VerdictTable.row(for: result).subject.name) }
        let rows = VerdictTable.rows + VerdictTable.fallbackRows
        for row in rows { #expect(names.contains(row.subject.name), "\(row.subject.name) never applies") }
    }

    @Test func rowsHaveNamesOfTheirOwnAndAMeaning() {
        let rows = VerdictTable.rows + VerdictTable.fallbackRows
        #expect(Set(rows.map(\.subject.name)).count == rows.count)
        for row in rows {
            #expect(!row.subject.name.contains("  "), "\(row.subject.name)")
            #expect(row.meaning.hasSuffix("."), "\(row.subject.name)")
        }
    }

    @Test(
        arguments: [
            (.status(200...201, detail: .notTheHub), "200–201, not from a hub"), (.status(429...429), "429"),
            (.status(502...599), "502–599"),
            (.status(403...403, retryAfter: true), "403 with Retry-After"),
            (.status(403...403, retryAfter: false, detail: .quota), "403 without Retry-After, detail names quota"),
            (.curl([28], name: "OPERATION_TIMEDOUT", bodySent: true), "curl 28 OPERATION_TIMEDOUT, after the body left"),
            (.curl([], name: "any other error", bodySent: false), "curl any other error, before the body left"),
            (.invalidAnswer(bodySent: true), "invalid answer, after the body left"),
        ] as [(VerdictTable.Subject, String)])
    func rowsAreNamedInPlainWords(subject: VerdictTable.Subject, name: String) {
        #expect(subject.name == name)
    }

    private static var everyResult: [CallResult] {
        var results: [CallResult] = []
        for status in 100...599 {
            for detail in CallResult.DetailHint.allCases {
                for hasRetryAfter in [true, false] {
                    results.append(.answered(status: status, hasRetryAfter: hasRetryAfter, detail: detail))
                }
            }
        }
        for bodySent in [true, false] {
            for code in 0...99 as ClosedRange<Int32> {
                results.append(.failed(curlCode: code, isAnswerInvalid: false, bodySent: bodySent))
            }
            results.append(.failed(curlCode: 0, isAnswerInvalid: true, bodySent: bodySent))
        }
        return results
    }
}
