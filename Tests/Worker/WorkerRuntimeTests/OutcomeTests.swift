import Delivery
import Foundation
import HubEmulator
import HubREST
import HubServer
import Kafka
import Observability
import Outcomes
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// What becomes of calls that the hub accepted, as it tells it, on the whole way through a worker and its delay lanes.
@Suite(.serialized)
struct OutcomeTests {
    /// One call, what the hub tells of it, and the result that this comes to: state, outcome, code, replay safety, the hub's state, and counts.
    private struct Case {
        let name: String
        let script: String
        let result: String
    }

    /// The states of page HubProtocol, "States", final or not, in both spellings; the deadline is 15 s.
    private static let states = [
        Case(name: "enqueued", script: "state=Enqueued", result: "failed ambiguous telemetry_unfinished ambiguous Enqueued"),
        Case(
            name: "detailed", script: "state=DetailedStateAvailable",
            result: "failed ambiguous telemetry_unfinished ambiguous DetailedStateAvailable"),
        Case(name: "scheduled", script: "state=Scheduled", result: "failed ambiguous telemetry_unfinished ambiguous Scheduled"),
        Case(
            name: "processing", script: "state=Processing", result: "failed ambiguous telemetry_unfinished ambiguous Processing"),
        Case(
            name: "partial-counts", script: "state=Processing,apple.Success=2",
            result: "failed ambiguous telemetry_unfinished duplicate_risk Processing apple:Success=2"),
        Case(name: "abandoned", script: "state=Abandoned", result: "failed ambiguous hub_abandoned ambiguous Abandoned"),
        Case(
            name: "abandoned-some", script: "state=Abandoned,apple.Success=1,apple.AbandonedNotificationMessages=2",
            result: "failed ambiguous hub_abandoned duplicate_risk Abandoned apple:AbandonedNotificationMessages=2,Success=1"),
        Case(name: "unknown", script: "state=Unknown", result: "failed ambiguous hub_state_unknown ambiguous Unknown"),
        Case(
            name: "known-late", script: "state=Unknown/12s,state=Completed,apple.Success=1",
            result: "sent success - duplicate_risk Completed apple:Success=1"),
        Case(name: "no-target", script: "state=NoTargetFound", result: "failed no_target no_target pointless NoTargetFound"),
        Case(name: "nobody", script: "state=Processing/1s", result: "failed no_target no_target pointless NoTargetFound"),
        Case(name: "canceled", script: "state=Canceled", result: "failed cancelled hub_canceled safe Canceled"),
        Case(name: "cancelled", script: "state=Cancelled", result: "failed cancelled hub_canceled safe Canceled"),
        Case(name: "other", script: "state=Frozen", result: "failed ambiguous telemetry_unfinished ambiguous Frozen"),
        Case(
            name: "nothing", script: "state=Completed,counts=none", result: "failed ambiguous nothing_counted ambiguous Completed"
        ),
        Case(name: "hidden", script: "hidden", result: "failed ambiguous telemetry_missing ambiguous -"),
        Case(
            name: "visible-late", script: "hidden=12s,state=Completed,apple.Success=1",
            result: "sent success - duplicate_risk Completed apple:Success=1"),
        Case(
            name: "some", script: "state=Completed,apple.Success=3,apple.ExpiredChannel=1",
            result: "partial permanent devices_refused duplicate_risk Completed apple:ExpiredChannel=1,Success=3"),
        Case(
            name: "melted", script: "state=Completed,apple.Melted=2",
            result: "failed ambiguous devices_refused ambiguous Completed apple:Melted=2"),
        Case(
            name: "other-platforms", script: "state=Completed,gcm.Success=1,fcmv1.WrongToken=2",
            result: "partial permanent devices_refused duplicate_risk Completed fcmv1:WrongToken=2 gcm:Success=1"),
    ]

    /// Every outcome name of page HubProtocol, "Outcomes", alone.
    private static let names = PNSOutcome.Name.allCases.map { name in
        let outcome = PNSOutcome.known(name).outcome
        let words =
            switch name {
            case .success: "sent success - duplicate_risk"
            case .skipped: "failed ambiguous nothing_counted ambiguous"
            default: "failed \(outcome.rawValue) devices_refused \(outcome.replaySafety.rawValue)"
            }
        return Case(
            name: "alone-\(name.rawValue)", script: "state=Completed,apple.\(name.rawValue)=2",
            result: "\(words) Completed apple:\(name.rawValue)=2")
    }

