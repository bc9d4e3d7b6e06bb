import Foundation
import PushModel
import Testing

struct ResultWriterTests {
    /// The contract's example: one platform sent, one throttled to the end.
    @Test func oneSentAndOneThrottledIsTheContractsExample() throws {
        var reporting = Reporting()
        reporting.add(.apple, .success, status: 201)
        reporting.add(.fcmv1, .throttled, .hubThrottled, status: 429, detail: "The hub answered 429 four times")
        reporting.report.calls[0].notificationID = reporting.keep("8d6f")
        reporting.report.calls[0].trackingID = reporting.keep("a1b2")
        reporting.report.calls[0].payloadByteCount = 412
        reporting.report.calls[1].payloadByteCount = 398
        reporting.report.calls[1].retryAfter = 10_000
        reporting.report.throttleWait = 90_000
        let start = try #require(moment("2026-11-20T12:00:00.120Z"))
        reporting.report.firstAttemptAt = start
        var first = DeliveryReport.Attempt(number: 1, call: 0, startedAt: start)
        (first.duration, first.result, first.httpStatus, first.bytesSent) = (48, .ok, 201, true)
        reporting.report.add(first)
        for number in 1...3 {
            var attempt = DeliveryReport.Attempt(number: number, call: 1, startedAt: start)
            (attempt.duration, attempt.result, attempt.httpStatus, attempt.bytesSent) = (31, .error, 429, true)
            (attempt.code, attempt.backoff) = (.hubThrottled, number < 3 ? 10_000 : nil)
            reporting.report.add(attempt)
        }
        let expected = """
            {"schema_version":1,"result_id":"final.\(topicHash).7.181920.1795175999900","request_id":"r-1","source":"/orders",\
            "hub":"prod-shop","kind":"final","state":"partial","outcome":"throttled","hub_state":"Enqueued",\
            "replay_safety":"safe","error":{"code":"hub_throttled","message":"The hub answered 429 four times",\
            "retryable":true,"http_status":429,"retry_after_ms":10000},"attempt_count":3,"sends":[\
            {"index":0,"platform":"apple","outcome":"success","notification_id":"8d6f","tracking_id":"a1b2",\
            "http_status":201,"payload_bytes":412},{"index":1,"platform":"fcmv1","outcome":"throttled","http_status":429,\
            "error_code":"hub_throttled","payload_bytes":398}],"attempts":[{"n":1,"send":0,\
            "started_at":"2026-11-20T12:00:00.120Z","duration_ms":48,"result":"ok","http_status":201,"bytes_sent":true},\
            \(throttled(1, backoff: 10_000)),\(throttled(2, backoff: 10_000)),\(throttled(3, backoff: nil))],\
            "targets":{"planned":2,"accepted":1,"failed":1,"ambiguous":0},"timings":{\
            "published_at":"2026-11-20T11:59:59.900Z","consumed_at":"2026-11-20T12:00:00.100Z",\
            "first_attempt_at":"2026-11-20T12:00:00.120Z","finished_at":"2026-11-20T12:01:31.000Z","queue_ms":200,\
            "throttle_wait_ms":90000,"hub_ms":141,"total_ms":91100},"origin":{"topic":"push.requests.v1","partition":7,\
            "offset":"181920"},"labels":{"campaign":"mlb"},"worker":{"id":"w-3","version":"0.1.0"},\
            "at":"2026-11-20T12:01:31.000Z"}
            """
        #expect(String(decoding: reporting.bytes(), as: UTF8.self) == expected)
        _ = try reporting.result()
    }

    private func throttled(_ number: Int, backoff: Int?) -> String {
        """
        {"n":\(number),"send":1,"started_at":"2026-11-20T12:00:00.120Z","duration_ms":31,"result":"error",\
        "http_status":429,"error_code":"hub_throttled",\(backoff.map { "\"backoff_ms\":\($0)," } ?? "")"bytes_sent":true}
        """
    }

