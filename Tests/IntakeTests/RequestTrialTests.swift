import FanOut
import Intake
import Publishing
import PushModel
import Testing

/// What every worker would refuse, whatever its settings are.
@Suite struct RequestTrialTests {
    private let now = Timestamp(milliseconds: 1_795_262_400_000)

    private static let users = #""audience":{"users":["a"]}"#

    private static func data(_ count: Int) -> String {
        let value = String(repeating: "x", count: count)
        return #""message":{"title":"t","data":{"a":"\#(value)","b":"\#(value)","c":"\#(value)"}}"#
    }

    private func read(_ json: String) throws -> PushRequest {
        var request = PushRequest()
        let reading = StrictReader().read(Array(json.utf8), now: now, into: &request)
        try #require(reading.what == .request)
        return request
    }

    @Test(
        arguments: [
            ("{\(users),\(data(2000))}", "at most 4096 are allowed"),
            ("{\(users),\"platforms\":[\"apple\"],\(data(1400))}", "at most 4096 are allowed"),
            (
                #"{"audience":{"tag_expression":"a && b && c && d && e && f && g"},"message":{"title":"x"}}"#,
                "joins 7 tags by '&&'"
            ), (#"{\#(users),"message":{"title":"x"},"expires_at":"2026-11-21T11:59:59Z"}"#, "has expired"),
            // What a push service would refuse.
            (
                #"{\#(users),"payloads":{"fcmv1":{"body":{"message":{"data":{"k":1}}}}}}"#,
                "message.data has a value that is no string"
            ),
            (
                #"{\#(users),"payloads":{"fcmv1":{"body":{"message":{"android":{"ttl":3600}}}}}}"#,
                "message.android.ttl must be a duration"
            ),
            (
                #"{\#(users),"payloads":{"apple":{"body":{"aps":{"content-available":1}},"headers":{"apns-priority":"10"}}}}"#,
                "apns-priority must not be 10"
            ),
        ])
    func whatEveryWorkerRefusesIsAFault(json: String, words: String) throws {
        var trial = RequestTrial()
        let findings = trial.findings(in: try read(json), now: now)
        #expect(!findings.isEmpty && findings.allSatisfy { !$0.isBySettings })
        #expect(findings.contains { $0.fault.message.contains(words) }, "\(findings)")
    }

    @Test(
        arguments: [
            // Another platform takes it, and a worker may be for that one alone.
            "{\(users),\(data(1400))}", #"{\#(users),"message":{"title":"x"},"hub":"nowhere"}"#,
            #"{\#(users),"message":{"title":"x"},"tenant":"t"}"#, #"{"audience":{"broadcast":true},"template":{"a":"b"}}"#,
        ])
    func whatAWorkerMaySendIsNone(json: String) throws {
        var trial = RequestTrial()
        #expect(trial.findings(in: try read(json), now: now).allSatisfy(\.isBySettings))
    }
}
