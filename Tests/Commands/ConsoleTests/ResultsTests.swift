import Publishing
import PushModel
import TestSupport
import Testing

@testable import Console
@testable import Results

@Suite(.serialized) struct ResultsTests {
    private static let partial = """
        {"schema_version":1,"result_id":"r1","request_id":"p-1","hub":"prod-shop","kind":"final","state":"partial",\
        "outcome":"throttled","replay_safety":"safe","attempt_count":2,"error":{"code":"hub_throttled","message":"429 four times"},\
        "sends":[{"index":0,"platform":"apple","outcome":"success"},{"index":1,"platform":"fcmv1","outcome":"throttled"}],\
        "attempts":[{"n":1,"send":0,"started_at":"2026-11-20T12:00:00.120Z","duration_ms":48,"result":"ok","http_status":201},\
        {"n":1,"send":1,"started_at":"2026-11-20T12:00:00.121Z","duration_ms":31,"result":"error","http_status":429,\
        "error_code":"hub_throttled","backoff_ms":10000}],"timings":{"published_at":"2026-11-20T11:59:59.900Z",\
        "consumed_at":"2026-11-20T12:00:00.100Z","queue_ms":200,"total_ms":91100},\
        "origin":{"topic":"push.requests.v1","partition":7,"offset":"181920"},"worker":{"id":"w-3"},"at":"2026-11-20T12:01:31.000Z"}
        """

    private func story(_ id: String, _ results: [String], isWide: Bool = false) -> String {
        var life = RequestLife(id: id)
        for (index, json) in results.enumerated() {
            life.take(Array(json.utf8).span, partition: 0, offset: Int64(index), timestamp: Int64(index))
        }
        var story = ResultStory(life: life, traits: Streams.Traits(), isWide: isWide)
        story.outcome = RequestStory(life).outcomeState(at: .past)
        return story.text
    }