    private static func request(_ name: String, _ more: String = "", platforms: String = #""apple""#) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":[\#(platforms)],"message":{"title":"T"}\#(more)}"#
    }

    private static let tracked = #","options":{"track_outcome":true}"#

    /// Outcomes are followed of all requests that do not say, for 15 s: two questions.
    private static func short(_ configuration: inout WorkerConfiguration) {
        configuration.tracksOutcomes = true
        configuration.outcomes.deadline = 15_000
        configuration.outcomes.visibilityLimit = 15_000
    }

    /// Lets the moment of the next questions come.
    private static func passInterval(_ bench: Bench) { bench.clock.advance(by: .seconds(11)) }

    private static func questions(_ bench: Bench) -> [RecordedCall] { bench.hub.calls().filter { $0.method == "GET" } }

    /// The outcome results there are, by their ids; one that breaks the result's schema, or is there twice, is a failure.
    private static func outcomes(_ bench: Bench) throws -> [String: FinalResult] {
        var found: [String: FinalResult] = [:]
        for record in try bench.readAll(bench.topics.results) {
            #expect(ResultSchema.violations(of: record.value ?? []).isEmpty)
            let result = try FinalResult(record)
            guard result["kind"] == "outcome" else { continue }
            let id: String = result["result_id"] ?? ""
            #expect(found.updateValue(result, forKey: id) == nil && record.header("ce_id") == id)
            #expect(record.key == Array(result.requestID.utf8) && record.header("ce_subject") == result.requestID)
            #expect(record.header("traceparent")?.utf8.count == 55 && record.header("ce_type") == "push.result.v1")
        }
        return found
    }

    private static func words(_ result: FinalResult) -> String {
        let paths = ["state", "outcome", "error.code", "replay_safety", "hub_state"]
        let devices: [String: [String: Int]] = result["devices"] ?? [:]
        let counts = devices.sorted { $0.key < $1.key }.map { platform, counts in
            "\(platform):" + counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        }
        return (paths.map { (result[$0] as String?) ?? "-" } + counts).joined(separator: " ")
    }

