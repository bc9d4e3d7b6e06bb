@testable import Gateway
@testable import PublishAPI
@testable import GatewayAPI
import HTTPServing
import Kafka
import PushModel
import Synchronization
import TestSupport
import Testing

/// What a body holds as a batch, and the answer that the verdicts on its requests make; without HTTP and Kafka.
@Suite struct BatchTests {
    private func problem(_ body: String, _ form: BatchForm) -> APIProblem? {
        do throws(APIProblem) {
            _ = try Batch(Array(body.utf8), form: form)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Bodies

    @Test(
        arguments: [
            (.publish, "application/json", .single(.request)),
            (.publish, "application/cloudevents+json", .single(.structuredEvent)),
            (.publish, "application/cloudevents-batch+json; charset=utf-8", .batch(.events)),
            (.publish, "application/x-ndjson", nil), (.publishBatch, "Application/JSON", .batch(.list)),
            (.publishBatch, "application/x-ndjson", .batch(.lines)), (.publishBatch, "application/cloudevents+json", nil),
            (.publishBatch, nil, nil), (.explain, "application/json;charset=utf-8", .trial(.request)),
            (.explain, "application/cloudevents-batch+json", nil),
        ] as [(APIOperation.Publish, String?, PublishKind?)])
    func routeAndMediaTypeSayWhatIsAskedFor(operation: APIOperation.Publish, type: String?, kind: PublishKind?) {
        var headers = HTTPFields()
        if let type { headers.append("Content-Type", value: type) }
        #expect(PublishKind(operation, headers: headers) == kind)
    }

    @Test(
        arguments: [
            (
                #"{"requests":[{"a":1}, {"b":"\n"} ,7,null,"{\"c\":1}"]}"#, .list,
                [#"{"a":1}"#, #"{"b":"\n"}"#, "7", "null", #""{\"c\":1}""#]
            ),
            // Half a surrogate pair is for the reader of its item to find.
            (#"{"requests":[{"a":"\ud83d"},{"b":2}]}"#, .list, [#"{"a":"\ud83d"}"#, #"{"b":2}"#]),
            (#"[{"a":1},{"b":2}]"#, .events, [#"{"a":1}"#, #"{"b":2}"#]),
            ("{\"a\":1}\n{\"b\":2}\n", .lines, [#"{"a":1}"#, #"{"b":2}"#]),
            ("{\"a\":1}\r\n\r\n \nno JSON", .lines, ["{\"a\":1}\r", "no JSON"]), ("{}", .lines, ["{}"]),
        ] as [(String, BatchForm, [String])])
    func theRequestsAreInTheirOrder(body: String, form: BatchForm, items: [String]) throws {
        #expect(try Batch(Array(body.utf8), form: form).items.map { String(decoding: $0, as: UTF8.self) } == items)
    }

    @Test func aLineKeepsItsNumberInTheBody() throws {
        #expect(try Batch(Array("\n{}\r\n \n{\n\n7".utf8), form: .lines).lines == [2, 4, 6])
        #expect(try Batch(Array("[{},\n{}]".utf8), form: .events).lines.isEmpty)
    }

    @Test(
        arguments: [
            ("", .list, 400, "not_json", []), ("{\"requests\":[", .list, 400, "not_json", []),
            ("{}{}", .list, 400, "not_json", []),
            ("[{}]", .list, 422, "invalid_request", ["/requests"]), ("{}", .list, 422, "invalid_request", ["/requests"]),
            (#"{"requests":{}}"#, .list, 422, "invalid_request", ["/requests"]),
            (#"{"requests":null}"#, .list, 422, "invalid_request", ["/requests"]),
            (#"{"requests":[]}"#, .list, 422, "invalid_request", ["/requests"]),
            (#"{"requests":[{}],"atomic":true,"requests":[]}"#, .list, 422, "invalid_request", ["/atomic", "/requests"]),
            ("{}", .events, 422, "invalid_request", [""]), ("[]", .events, 422, "invalid_request", [""]),
            ("", .lines, 422, "invalid_request", [""]), ("\n \r\n", .lines, 422, "invalid_request", [""]),
        ] as [(String, BatchForm, Int, String, [String])])
    func faultsOfTheBatchAreNamed(body: String, form: BatchForm, status: Int, code: String, pointers: [String]) {
        let problem = problem(body, form)
        #expect(problem?.status == status && problem?.code == code, "\(String(describing: problem))")
        #expect(problem?.faults.map(\.pointer) == pointers && problem?.retry == .never)
    }

    @Test(arguments: [.list, .events, .lines] as [BatchForm]) func aThousandAreAllowedAndNoMore(form: BatchForm) throws {
        func body(_ count: Int) -> String {
            let items = Array(repeating: "{}", count: count)
            switch form {
            case .list: return "{\"requests\":[\(items.joined(separator: ","))]}"
            case .events: return "[\(items.joined(separator: ","))]"
            case .lines: return items.joined(separator: "\n") + "\n\n"
            }
        }
        #expect(try Batch(Array(body(1000).utf8), form: form).items.count == 1000)
        let problem = problem(body(1001), form)
        #expect(problem?.status == 422 && problem?.faults.map(\.message) == ["A batch has at most 1000 requests."])
    }

    @Test func moreThanFourMebibytesAre413() {
        let problem = problem(String(repeating: " ", count: 4 << 20 + 1), .lines)
        #expect(problem?.status == 413 && problem?.detail.contains("4194304") == true)
    }

    // MARK: Verdicts

    private static func written(_ id: String, offset: Int64? = 5) -> PublishOutcome {
        let moment = Timestamp(milliseconds: 0)
        return .written(
            WrittenRequest(id: id, topic: "t", partition: 3, offset: offset, acceptedAt: moment, expiresAt: nil))
    }

    private static let invalid = PublishOutcome.refused(.refused([RequestFault(.schemaInvalid, at: "/a", message: "A fault.")]))
    private static let notJSON = PublishOutcome.refused(.unreadable(.noValue, in: []))
    private static let forbidden = PublishOutcome.refused(.forbiddenTenant)
    private static let tooLarge = PublishOutcome.refused(.bodyTooLarge)
    private static let away = PublishOutcome.refused(.notTaken(.unknownTopic("t"), in: "t", retryAfter: 2000))
    private static let slow = PublishOutcome.refused(.notTaken(.queueFull, in: "t", retryAfter: 4000))
    private static let unknown = PublishOutcome.refused(.ackUnknown("r-1"))

    private func verdicts(_ outcomes: [PublishOutcome]) -> BatchVerdicts {
        var verdicts = BatchVerdicts(count: outcomes.count)
        // The last one first, because acknowledgements come in any order.
        for (index, outcome) in outcomes.enumerated().reversed() {
            #expect(!verdicts.isComplete)
            verdicts.note(outcome, at: index)
        }
        #expect(verdicts.isComplete)
        return verdicts
    }

    @Test(
        arguments: [
            ([written("a")], 202, nil, nil, true), ([written("a"), invalid, notJSON], 202, nil, nil, true),
            ([written("a"), away], 202, nil, nil, false), ([unknown, written("a")], 202, nil, nil, false),
            ([written("a"), forbidden], 202, nil, nil, false), ([invalid, invalid], 422, "invalid_request", nil, true),
            ([notJSON], 400, "not_json", nil, true), ([notJSON, invalid], 422, "invalid_request", nil, true),
            ([invalid, tooLarge], 413, "body_too_large", nil, true), ([invalid, forbidden], 403, "forbidden_tenant", nil, false),
            ([away, forbidden, invalid, slow], 503, "broker_slow", "4", false),
            ([away, unknown, invalid], 504, "ack_unknown", "2", false),
        ] as [([PublishOutcome], Int, String?, String?, Bool)])
    func aBatchHasTheStatusOfWhatIsWrittenOrOfItsWorst(
        outcomes: [PublishOutcome], status: Int, code: String?, wait: String?, isCertain: Bool
    ) throws {
        let verdicts = verdicts(outcomes)
        let answer = verdicts.answer
        #expect(answer.status == status && answer.code == code && answer.headers["Retry-After"] == wait)
        #expect(verdicts.isCertain == isCertain)
        #expect(
            answer.headers["Content-Type"]?.hasPrefix(status == 202 ? "application/json" : "application/problem+json") == true)
        let accepted = outcomes.count { if case .written = $0 { true } else { false } }
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(
            text.contains(#""accepted":\#(accepted),"refused":\#(outcomes.count - accepted),"items":[{"index":0,"status":"#),
            "\(text)")
        var document = JSONDocument()
        try document.read(answer.body.span)
        let items = try #require(document.member("items", of: document.root))
        #expect(document.childCount(of: items) == outcomes.count)
        let described = APIOperation.Publish.publishBatch.row
        if status == 202 {
            let schema = try #require(described.answers.first?.content?.schema)
            #expect(SchemaCheck.violations(of: answer.body, by: schema).isEmpty)
        } else {
            #expect(described.allProblems.contains { $0.status == status && $0.words.contains(code ?? "") })
        }
    }

    @Test func eachItemSaysWhatASingleCallWouldSay() {
        let answer = verdicts([Self.written("a"), Self.invalid, Self.written("b", offset: nil), Self.unknown]).answer
        let unknown =
            #"{"index":3,"status":504,"detail":"It is not known whether the request was written. Repeat the call with the same Idempotency-Key, or with this request_id as its id: then it is sent once at most, while the first is in reach (dedupe.reach).","code":"ack_unknown","retry":"same_key","request_id":"r-1","location":"/v1/requests/r-1"}"#
        let invalid =
            #"{"index":1,"status":422,"detail":"The request cannot be sent as it is; errors names each fault.","code":"invalid_request","retry":"never","errors":[{"pointer":"/a","code":"schema_invalid","detail":"A fault."}]}"#
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"accepted":2,"refused":2,"items":[{"index":0,"status":202,"id":"a","topic":"t","partition":3,"offset":"5","#
                + #""location":"/v1/requests/a?at=t/3/5&time=0"},"#
                + invalid
                + #",{"index":2,"status":202,"id":"b","topic":"t","partition":3,"location":"/v1/requests/b"},"# + unknown + "]}\n"
        )
    }

    /// An answer is owed beyond its client's share where something may be written.
    @Test func onlyWhatMayBeWrittenIsOwed() {
        #expect(verdicts([Self.invalid]).answer.upkeep == .counted)
        #expect(verdicts([Self.invalid, Self.written("a")]).answer.upkeep == .owed)
        #expect(verdicts([Self.invalid, Self.unknown]).answer.upkeep == .owed)
    }

    @Test func beyondHalfAMebibyteFaultsAreLeftOut() {
        let fault = RequestFault(.schemaInvalid, at: "/a", message: String(repeating: "x", count: 1_000))
        var problem = APIProblem.keyWrong
        problem.faults = Array(repeating: fault, count: 32)
        let answer = verdicts(Array(repeating: .refused(problem), count: 1_000)).answer
        #expect(answer.body.count > 512 << 10 && answer.body.count < 1 << 20)
    }

    @Test func whoBringsTheLastVerdictHandsOverAll() {
        let statuses = Mutex<[Int]>([])
        let tally = BatchTally(count: 3) { verdicts in statuses.withLock { $0.append(verdicts.answer.status) } }
        for index in [2, 0] { tally.note(Self.written("\(index)"), at: index) }
        #expect(statuses.withLock { $0.isEmpty })
        tally.note(Self.invalid, at: 1)
        #expect(statuses.withLock { $0 } == [202])
    }
}