    /// FNV-1a of `push.requests.v1`, reckoned by hand here.
    private var topicHash: String {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in "push.requests.v1".utf8 {
            hash ^= UInt64(byte)
            hash = hash &* 1_099_511_628_211
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    @Test func theDetailAskedForDecidesHowMuchIsTold() throws {
        for (detail, hasSends, hasAttempts) in [("none", false, false), ("summary", true, false), ("attempts", true, true)] {
            var reporting = Reporting(record(#""options":{"result_detail":"\#(detail)"}"#))
            reporting.add(.apple, .success, status: 201)
            reporting.report.add(DeliveryReport.Attempt(number: 1, call: 0, startedAt: reporting.now))
            let result = try reporting.result()
            #expect((result["sends"] != nil) == hasSends)
            #expect((result["attempts"] != nil) == hasAttempts)
            #expect(number("targets/accepted", in: result) == 1)
        }
    }

    @Test(
        arguments: [
            (true, [.success], true), (true, [.success, .throttled], true), (true, [.throttled], nil), (false, [.success], nil),
        ]
            as [(Bool, [Outcome], Bool?)])
    func aResultSaysIfOutcomesFollow(isFollowed: Bool, outcomes: [Outcome], member: Bool?) throws {
        var reporting = Reporting()
        for outcome in outcomes { reporting.add(.apple, outcome, outcome == .success ? nil : .hubThrottled) }
        reporting.report.note(isFollowed: isFollowed)
        #expect(try reporting.result()["followed"] as? Bool == member)
        reporting.report.removeAll()
        #expect(!reporting.report.isFollowed, "a report is used again")
    }

    @Test func labelsAndReplayAreCopiedAsTheyStood() throws {
        let labels = "{ \"b\" : \"\\u00e9\\/\" ,\n\t\"a\":\"\" }"
        let replay =
            #"{"root_request_id":"r-0", "parent_request_id":"r-1","job_id":"j-1","generation":2, "reason":"hub \"down\""}"#
        var reporting = Reporting(record("\"labels\":\(labels),\"replay\":\(replay)"))
        #expect(reporting.report.faults.isEmpty)
        reporting.add(.apple, .success)
        let text = String(decoding: reporting.bytes(), as: UTF8.self)
        #expect(text.contains(",\"labels\":\(labels),"))
        #expect(text.contains(",\"replay\":\(replay),"))
        _ = try reporting.result()
    }

    @Test func idsStayShortForTheLongestTopicAndDifferWithIt() throws {
        var ids: Set<String> = []
        for topic in [String(repeating: "t", count: 249), String(repeating: "t", count: 248) + "u", "t"] {
            for (partition, offset) in [(0, 0), (Int32.max, .max), (0, 1), (1, 0), (11, 1), (1, 11)] as [(Int32, Int64)] {
                var reporting = Reporting(record())
                reporting.reading.origin.topic = topic
                reporting.reading.origin.partition = partition
                reporting.reading.origin.offset = offset
                _ = reporting.reading.read(record())
                reporting.add(nil, .success)
                let result = try reporting.result()
                let id = try #require(text("result_id", in: result))
                #expect(ids.insert(id).inserted)
                #expect(text("result_id", in: try reporting.result()) == id)
                #expect(text("request_id", in: result)?.hasSuffix(":\(partition):\(offset)") == true)
            }
        }
        #expect(ids.count == 18)
    }

    /// A topic may be made again, so that one place holds several requests one after another.
    @Test func aResultsIDIsThatOfItsRecordAndNotOfItsPlace() throws {
        func id(_ time: Int64, isDated: Bool = true) throws -> String? {
            var reporting = Reporting()
            reporting.reading.origin.timestamp = Timestamp(milliseconds: time)
            reporting.reading.origin.isDated = isDated
            reporting.add(.apple, .success)
            return text("result_id", in: try reporting.result())
        }
        #expect(try id(1_795_176_000_000) == "final.\(topicHash).7.181920.1795176000000")
        #expect(try id(1_795_176_000_001) == "final.\(topicHash).7.181920.1795176000001")
        // The moment of its reading tells nothing: it is another one when it is read again.
        #expect(try id(1_795_176_000_000, isDated: false) == "final.\(topicHash).7.181920")
    }

    /// Clocks of publishers, brokers and workers differ, and a record's timestamp is whatever its publisher wrote.
    @Test(arguments: [.min, .min + 1, -1, 0, 1_795_176_000_000, 1_895_176_000_000, .max] as [Int64])
    func waitsAreNeverNegativeWhateverTheClocksSay(timestamp: Int64) throws {
        var reporting = Reporting()
        reporting.reading.origin.timestamp = Timestamp(milliseconds: timestamp)
        reporting.add(.apple, .throttled, .hubThrottled, status: 429)
        reporting.report.calls[0].retryAfter = -5
        var attempt = DeliveryReport.Attempt(number: 1, call: 0, startedAt: Timestamp(milliseconds: timestamp))
        (attempt.duration, attempt.backoff) = (-3, -7)
        reporting.report.add(attempt)
        reporting.report.throttleWait = -9
        let result = try reporting.result()
        #expect(number("timings/hub_ms", in: result) == 0)
        #expect(
            number("timings/queue_ms", in: result) == (timestamp < 1_795_176_000_000 ? nil : 0) || timestamp < 1_795_176_000_100)
        #expect(try #require(number("timings/total_ms", in: result)) >= 0)
    }

    /// Three calls that each went through at once are not three attempts, and `max_attempts` bounds what the result counts.
    @Test(arguments: [([1, 1, 1], 1, 3), ([1, 4, 2], 4, 7), ([], 0, 0)])
    func aResultCountsTheAttemptsOfTheCallThatHadMost(attempts: [Int], most: Int, total: Int) throws {
        var reporting = Reporting()
        for (call, count) in attempts.enumerated() {
            reporting.add(.apple, .success, status: 201)
            for number in 0..<count {
                reporting.report.add(DeliveryReport.Attempt(number: number + 1, call: call, startedAt: reporting.now))
            }
        }
        #expect(number("attempt_count", in: try reporting.result()) == most)
        #expect(reporting.report.attemptCount == most && reporting.report.attemptTotal == total)
    }

    @Test func attemptsAndSendsStopAtTheContractsLimitsAndAreCountedBeyond() throws {
        var reporting = Reporting()
        for _ in 0..<230 { reporting.add(.apple, .transient, .hubUnavailable, status: 503) }
        for number in 1...20 {
            for call in 0..<5 {
                reporting.report.add(DeliveryReport.Attempt(number: number, call: call, startedAt: reporting.now))
            }
        }
        let result = try reporting.result()
        #expect((result["attempts"] as? [Any])?.count == DeliveryReport.maximumAttempts)
        #expect((result["sends"] as? [Any])?.count == 200)
        #expect(number("attempt_count", in: result) == 20)
        #expect(number("targets/planned", in: result) == 230)
    }

    @Test func aTemplateCallHasTheFormatsName() throws {
        var reporting = Reporting(record(#""template":{"a":"b"}"#))
        reporting.add(nil, .success, status: 201)
        #expect(text("sends/0/platform", in: try reporting.result()) == "template")
    }

    @Test func theRequestsOwnHubTenantAndSourceAreNamed() throws {
        var reporting = Reporting(record(#""hub":"eu-shop","tenant":"acme","source":"/o\"\n\u0001é""#))
        #expect(reporting.report.faults.isEmpty)
        reporting.add(.apple, .success)
        let result = try reporting.result()
        #expect(text("hub", in: result) == "eu-shop")
        #expect(text("tenant", in: result) == "acme")
        #expect(text("source", in: result) == "/o\"\n\u{1}é")
    }

    @Test func aWorkersLongNameIsCut() throws {
        var reporting = Reporting()
        reporting.writer = ResultWriter(
            workerID: String(repeating: "ä", count: 200), version: String(repeating: "1", count: 40))
        reporting.add(.apple, .success)
        #expect(text("worker/id", in: try reporting.result()) == String(repeating: "ä", count: 128))
    }

    @Test(arguments: 0..<40)
    func randomReportsFollowTheContract(seed: UInt64) throws {
        var random = SeededRandom(seed)
        for _ in 0..<10 {
            var reporting = Reporting()
            for _ in 0...random.below(4) {
                let outcome = Outcome.allCases[random.below(Outcome.allCases.count)]
                let code = outcome == .success ? nil : ErrorCode.allCases[random.below(ErrorCode.allCases.count)]
                let detail = mutated(Array("The hub said „no“ 😀 <Detail>".utf8), using: &random)
                reporting.add(
                    Platform.allCases.randomElement(using: &random), outcome, code, status: [0, 201, 429][random.below(3)])
                reporting.report.calls[reporting.report.calls.count - 1].detail = reporting.report.keep(
                    detail.span, limit: random.below(60))
            }
            _ = try reporting.result()
        }
    }
}