    /// One bench for all, because they take their time.
    @Test func everyStateAndOutcomeNameHasItsResult() throws {
        let cases = Self.states + Self.names
        let bench = try Bench(.quickest, partitions: 2)
        bench.hub.script(try cases.map { try TelemetryScript(parsing: "\($0.script),tags=\($0.name)") })
        let worker = try bench.startWorker(change: Self.short)
        try bench.publish(all: cases.map { Self.request($0.name) })
        try bench.results(cases.count)
        Self.passInterval(bench)
        // A question that finds no final state is put again when the deadline has come.
        let answers = { (code: String) in bench.metric("pushfan_outcome_polls_total", #"code="\#(code)""#) }
        #expect(eventually { answers("200") + answers("404") >= Double(cases.count) })
        Self.passInterval(bench)
        try bench.results(2 * cases.count)
        try worker.stop()
        let outcomes = try Self.outcomes(bench)
        #expect(outcomes.count == cases.count)
        for expected in cases {
            let found = outcomes.values.filter { $0.requestID == expected.name }
            #expect(found.map(Self.words) == [expected.result], "\(expected.name)")
            #expect(found.first?["sends.0.index"] == 0 && found.first?["sends.0.platform"] == "apple")
            let id: String? = found.first?["sends.0.notification_id"]
            #expect(id != nil && id == bench.hub.calls().first { $0.tags == expected.name }?.notificationID)
        }
        #expect(bench.metric("pushfan_outcomes_total") == Double(cases.count))
        #expect(bench.metric("pushfan_outcomes_total", #"reason="abandoned""#) == 2)
        #expect(answers("404") >= 1)
    }

    @Test func onlyWhatIsAskedForIsFollowedAndEachCallForItself() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.hub.register(
            EmulatedDevice(id: "a", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["two"]))
        try bench.hub.register(EmulatedDevice(id: "f", platform: "fcmv1", handle: "token", tags: ["two"]))
        bench.hub.script([
            try TelemetryScript(parsing: "state=Completed,fcmv1.PnsUnavailable=1,tags=two,format=fcmv1"),
            try TelemetryScript(parsing: "state=Completed,apple.Success=2,fcmv1.Success=3,tags=template"),
        ])
        bench.hub.arm([try Fault(parsing: "status=400,tags=refused")])
        let worker = try bench.startWorker()
        let labels = #","labels":{"campaign":"mlb"},"source":"/orders","tenant":"acme""#
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try bench.publish(all: [
            Self.request("untold"), Self.request("no", #","options":{"track_outcome":false}"#),
            Self.request("refused", Self.tracked),
            Self.request("dry", #","options":{"track_outcome":true,"dry_run":true}"#),
            #"{"id":"template","audience":{"categories":["template"]},"template":{"a":"b"}\#(Self.tracked)}"#,
        ])
        try bench.publish(
            Self.request("two", Self.tracked + labels, platforms: #""apple","fcmv1""#), headers: [("traceparent", trace)])
        try bench.results(6)
        Self.passInterval(bench)
        try bench.results(9)
        try worker.stop()
        let outcomes = try Self.outcomes(bench).values
        #expect(Set(outcomes.map(\.requestID)) == ["two", "template"] && outcomes.count == 3)
        let followed = try bench.readAll(bench.topics.results).map { try FinalResult($0) }.filter { $0["followed"] == true }
        #expect(followed.map(\.requestID).sorted() == ["template", "two"] && followed.allSatisfy { $0["kind"] == "final" })
        let template = try #require(outcomes.first { $0.requestID == "template" })
        #expect(Self.words(template) == "sent success - duplicate_risk Completed apple:Success=2 fcmv1:Success=3")
        #expect(template["sends.0.platform"] == "template" && template["sends.0.pns_outcomes.Success"] == 5)
        let two = outcomes.filter { $0.requestID == "two" }.sorted { ($0["sends.0.index"] ?? 0) < ($1["sends.0.index"] ?? 0) }
        #expect(
            two.map(Self.words) == [
                "sent success - duplicate_risk Completed apple:Success=1",
                "failed transient devices_refused safe Completed fcmv1:PnsUnavailable=1",
            ])
        for (index, result) in two.enumerated() {
            #expect(result["sends.0.index"] == index && result["targets.planned"] == 2)
            #expect(result["labels.campaign"] == "mlb" && result["source"] == "/orders" && result["tenant"] == "acme")
            #expect(result["hub"] == "demo" && result["origin.topic"] == bench.topics.requests && result["origin.offset"] == "5")
            #expect(result.record.header("traceparent")?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true)
            #expect(result.record.header("ce_traceparent") == trace)
        }
        let lane = try bench.readAll(bench.topics.delays[0])
        // One for each call, and more where a question was put off.
        #expect(lane.count >= 3 && lane.allSatisfy { $0.header("pushfan-poll") == "1" })
        // A small record: nothing of the message, and no handle.
        #expect(lane.allSatisfy { ($0.value?.count ?? 0) < 1024 })
    }

    @Test func aHubWithoutTelemetryEndsTheFollowingWithOneWarning() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=403,path=messages/")])
        let worker = try bench.startWorker(change: Self.short)
        try bench.publish(all: (0..<20).map { Self.request("n\($0)") })
        try bench.results(20)
        Self.passInterval(bench)
        try bench.results(40)
        // The hub is known by now: the next one's outcome comes with its result.
        try bench.publish(Self.request("late"))
        try bench.results(42)
        try worker.stop()
        let outcomes = try Self.outcomes(bench).values
        #expect(outcomes.count == 21)
        #expect(Set(outcomes.map(Self.words)) == ["unknown success telemetry_unavailable duplicate_risk -"])
        #expect(bench.logLines.all.count { $0.contains("outcomes_unavailable") } == 1)
    }

    @Test func aLowerTierGivesNoIDAndThatIsSaid() throws {
        let bench = try Bench(.quickest, partitions: 1) { $0.tier = .basic }
        let worker = try bench.startWorker(change: Self.short)
        try bench.publish(all: ["a", "b"].map { Self.request($0) })
        try bench.results(4)
        try worker.stop()
        let outcomes = try Self.outcomes(bench).values
        #expect(outcomes.map(Self.words) == Array(repeating: "unknown success telemetry_unavailable duplicate_risk -", count: 2))
        #expect(bench.logLines.all.count { $0.contains("outcomes_unavailable") } == 1)
        #expect(try bench.readAll(bench.topics.delays[0]).isEmpty)
    }

    /// A question that the hub throttles is put again when the hub says; sends go on meanwhile.
    @Test func aRetryAfterIsHonouredAndStopsNoSend() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.script([try TelemetryScript(parsing: "state=Completed,apple.Success=1")])
        bench.hub.arm([try Fault(parsing: "status=429,retry-after=290,count=1,path=messages/")])
        let worker = try bench.startWorker {
            Self.short(&$0)
            $0.outcomes.deadline = 600_000
        }
        try bench.publish(Self.request("first"))
        try bench.results(1)
        Self.passInterval(bench)
        #expect(eventually { bench.metric("pushfan_outcome_polls_total", #"code="429""#) == 1 })
        try bench.publish(Self.request("second"))
        try bench.results(2)
        // The second call's question is due long before, and waits for its turn.
        Self.passInterval(bench)
        #expect(
            eventually {
                bench.status.statuses.first?.partitions.first { $0.topic == bench.topics.delays[0] }?.oldest?.waitsFor == "turn"
                    || Self.questions(bench).count > 1
            })
        bench.clock.advance(by: .seconds(300))
        try bench.results(4)
        try worker.stop()
        #expect(try Self.outcomes(bench).values.allSatisfy { $0["state"] == "sent" })
        let answers = Self.questions(bench)
        #expect(answers.map(\.status) == [429, 200, 200])
        let throttledAt = try #require(answers.first).at
        #expect(answers.dropFirst().allSatisfy { $0.at >= throttledAt + 289_500 })
    }

    /// Four calls at once, of which one may be a question: the first one hangs.
    @Test func questionsLeaveSendsTheirPlace() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.script([try TelemetryScript(parsing: "state=Completed,apple.Success=1")])
        bench.hub.arm([try Fault(parsing: "hang,method=GET,count=1")])
        let worker = try bench.startWorker {
            $0.tracksOutcomes = true
            $0.maxInFlight = 4
            $0.requestTimeout = .seconds(300)
        }
        try bench.publish(all: (0..<30).map { Self.request("n\($0)") })
        try bench.results(30)
        Self.passInterval(bench)
        #expect(eventually { Self.questions(bench).count == 1 })
        let untracked = #","options":{"track_outcome":false}"#
        try bench.publish(all: (0..<40).map { Self.request("send\($0)", untracked) })
        try bench.results(70)
        #expect(Self.questions(bench).count == 1 && bench.metric("pushfan_outcomes_total") == 0)
        // The question that hangs is given up, and put again after the others.
        bench.clock.advance(by: .seconds(310))
        #expect(eventually { bench.metric("pushfan_outcome_polls_total") == 30 })
        #expect(bench.metric("pushfan_outcomes_total") == 29)
        Self.passInterval(bench)
        try bench.results(100)
        try worker.stop()
        #expect(try Self.outcomes(bench).values.count { $0["state"] == "sent" } == 30)
    }

