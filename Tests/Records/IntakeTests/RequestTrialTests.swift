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

    /// `expires_at` and `not_before` of a request, and where its faults are.
    @Test(
        arguments: [
            (#""expires_at":"2026-11-21T11:59:59Z""#, ["/expires_at"]),
            (#""expires_at":"2026-11-21T11:59:59Z","not_before":"2026-11-21T13:00:00Z""#, ["/expires_at"]),
            (#""expires_at":"2026-11-21T11:59:59Z","not_before":"tomorrow""#, ["/not_before", "/expires_at"]),
            (#""expires_at":"2026-11-21T11:59:59Z","priority":"urgent""#, ["/priority", "/expires_at"]),
            (#""expires_at":"2026-11-21T12:00:01Z","not_before":"2026-11-21T13:00:00Z""#, ["/not_before"]),
            (#""created_at":"2026-11-21T11:00:00Z","ttl_seconds":60"#, ["/ttl_seconds"]),
            (#""expires_at":"2026-11-21T11:59:59Z","ttl_seconds":60"#, ["/ttl_seconds", "/expires_at"]),
            (#""expires_at":"2026-11-21T12:00:01Z""#, []),
        ] as [(String, [String])], [false, true])
    func aRequestThatHasExpiredSaysWhichFieldSaysSo(times: (String, [String]), isEvent: Bool) {
        let request = #"{\#(Self.users),"message":{"title":"x"},\#(times.0)}"#
        let json = isEvent ? #"{"specversion":"1.0","id":"e","source":"/s","type":"t","data":\#(request)}"# : request
        var read = PushRequest()
        var trial = RequestTrial()
        let faults: [RequestFault]
        switch StrictReader().read(Array(json.utf8), now: now, into: &read).what {
        case .rejected(let found): faults = found
        case .request: faults = trial.findings(in: read, now: now).filter { !$0.isBySettings }.map(\.fault)
        case .unreadable: return #expect(Bool(false), "\(json)")
        }
        #expect(faults.map(\.pointer) == times.1.map { (isEvent ? "/data" : "") + $0 }, "\(faults)")
    }

    @Test func theEventsOwnExpiryIsNamed() {
        let json = #"""
            {"specversion":"1.0","id":"e","source":"/s","type":"t","expirytime":"2026-11-21T11:00:00Z",
             "data":{\#(Self.users),"message":{"title":"x"}}}
            """#
        var (request, trial) = (PushRequest(), RequestTrial())
        _ = StrictReader().read(Array(json.utf8), now: now, into: &request)
        #expect(trial.findings(in: request, now: now).map(\.fault.pointer) == ["/expirytime"])
    }

    @Test func whatIsTooLargeNamesThePlatformsInUseOrThoseOfTheRequest() throws {
        var trial = RequestTrial(inUse: [PlatformSet(.apple), PlatformSet(.windows)])
        func platforms(_ members: String) throws -> [String] {
            let faults = trial.findings(in: try read("{\(Self.users),\(members)\(Self.data(2000))}"), now: now).map(
                \.fault.message)
            return Platform.allCases.map { "\($0.name)" }.filter { name in faults.contains { $0.contains("for \(name) ") } }
        }
        #expect(try platforms("") == ["apple", "windows"])
        #expect(try platforms(#""platforms":["gcm"],"#) == ["gcm"])
    }

    @Test func aFaultOfTheAudienceHidesNoneOfTheContent() throws {
        var trial = RequestTrial()
        let audience = #""audience":{"tag_expression":"a && b && c && d && e && f && g"}"#
        let pointers = trial.findings(in: try read("{\(audience),\(Self.data(2000))}"), now: now).map(\.fault.pointer)
        #expect(pointers.first == "/audience/tag_expression" && pointers.count > 1, "\(pointers)")
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
