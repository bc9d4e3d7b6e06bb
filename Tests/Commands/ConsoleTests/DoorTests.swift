import Testing

@testable import Console

/// What a request is refused for before it is written: the same at every door.
@Suite struct DoorTests {
    private func run(_ line: String, _ input: String) -> Outcome {
        var harness = Harness()
        harness.input = input
        return harness.run(line)
    }

    private static func data(_ count: Int) -> String {
        let value = String(repeating: "x", count: count)
        return #""message":{"title":"t","data":{"a":"\#(value)","b":"\#(value)","c":"\#(value)"}}"#
    }

    private static func event(_ members: String) -> String {
        #"{"specversion":"1.0","type":"t","source":"/shop","id":"e-1"\#(members),"data":{"audience":{"users":["a"]},"message":{"title":"x"}}}"#
    }

    private static let users = #""audience":{"users":["a"]}"#
    private static let title = #""message":{"title":"x"}"#

    static let refused: [(request: String, words: String)] = [
        (
            #"{\#(users),"payloads":{"apple":{"body":{"aps":{"alert":"\#(String(repeating: "x", count: 5000))"}}}}}"#,
            "at most 4096 are allowed"
        ),
        ("{\(users),\(data(2000))}", "at most 4096 are allowed"),
        ("{\(users),\"platforms\":[\"apple\"],\(data(1400))}", "at most 4096 are allowed"),
        (#"{\#(users),"platforms":["apple"],"message":{"data":{"aps":"1"}}}"#, "aps"),
        (#"{"audience":{"tag_expression":"a && b && c && d && e && f && g"},\#(title)}"#, "joins 7 tags by '&&'"),
        (#"{"audience":{"devices":[{"platform":"apple","handle":"00ff"}]},"template":{"a":"b"}}"#, "/template"),
        (#"{\#(users),\#(title),"expires_at":"2026-11-21T11:59:59Z"}"#, "has expired, at 2026-11-21T11:59:59"),
        (#"{\#(users),\#(title),"ttl_seconds":0}"#, "has expired"),
        (#"{\#(users),\#(title),"ttl_seconds":60,"not_before":"2026-11-21T13:00:00Z"}"#, "before it may be sent"),
        (event(#","expirytime":"2026-11-21T11:00:00Z""#), "has expired"),
        (#"{"specversion":"1.0","id":"e-1","data":{"audience":{"users":["a"]},"mesage":{}}}"#, "/data/mesage"),
        (#"{"specversion":"1.0","id":"no id","data":{\#(users),\#(title)}}"#, "An event needs an id"),
        (#"{\#(users),"mesage":{"title":"x"}}"#, "Did you mean `message`?"),
        ("{\n  \(users),\n  \(title),\n}", "standard input:3:26: Nothing follows this comma: take it away."),
    ]

    @Test(arguments: refused) func enqueueRefusesWhatExplainRefuses(request: String, words: String) {
        let explained = run("explain -", request)
        #expect(explained.code == .failed)
        #expect(explained.messages.contains(words), "\(explained.messages)")
        let enqueued = run("enqueue - --dry-run", request)
        #expect(enqueued.code == .usage && enqueued.output.isEmpty)
        #expect(enqueued.messages.contains(words), "\(enqueued.messages)")
    }

    /// A worker for Windows alone would send it.
    @Test func whatAWorkersSettingsDecideIsAWarning() {
        let request = "{\(Self.users),\(Self.data(1400))}"
        let enqueued = run("enqueue - --dry-run", request)
        #expect(enqueued.code == .done && !enqueued.output.isEmpty)
        #expect(enqueued.messages.contains("warning: standard input: /message: The body for apple"), "\(enqueued.messages)")
        #expect(enqueued.messages.contains("those of the workers decide"))
        #expect(run("explain -", request).code == .failed)
    }

    @Test func anEventIsExplainedAndWrittenAsWorkersReadIt() {
        let event = Self.event(#","partitionkey":"k""#)
        let explained = run("explain -", event)
        #expect(explained.code == .done, "\(explained.messages)")
        #expect(explained.output.hasPrefix("request e-1: 3 calls, "))
        let enqueued = run("enqueue - --dry-run -o ndjson", event)
        #expect(
            enqueued.output.contains(
                #""key":"k","headers":{"content-type":"application/cloudevents+json"},"value":{"specversion""#))
    }

    @Test func explainTakesTheHeadersOfARecord() {
        let request = "{\(Self.users),\(Self.title)}"
        #expect(run("explain - --header ce_id=h-1", request).output.hasPrefix("request h-1: "))
        let expired = run("explain - --header ce_expirytime=2026-11-21T11:00:00Z", request)
        #expect(expired.code == .failed && expired.messages.contains("expired_in_queue"))
    }

    @Test func explainTakesTheFlagsOfEnqueue() {
        let outcome = Harness().run("explain --user alice --title Hi --id i-1")
        #expect(outcome.code == .done && outcome.output.hasPrefix("request i-1: 3 calls, "))
        #expect(Harness().run("explain --user alice --title Hi hub_throttled").code == .usage)
    }

    @Test(arguments: [
        ("enqueue --title x", "--user alice"), ("explain --title x", "--user alice"), ("enqueue --user a", "--title or --body"),
        ("enqueue {\"audience\":{}}", "| pushfan enqueue -"), ("explain {\"audience\":{}}", "| pushfan explain -"),
    ])
    func whatIsMissingIsShownByAnExample(line: String, words: String) {
        let outcome = Harness().run(line)
        #expect(outcome.code == .usage && outcome.messages.contains(words), "\(outcome.messages)")
        #expect(!outcome.messages.contains("broadcast"))
    }

    @Test func aFaultOfALaterLineHasItsLineAndColumn() {
        let good = "{\(Self.users),\(Self.title)}"
        let messages = run("enqueue - --dry-run", "\(good)\n\(good)\n{\(Self.users) \(Self.title)}\n").messages
        #expect(messages.contains("standard input:3:\(Self.users.count + 3): A comma is missing before this."), "\(messages)")
    }
}