    @Test func aQuestionThatFailsIsPutAgain() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.script([try TelemetryScript(parsing: "state=Completed,apple.Success=1")])
        bench.hub.arm([
            try Fault(parsing: "status=500,method=GET,count=1"), try Fault(parsing: "reset=after,method=GET,count=1"),
        ])
        let worker = try bench.startWorker { $0.tracksOutcomes = true }
        try bench.publish(Self.request("a"))
        try bench.results(1)
        for count in 1...2 {
            Self.passInterval(bench)
            #expect(eventually { bench.metric("pushfan_outcome_polls_total") == Double(count) })
        }
        Self.passInterval(bench)
        try bench.results(2)
        try worker.stop()
        #expect(try Self.outcomes(bench).values.map { $0["state"] } == ["sent"])
        #expect(bench.metric("pushfan_outcome_polls_total", #"code="500""#) == 1)
        #expect(bench.metric("pushfan_outcome_polls_total") == 3)
    }

    @Test func deadHandlesAreListedByTheirFingerprintsAndNothingElseIsToldOfThem() throws {
        let bench = try Bench(.quickest, partitions: 1)
        for name in ["gone", "wrong", "fine"] {
            try bench.hub.register(EmulatedDevice(id: name, platform: "fcmv1", handle: "SECRET-\(name)", tags: ["all"]))
        }
        bench.hub.script([
            try TelemetryScript(parsing: "refuse=ExpiredChannel,device=SECRET-gone"),
            try TelemetryScript(parsing: "refuse=Throttled,device=SECRET-wrong"),
        ])
        let worker = try bench.startWorker(change: Self.short)
        try bench.publish(Self.request("all", platforms: #""fcmv1""#))
        try bench.results(1)
        Self.passInterval(bench)
        try bench.results(2)
        try worker.stop()
        let outcome = try #require(try Self.outcomes(bench).values.first)
        #expect(
            Self.words(outcome)
                == "partial throttled devices_refused duplicate_risk Completed fcmv1:ExpiredChannel=1,Success=1,Throttled=1")
        let handles = try bench.readAll(bench.topics.handles)
        #expect(handles.count == 1)
        let record = try FinalResult(try #require(handles.first))
        // printf %s SECRET-gone | sha256sum
        let fingerprint = "0ebafcc2623961eed3474a932856b7adeab094701d56c01e1a3f96c7f6dd550a"
        #expect(record["fingerprint"] == fingerprint && handles.first?.key == Array(fingerprint.utf8))
        #expect(record["platform"] == "fcmv1" && record["reason"] == "ExpiredChannel" && record["hub"] == "demo")
        #expect(record["installation_id"] == "gone" && (record["at"] as String?)?.hasSuffix("Z") == true)
        for topic in [bench.topics.handles, bench.topics.results, bench.topics.delays[0]] {
            for record in try bench.readAll(topic) {
                #expect(!String(decoding: record.value ?? [], as: UTF8.self).contains("SECRET"))
            }
        }
        #expect(!bench.logLines.all.contains { $0.contains("SECRET") || $0.contains("sig=") })
    }

    /// Before 2016-07 the hub names no error details, and telemetry is asked for with the first version that has it.
    @Test(arguments: ["2015-01", "2016-07", "2020-06"]) func oldVersionsTellOutcomesWithoutDeadHandles(_ version: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.hub.register(
            EmulatedDevice(id: "d", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["old"]))
        bench.hub.script([try TelemetryScript(parsing: "refuse=BadChannel")])
        let worker = try bench.startWorker {
            Self.short(&$0)
            $0.hub.apiVersion = version
        }
        try bench.publish(Self.request("old"))
        try bench.results(1)
        Self.passInterval(bench)
        try bench.results(2)
        try worker.stop()
        #expect(
            try Self.outcomes(bench).values.map(Self.words)
                == ["failed permanent devices_refused pointless Completed apple:BadChannel=1"])
        #expect(try bench.readAll(bench.topics.handles).count == (version < "2016-07" ? 0 : 1))
    }

    @Test(.needsKafka, arguments: [1, 2])
    func questionsOutliveTheirWorkersAndARebalance(_ loops: Int) throws {
        let bench = try Bench(.real, partitions: 4)
        bench.hub.script([try TelemetryScript(parsing: "hidden=12s,state=Completed,apple.Success=1")])
        let change = { (configuration: inout WorkerConfiguration) in
            configuration.tracksOutcomes = true
            configuration.loops = loops
        }
        let first = try bench.startWorker("w1", change: change)
        try bench.publish(all: (0..<40).map { Self.request("n\($0)") })
        try bench.results(40)
        try first.stop()
        let second = try bench.startWorker("w1", change: change)
        let third = try bench.startWorker("w2", change: change)
        #expect(bench.waitForGroup(of: 2 * loops, partitions: 4))
        bench.clock.advance(by: .seconds(13))
        try bench.results(80)
        try second.stop()
        try third.stop()
        let outcomes = try Self.outcomes(bench).values
        #expect(outcomes.count == 40 && Set(outcomes.map(\.requestID)).count == 40)
        #expect(outcomes.allSatisfy { $0["state"] == "sent" })
    }
}
