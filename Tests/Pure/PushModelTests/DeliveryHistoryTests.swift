import PushModel
import Testing

struct DeliveryHistoryTests {
    private static func text(_ history: DeliveryHistory, _ report: DeliveryReport) -> [UInt8] {
        var json = ByteWriter()
        history.append(report, to: &json)
        return json.bytes
    }

    private static let characters = ["a", "\"", "ü", "\n"]

    private static func random(_ random: inout SeededRandom) -> (DeliveryHistory, DeliveryReport) {
        func flip(_ random: inout SeededRandom) -> Bool { random.below(2) == 0 }
        var report = DeliveryReport()
        report.consumedAt = Timestamp(milliseconds: Int64(random.below(1 << 50)))
        if flip(&random) { report.firstAttemptAt = Timestamp(milliseconds: Int64(random.below(1 << 50))) }
        report.throttleWait = Int64(random.below(100_000))
        var states: [DeliveryHistory.CallState] = []
        let count = 1 + random.below(6)
        for index in 0..<count {
            var call = DeliveryReport.Call(platform: flip(&random) ? Platform.allCases[random.below(8)] : nil)
            let isDone = index > 0 && flip(&random)
            if isDone { call.outcome = Outcome.allCases[random.below(Outcome.allCases.count)] }
            if flip(&random) { call.code = ErrorCode.allCases[random.below(ErrorCode.allCases.count)] }
            if flip(&random) { call.httpStatus = 200 + random.below(400) }
            if flip(&random) { call.retryAfter = Int64(random.below(3_600_000)) }
            for _ in 0..<random.below(3) {
                let text = Array((0..<random.below(40)).map { _ in characters[random.below(4)] }.joined().utf8)
                call.detail = report.keep(text.span)
                call.trackingID = report.keep(Array("id-\(random.below(99))".utf8).span)
                call.notificationID = call.trackingID
            }
            report.calls.append(call)
            states.append(
                .init(
                    mayHaveArrived: flip(&random),
                    due: isDone ? nil : Timestamp(milliseconds: Int64(random.below(1 << 50)))))
        }
        for number in 0..<random.below(60) {
            var attempt = DeliveryReport.Attempt(
                number: number + 1, call: random.below(count), startedAt: Timestamp(milliseconds: Int64(random.below(1 << 50))))
            attempt.duration = Int64(random.below(30_000))
            attempt.result = DeliveryReport.AttemptResult.allCases[random.below(4)]
            if flip(&random) { attempt.httpStatus = 100 + random.below(500) }
            if flip(&random) { attempt.code = ErrorCode.allCases[random.below(ErrorCode.allCases.count)] }
            attempt.bytesSent = flip(&random)
            if flip(&random) { attempt.backoff = Int64(random.below(3_600_000)) }
            report.add(attempt)
        }
        return (DeliveryHistory(plan: random.next(), calls: states), report)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func whatIsWrittenIsReadBackWhole(_ seed: UInt64) throws {
        var random = SeededRandom(seed)
        let (history, report) = Self.random(&random)
        let text = Self.text(history, report)
        var restored = DeliveryReport()
        let read = try DeliveryHistory(text.span, into: &restored)
        #expect(read.plan == history.plan && read.calls == history.calls)
        #expect(restored.attemptCount == report.attemptCount && restored.hubTime == report.hubTime)
        #expect(restored.attempts.count == report.attempts.count)
        // The text holds all there is, so the same text again means that nothing was lost.
        #expect(Self.text(read, restored) == text)
    }

    @Test func aPersonCanReadIt() throws {
        var report = DeliveryReport()
        report.consumedAt = Timestamp(milliseconds: 1)
        var call = DeliveryReport.Call(platform: .apple)
        call.code = .hubUnavailable
        call.httpStatus = 503
        report.calls = [call]
        var attempt = DeliveryReport.Attempt(number: 1, call: 0, startedAt: Timestamp(milliseconds: 2))
        attempt.result = .error
        attempt.backoff = 30_000
        report.add(attempt)
        let history = DeliveryHistory(plan: 15, calls: [.init(due: Timestamp(milliseconds: 30_002))])
        #expect(
            String(decoding: Self.text(history, report), as: UTF8.self)
                == #"{"v":1,"plan":"000000000000000f","consumed":1,"throttled":0,"hub":0,"#
                + #""calls":[{"attempts":1,"platform":"apple","due":30002,"code":"hub_unavailable","status":503}],"#
                + #""attempts":[{"n":1,"call":0,"at":2,"took":0,"result":"error","backoff":30000}]}"#)
    }

    /// As version 1 has always had it: a worker of the first release that reads it makes the open call alone.
    @Test func itHasCallsThatAreDoneBesideThoseThatWait() throws {
        let text =
            #"{"v":1,"plan":"000000000000000f","consumed":1,"first":2,"throttled":0,"hub":7,"calls":["#
            + #"{"attempts":1,"platform":"apple","outcome":"success","status":201,"notification":"8-2"},"#
            + #"{"attempts":1,"platform":"fcmv1","due":9,"arrived":true,"code":"hub_unavailable","status":500}],"attempts":["#
            + #"{"n":1,"call":0,"at":2,"took":3,"result":"ok","status":201,"sent":true},"#
            + #"{"n":1,"call":1,"at":2,"took":4,"result":"error","status":500,"code":"hub_unavailable","sent":true,"backoff":5}]}"#
        var report = DeliveryReport()
        let history = try DeliveryHistory(Array(text.utf8).span, into: &report)
        #expect(history.calls == [.init(), .init(mayHaveArrived: true, due: Timestamp(milliseconds: 9))])
        #expect(report.calls.map(\.outcome) == [.success, nil] && report.calls.map(\.attemptCount) == [1, 1])
        #expect(String(decoding: Self.text(history, report), as: UTF8.self) == text)
    }

    @Test func aRequestThatIsNotDividedYetWaitsWithoutCalls() throws {
        var report = DeliveryReport()
        let history = try DeliveryHistory(Array("{\(Self.head)\"calls\":[],\"attempts\":[]}".utf8).span, into: &report)
        #expect(history.calls.isEmpty && history.plan == 15 && report.attemptCount == 0)
    }

    private static let waiting = #""calls":[{"attempts":0,"due":5}],"attempts":[]"#
    private static let head = #""v":1,"plan":"0f","consumed":1,"throttled":0,"hub":0,"#

    @Test(arguments: [
        "", "null", "[]", "{}", "{\(waiting)}", "{\(head)\"calls\":7,\"attempts\":[]}",
        // Attempts of no call.
        "{\(head)\"calls\":[],\"attempts\":[{\"n\":1,\"call\":0,\"at\":0,\"took\":0,\"result\":\"ok\"}]}",
        // Another version, no plan, a plan that is no number.
        "{\"v\":2,\"plan\":\"0f\",\"consumed\":1,\"throttled\":0,\"hub\":0,\(waiting)}",
        "{\"v\":1,\"consumed\":1,\"throttled\":0,\"hub\":0,\(waiting)}",
        "{\"v\":1,\"plan\":\"x\",\"consumed\":1,\"throttled\":0,\"hub\":0,\(waiting)}",
        "{\"v\":1,\"plan\":\"0f\",\"consumed\":1,\"throttled\":-1,\"hub\":0,\(waiting)}",
        // A call that neither waits nor is done, one that is both, one without a number of attempts, none that waits.
        "{\(head)\"calls\":[{\"attempts\":0}],\"attempts\":[]}",
        "{\(head)\"calls\":[{\"attempts\":0,\"due\":5,\"outcome\":\"success\"}],\"attempts\":[]}",
        "{\(head)\"calls\":[{\"due\":5}],\"attempts\":[]}",
        "{\(head)\"calls\":[{\"attempts\":1,\"outcome\":\"success\"}],\"attempts\":[]}",
        // Words that nobody knows, attempts of calls that are not there.
        "{\(head)\"calls\":[{\"attempts\":0,\"due\":5,\"code\":\"unheard_of\"}],\"attempts\":[]}",
        "{\(head)\"calls\":[{\"attempts\":1,\"due\":5}],\"attempts\":[{\"n\":1,\"call\":1,\"at\":0,\"took\":0,\"result\":\"ok\"}]}",
        "{\(head)\"calls\":[{\"attempts\":1,\"due\":5}],\"attempts\":[{\"n\":1,\"call\":0,\"at\":0,\"took\":0,\"result\":\"odd\"}]}",
    ])
    func whatWasNotWrittenHereIsRefused(_ text: String) {
        var report = DeliveryReport()
        #expect(throws: DeliveryHistory.Malformed()) { try DeliveryHistory(Array(text.utf8).span, into: &report) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func noChangeOfAByteDoesHarm(_ seed: UInt64) throws {
        var random = SeededRandom(seed)
        let (history, report) = Self.random(&random)
        let text = Self.text(history, report)
        try #require(!text.isEmpty)
        for _ in 0..<200 {
            var changed = text
            for _ in 0...random.below(3) { changed[random.below(changed.count)] = UInt8(random.below(256)) }
            if random.below(4) == 0 { changed.removeLast(random.below(changed.count)) }
            var restored = DeliveryReport()
            guard let read = try? DeliveryHistory(changed.span, into: &restored) else { continue }
            #expect(read.calls.count == restored.calls.count && read.calls.contains { $0.due != nil })
            #expect(restored.attempts.allSatisfy { restored.calls.indices.contains($0.call) })
        }
    }
}
