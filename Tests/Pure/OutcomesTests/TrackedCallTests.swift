import PushModel
import TestSupport
import Testing

@testable import Outcomes

/// The record of a call whose outcome is followed, and the result that it ends with.
struct TrackedCallTests {
    private static let origin = RecordOrigin(
        topic: "push.requests.v1", partition: 7, offset: 181_920, timestamp: Timestamp(milliseconds: 1_700_000_000_000))

    /// The first record of the second of two calls.
    private func first(_ more: String = "", id: String? = "8d6f") throws -> [UInt8] {
        let json = #"{"id":"r-1","audience":{"users":["a"]},"platforms":["apple","fcmv1"],"message":{"title":"T"}\#(more)}"#
        var request = PushRequest()
        let bytes = Array(json.utf8)
        guard
            case .request = RequestReader(.tolerant, from: .own).read(
                bytes.span, headers: RecordHeaders(), origin: Self.origin, into: &request)
        else { throw TrackedCall.Malformed() }
        var report = DeliveryReport()
        report.calls = [DeliveryReport.Call(platform: .apple), DeliveryReport.Call(platform: .fcmv1)]
        report.calls[1].attemptCount = 2
        let text = Array((id ?? "").utf8)
        report.calls[1].notificationID = report.keep(text.span)
        var writer = ByteWriter()
        TrackedCall.append(
            1, of: report, for: request, origin: Self.origin, hub: "shop", at: Timestamp(milliseconds: 1_700_000_005_000),
            to: &writer)
        return writer.bytes
    }

    private func result(_ outcome: CallOutcome, _ call: TrackedCall) -> [UInt8] {
        var writer = OutcomeResultWriter(workerID: "w-3", version: "0.1.0")
        var json = ByteWriter()
        let written = writer.append(outcome, of: call, at: Timestamp(milliseconds: 1_700_000_020_000), to: &json)
        #expect(part(written.resultID, of: json.bytes).elementsEqual(call.resultID.indices.map { call.resultID[$0] }))
        #expect(String(decoding: part(written.finishedAt, of: json.bytes), as: UTF8.self) == "2023-11-14T22:13:40.000Z")
        return json.bytes
    }