    @Test func aRequestsLifeIsTold() {
        let story = story("p-1", [Self.partial])
        #expect(
            story == """
                request  p-1
                state    partial (throttled)
                hub      prod-shop
                replay   safe
                error    hub_throttled: 429 four times
                remedy   Replay later, or allow more attempts; if it comes often, raise the hub's tier or send more slowly.

                2026-11-20T11:59:59.900Z  published  to push.requests.v1, partition 7, offset 181920
                2026-11-20T12:00:00.100Z  consumed   by w-3, after 200 ms in the queue
                2026-11-20T12:00:00.120Z  attempt    1 to apple: status 201, 48 ms
                2026-11-20T12:00:00.121Z  attempt    1 to fcmv1: status 429 (hub_throttled), 31 ms, then waited 10.0 s
                2026-11-20T12:01:31.000Z  result     partial after 2 attempts, 1 min 31 s after it was published
                """)
    }

    private static let retrying = """
        {"request_id":"p-1","kind":"interim","state":"retrying","outcome":"throttled","attempt_count":1,"hub":"prod-shop",\
        "attempts":[{"n":1,"send":1,"started_at":"2026-11-20T12:00:00.121Z","http_status":429}],"at":"2026-11-20T12:00:00.200Z"}
        """
    private static let telemetry = """
        {"request_id":"p-1","kind":"outcome","state":"failed","outcome":"no_target","hub_state":"Abandoned","replay_safety":"safe",\
        "attempt_count":2,"sends":[{"index":0,"platform":"apple","pns_outcomes":{"Success":3,"ExpiredChannel":1}},\
        {"index":1,"platform":"fcmv1"}],"at":"2026-11-20T12:10:00.000Z"}
        """
    private static let replay = """
        {"request_id":"j-1:p-1","kind":"final","state":"failed","outcome":"auth","error":{"code":"hub_unauthorized"},\
        "replay":{"root_request_id":"p-1","parent_request_id":"p-1","generation":1,"job_id":"j-1","actor":"ann","reason":"outage"},\
        "at":"2026-11-20T13:00:00.000Z"}
        """

    @Test func outcomesAndReplaysBelongToTheLife() {
        let story = story("p-1", [Self.retrying, Self.partial, Self.telemetry, Self.replay, Self.replay])
        let expected = """
            2026-11-20T12:00:00.200Z  interim    retrying after 1 attempt
            2026-11-20T12:01:31.000Z  result     partial after 2 attempts, 1 min 31 s after it was published
            2026-11-20T12:10:00.000Z  outcome    Abandoned; apple: Success 3, ExpiredChannel 1
            2026-11-20T13:00:00.000Z  replay     j-1:p-1 failed: hub_unauthorized (generation 1, job j-1, by ann, because outage)
            2026-11-20T13:00:00.000Z  replay     j-1:p-1 failed: hub_unauthorized (generation 1, job j-1, by ann, because outage)
            """
        #expect(story.hasSuffix(expected))
        #expect(story.hasPrefix("request  p-1\nstate    partial (throttled)\n"))
        // Those of the interim result are the same ones, and told by the final.
        #expect(story.split(separator: "\n").count { $0.contains("  attempt  ") } == 2)
    }

    private static let followed = """
        {"request_id":"t-1","kind":"final","state":"sent","outcome":"success","replay_safety":"duplicate_risk","followed":true,\
        "targets":{"planned":2,"accepted":2,"failed":0,"ambiguous":0},"at":"2026-11-20T12:00:00.000Z"}
        """
    private static let reached = outcome(of: 0, #""state":"sent","outcome":"success""#)
    private static let partly = outcome(
        of: 0, #""state":"partial","outcome":"throttled","replay_safety":"duplicate_risk","error":{"code":"devices_refused"}"#)
    private static let refused = outcome(
        of: 0, #""state":"failed","outcome":"bad_target","replay_safety":"pointless","error":{"code":"devices_refused"}"#)
    private static let unclear = outcome(
        of: 0, #""state":"failed","outcome":"ambiguous","replay_safety":"ambiguous","error":{"code":"hub_abandoned"}"#)

    /// No device is registered for the call.
    private static func noTarget(of call: Int) -> String {
        outcome(of: call, #""state":"failed","outcome":"no_target","replay_safety":"pointless","error":{"code":"no_target"}"#)
    }

    private static func outcome(of call: Int, _ members: String) -> String {
        #"{"request_id":"t-1","kind":"outcome",\#(members),"sends":[{"index":\#(call)}],"at":"2026-11-20T12:00:1\#(call).000Z"}"#
    }

    @Test(
        arguments: [
            ([reached, noTarget(of: 1)], "delivered (success)\nreplay   duplicate_risk\n\n"),
            ([reached], "sent (success)\noutcome  awaited\nreplay   duplicate_risk\n\n"),
            ([partly, noTarget(of: 1)], "reached_some (throttled)\nreplay   duplicate_risk\nerror    devices_refused"),
            ([refused, noTarget(of: 1)], "devices_refused (bad_target)\nreplay   pointless\nerror    devices_refused"),
            ([noTarget(of: 0), noTarget(of: 1)], "no_target (no_target)\nreplay   pointless\nerror    no_target"),
            ([unclear, noTarget(of: 1)], "sent (ambiguous)\noutcome  unknown\nreplay   ambiguous\nerror    hub_abandoned"),
        ] as [([String], String)])
    func aFollowedRequestHasTheStateOfAllItsCalls(outcomes: [String], heading: String) {
        let story = story("t-1", [Self.followed] + outcomes)
        #expect(story.hasPrefix("request  t-1\nstate    \(heading)"), "\(story)")
        #expect(story.split(separator: "\n").count { $0.contains("  outcome    ") } == outcomes.count)
    }

    @Test func anOutcomeOfOneCallIsNotTheAnswer() throws {
        let broker = try Broker()
        try broker.writeResults([Self.followed, Self.reached, Self.noTarget(of: 1)])
        let shown = broker.harness.run("results show t-1 -o json").output
        let beginning = Self.followed.dropLast() + #","outcome_state":"delivered","verdict":{"code":"delivered""#
        #expect(shown.hasPrefix(beginning), "\(shown)")
        let text = broker.harness.run("results show t-1").output
        #expect(text.contains("push services took it for every device") && text.contains("\nstate    delivered (success)\n"))
        #expect(!text.contains("remedy") && text.contains("  outcome    failed; no_target"), "\(text)")
    }

    @Test func whileNothingIsFinalTheLastResultTellsTheAttempts() {
        let story = story("p-1", [Self.retrying, Self.retrying])
        #expect(story.split(separator: "\n").count { $0.contains("  attempt  ") } == 1)
        #expect(story.contains("state    retrying (throttled)"))
    }

    private static let repetition = """
        {"request_id":"p-1","kind":"final","state":"duplicate","outcome":"duplicate","replay_safety":"pointless","attempt_count":0,\
        "error":{"code":"duplicate","message":"/id: The request at offset 181920 of its partition has the same source and id."},\
        "timings":{"published_at":"2026-11-20T12:30:00.000Z"},"at":"2026-11-20T12:30:00.100Z"}
        """

    @Test func aRepetitionIsToldAndDoesNotHideWhatBecameOfTheFirst() {
        let both = story("p-1", [Self.partial, Self.repetition])
        #expect(both.hasPrefix("request  p-1\nstate    partial (throttled)\n"))
        #expect(both.contains("\n2026-11-20T12:30:00.100Z  result     duplicate without an attempt"))
        #expect(story("p-1", [Self.repetition]).hasPrefix("request  p-1\nstate    duplicate (duplicate)\n"))
    }

    /// Whoever looks for results from the newest on has not seen that of the first one yet when he finds a repetition.
    @Test(
        arguments: [
            ([repetition], -604_800_000), ([repetition, partial], 0), ([repetition.replacing("/id: ", with: "/dedupe/key: ")], 0),
        ] as [([String], Int64)])
    func theFirstOneIsLookedForAsLongAsItCanBeAgo(results: [String], beginning: Int64) {
        var life = RequestLife(id: "p-1")
        for (index, json) in results.enumerated() {
            life.take(Array(json.utf8).span, partition: 0, offset: Int64(index), timestamp: 0)
        }
        #expect(life.beginning == beginning)
    }

    @Test(arguments: [(0, "without an attempt"), (1, "after 1 attempt"), (3, "after 3 attempts")])
    func aStoryCountsTheAttemptsOfACall(count: Int, words: String) {
        let result = #"{"request_id":"p-1","kind":"final","state":"failed","attempt_count":\#(count),"at":"2026-11-20"}"#
        #expect(story("p-1", [result]).hasSuffix("  result     failed \(words)"))
    }

    @Test func aReplayNamesWhatItRepeats() {
        #expect(
            story("j-1:p-1", [Self.replay]).contains("\nrepeats  p-1 (generation 1, job j-1, by ann, because outage)\n"))
    }

    @Test func aWideStoryTellsTheCalls() {
        #expect(story("p-1", [Self.partial], isWide: true).contains("  call       1 to fcmv1: throttled\n"))
        #expect(!story("p-1", [Self.partial]).contains("  call  "))
    }

    @Test(arguments: ["", "7", "null", "[]", "{}", #"{"request_id":7}"#, "{", "\u{0}", #"{"request_id":"a""#])
    func whatIsNoResultIsPassedOver(json: String) {
        #expect(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0) == nil)
    }

    @Test(arguments: [
        #"{"request_id":"a"}"#, #"{"request_id":"a","state":7,"error":"x","attempts":7,"sends":{},"timings":[],"origin":null}"#,
        #"{"request_id":"a","attempts":[7,null,{"n":"x","send":99,"started_at":1}],"error":{"code":"unheard_of"}}"#,
        "{\"request_id\":\"a\\u001b[2J\",\"state\":\"\\u001b\",\"at\":\"\\n\"}",
    ])
    func strangeResultsAreToldWithoutHarm(json: String) throws {
        let record = try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0))
        let story = story(record.requestID, [json], isWide: true)
        #expect(story.hasPrefix("request  a"))
        #expect(!story.contains("\u{1B}"))
    }

    @Test func commandsReadPastWhatIsNoResult() throws {
        let broker = try Broker()
        try broker.writeResults(["nonsense", Self.partial, "{\n\"request_id\": \"other\",\n\"state\":\"sent\"\n}", ""])
        let list = broker.harness.run("results list -o ndjson")
        #expect(list.lines.count == 2)
        #expect(list.lines.contains { $0 == #"{ "request_id": "other", "state":"sent" }"# })
        #expect(broker.harness.run("results list --limit 1 -o ndjson").lines.count == 1)
        let shown = broker.harness.run("results show p-1 -o json")
        #expect(
            shown.output.hasPrefix(Self.partial.dropLast() + #","verdict":{"code":"sent_in_part","text":"Sent in part: "#)
                && shown.lines.count == 1, "\(shown)")
        #expect(broker.harness.run("results show p-1 --wait").code == .done)
        // The time is for finding the topic too: where that took it all, it is asked again.
        #expect(
            eventually {
                let shown = broker.harness.run("results show nobody --wait --timeout 1s")
                return shown.code == .temporary && shown.messages.contains("no result for")
            })
        for line in ["--error hub_throttled --state partial", "error:hub_* state:partial,failed -hub:other platform:fcm"] {
            let filtered = broker.harness.run("results list " + line)
            #expect(filtered.lines.count == 2)
            #expect(filtered.lines.last?.contains("p-1") == true)
        }
        #expect(broker.harness.run("results list -error:* -o ndjson").lines.map { $0.contains("other") } == [true])
    }

    @Test func theNewestStandWhereTheyAreWanted() throws {
        let broker = try Broker()
        // Written in another order than that of their times.
        for (name, time) in [("c", 3), ("a", 1), ("b", 2)] {
            try broker.writeResults([#"{"at":"x","request_id":"\#(name)"}"#], at: 1_795_262_400_000 + Int64(time))
        }
        let ids = { (line: String) in
            broker.harness.run("results list -o csv " + line).lines.dropFirst().map {
                String($0.split(separator: ",").dropFirst().first ?? "")
            }
        }
        #expect(ids("") == ["a", "b", "c"])
        #expect(ids("--newest first") == ["c", "b", "a"])
        #expect(ids("--newest first -n 2") == ["c", "b"])
        #expect(ids("-n 2") == ["b", "c"])
    }

    @Test func everyFormatHasItsShape() throws {
        let broker = try Broker()
        try broker.writeResults([Self.partial])
        let run = { (line: String) in broker.harness.run(line) }
        #expect(run("results list -o json").output == "[\n" + Self.partial + "\n]\n")
        let wide = run("results list -o wide")
        try #require(wide.lines.count == 2)
        #expect(
            wide.lines[0].hasSuffix("MESSAGE") && wide.lines[1].contains("apple,fcmv1")
                && wide.lines[1].hasSuffix("429 four times"))
        let csv = run("results list -o csv")
        try #require(csv.lines.count == 2)
        #expect(csv.lines[0] == "at,request,state,outcome,error,hub,platforms,attempts,replay,took_ms,worker,kind,message")
        #expect(
            csv.lines[1]
                == "2026-11-20T12:01:31.000Z,p-1,partial,throttled,hub_throttled,prod-shop,\"apple,fcmv1\",2,safe,91100,w-3,"
                + "final,429 four times")
        #expect(run("results show p-1 -o csv").output == csv.output)
        #expect(run("results show p-1 -o ndjson").output == Self.partial + "\n")
    }

    @Test func tailFollowsUntilItHasEnough() throws {
        let broker = try Broker()
        let harness = broker.harness
        let tail = Background { harness.run("results tail --limit 2 --state partial -o ndjson") }
        // The reader begins at the end, at a moment that nobody knows: records are written until it has seen enough.
        let deadline = ContinuousClock.now + farDeadline
        while !tail.isDone && ContinuousClock.now < deadline {
            try broker.writeResults([Self.partial, #"{"request_id":"x","state":"sent"}"#])
        }
        let seen = try tail.value()
        #expect(seen.code == .done)
        #expect(seen.lines.map(String.init) == [Self.partial, Self.partial])
    }
}
