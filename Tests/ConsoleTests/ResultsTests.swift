import Testing

@testable import Console

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

    @Test func aRequestsLifeIsTold() throws {
        let record = try #require(ResultRecord(json: Array(Self.partial.utf8), partition: 0, offset: 0, timestamp: 0))
        let story = ResultStory(record, Streams.Traits()).text
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
        let story = ResultStory(record, Streams.Traits()).text
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
        #expect(shown.output == Self.partial + "\n")
        #expect(broker.harness.run("results show p-1 --wait").code == .done)
        #expect(broker.harness.run("results show nobody --wait --timeout 200ms").code == .temporary)
        let filtered = broker.harness.run("results list --error hub_throttled --state partial")
        #expect(filtered.lines.count == 2)
        #expect(filtered.lines[1].contains("p-1"))
    }

    @Test func tailFollowsUntilItHasEnough() throws {
        let broker = try Broker()
        let harness = broker.harness
        let tail = Background { harness.run("results tail --limit 2 --state partial -o ndjson") }
        // The reader begins at the end, at a moment that nobody knows: records are written until it has seen enough.
        let deadline = ContinuousClock.now + .seconds(30)
        while !tail.isDone && ContinuousClock.now < deadline {
            try broker.writeResults([Self.partial, #"{"request_id":"x","state":"sent"}"#])
        }
        let seen = try tail.value()
        #expect(seen.code == .done)
        #expect(seen.lines.map(String.init) == [Self.partial, Self.partial])
    }
}