    @Test func whatIsKnownOfACallOutlivesItsRecords() throws {
        let bytes = try first(#","source":"/orders","labels":{"campaign":"mlb"}"#)
        var call = try TrackedCall(bytes.span)
        #expect(call.tracking == OutcomeTracking(acceptedAt: 1_700_000_005_000))
        #expect(call.index == 1 && call.plannedCount == 2 && call.attemptCount == 2 && call.requestText == "r-1")
        let told = NotificationTelemetry(
            state: .other("Frozen"),
            counts: [
                .init(platform: "fcmv1", outcome: .known(.success), count: 3),
                .init(platform: "gcm", outcome: .other("Melted"), count: 0),
            ])
        var random = SeededRandom(1)
        _ = call.tracking.answered(.telemetry(told), under: OutcomeTracking.Terms(), at: 1_700_000_015_000, using: &random)
        _ = call.tracking.answered(.failed, under: OutcomeTracking.Terms(), at: 1_700_000_025_000, using: &random)
        var next = ByteWriter()
        call.append(to: &next)
        let again = try TrackedCall(next.span)
        #expect(again.tracking == call.tracking && again.tracking.pollCount == 2 && again.tracking.telemetry == told)
        #expect(result(.unavailable, again) == result(.unavailable, call))
        var third = ByteWriter()
        again.append(to: &third)
        #expect(third == next)
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func anAbsurdMomentIsClampedAndGivesAResult(_ number: Int64) throws {
        let text = String(decoding: try first(), as: UTF8.self)
            .replacing("\"published\":1700000000000", with: "\"published\":\(number)")
            .replacing("\"accepted\":1700000005000", with: "\"accepted\":\(number)")
        let call = try TrackedCall(Array(text.utf8).span)
        let moment = Timestamp(milliseconds: number)
        #expect(call.publishedAt == moment && call.tracking.acceptedAt == moment)
        #expect(!result(.unavailable, call).isEmpty)
    }

    @Test func aResultFollowsItsSchemaAndSaysWhatTheRequestSaid() throws {
        let replay = #"{"root_request_id":"r-0","parent_request_id":"r-0","generation":1,"job_id":"j"}"#
        let bytes = try first(#","source":"/o\"rders","tenant":"acme","labels":{"campaign":"m\nlb"},"replay":\#(replay)"#)
        let call = try TrackedCall(bytes.span)
        let told = NotificationTelemetry(
            state: .completed,
            counts: [
                .init(platform: "fcmv1", outcome: .known(.success), count: .max),
                .init(platform: "gcm", outcome: .known(.success), count: 1),
                .init(platform: "gcm", outcome: .known(.wrongToken), count: 2),
                .init(platform: "gcm", outcome: .known(.wrongToken), count: 2),
            ])
        let verdict = try #require(OutcomeVerdict(final: told))
        let text = result(CallOutcome(verdict, telemetry: told), call)
        #expect(ResultSchema.violations(of: text).isEmpty)
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"schema_version":1,"result_id":"outcome.\#(hash).7.181920.1700000000000.1","request_id":"r-1","source":"/o\"rders","tenant":"acme","#
                + #""hub":"shop","kind":"outcome","state":"partial","outcome":"permanent","hub_state":"Completed","#
                + #""replay_safety":"duplicate_risk","error":{"code":"devices_refused","#
                + #""message":"The push services refused the notification for some of the devices, or for all.","retryable":false},"#
                + #""attempt_count":2,"sends":[{"index":1,"platform":"fcmv1","outcome":"permanent","notification_id":"8d6f","#
                + #""error_code":"devices_refused","pns_outcomes":{"Success":9223372036854775807,"WrongToken":4}}],"#
                + #""devices":{"fcmv1":{"Success":9223372036854775807},"gcm":{"Success":1,"WrongToken":4}},"#
                + #""targets":{"planned":2},"timings":{"published_at":"2023-11-14T22:13:20.000Z","#
                + #""finished_at":"2023-11-14T22:13:40.000Z","total_ms":20000},"#
                + #""origin":{"topic":"push.requests.v1","partition":7,"offset":"181920"},"replay":\#(replay),"#
                + #""labels":{"campaign":"m\nlb"},"worker":{"id":"w-3","version":"0.1.0"},"at":"2023-11-14T22:13:40.000Z"}"#)
    }

    private var hash: String {
        var text = ByteWriter()
        text.append(hexadecimal: RecordOrigin.hash(of: Self.origin.topic))
        return text.text
    }

    @Test func everyVerdictGivesAResultThatFollowsTheSchema() throws {
        let bytes = try first()
        let call = try TrackedCall(bytes.span)
        #expect(ResultSchema.violations(of: result(.unavailable, call)).isEmpty)
        for state in NotificationState.documented + [.other("Frozen")] {
            for name in PNSOutcome.Name.allCases {
                let told = telemetry(state, [name.rawValue: 1])
                let verdict = OutcomeVerdict(final: told) ?? OutcomeVerdict(late: told, wasAnswered: true)
                #expect(ResultSchema.violations(of: result(CallOutcome(verdict, telemetry: told), call)).isEmpty)
            }
        }
        let unnamed = try first(id: nil)
        let nameless = try TrackedCall(unnamed.span)
        #expect(nameless.notificationID.isEmpty && ResultSchema.violations(of: result(.unavailable, nameless)).isEmpty)
    }

    @Test(arguments: OutcomeVerdict.Cause.allCases) func everyFailureHasACodeWithAPage(_ cause: OutcomeVerdict.Cause) {
        guard let code = cause.code else {
            #expect(cause == .delivered)
            return
        }
        #expect(!code.explanation.cause.isEmpty && !code.explanation.effect.isEmpty && !code.explanation.remedy.isEmpty)
    }

    /// A record of a lane can hold anything.
    @Test func aChangedTextIsReadOrRefusedAndNothingElse() throws {
        var random = SeededRandom(7)
        let bytes = try first(#","labels":{"campaign":"mlb"}"#)
        try #require(bytes.count > 4)
        var refused = 0
        for _ in 0..<4000 {
            var changed = bytes
            for _ in 0...random.below(3) {
                let place = random.below(changed.count)
                switch random.below(3) {
                case 0: changed[place] = UInt8(random.below(256))
                case 1: changed.remove(at: place)
                default: changed.insert(contentsOf: #"{}[]",:0"#.utf8.shuffled(using: &random).prefix(1), at: place)
                }
            }
            guard let call = try? TrackedCall(changed.span) else {
                refused += 1
                continue
            }
            // Whatever was read can be written: JSON, however odd its words are.
            var document = JSONDocument()
            let text = result(.unavailable, call)
            try document.read(text.span)
            var (next, again) = (ByteWriter(), ByteWriter())
            call.append(to: &next)
            try TrackedCall(next.span).append(to: &again)
            #expect(again.text == next.text)
        }
        #expect(refused > 1000 && refused < 4000)
    }

    @Test func aRecordIsBoundedAndOfOneVersion() throws {
        let bytes = try first()
        let text = String(decoding: bytes, as: UTF8.self)
        for wrong in [
            text.replacingOccurrences(of: #""v":1"#, with: #""v":2"#),
            String(repeating: " ", count: TrackedCall.maximumByteCount) + text,
            text.replacingOccurrences(of: #""polls":0"#, with: #""polls":-1"#),
            text.replacingOccurrences(
                of: #""polls":0"#, with: #""polls":0,"state":"Processing","counts":[["apple","Success",-1]]"#),
            text.replacingOccurrences(of: #""head":{"#, with: #""head":[{"#), "",
        ] {
            let bytes = Array(wrong.utf8)
            #expect(throws: TrackedCall.Malformed.self) { _ = try TrackedCall(bytes.span) }
        }
    }
}

extension String {
    fileprivate func replacingOccurrences(of part: String, with other: String) -> String { replacing(part, with: other) }
}
