import TestSupport
import Testing

@testable import Console

/// `results show` begins with what became of the request, against the broker inside the process.
@Suite(.serialized) struct VerdictTests {
    /// The present of the harness, 2026-11-21T12:00:00Z.
    private static let now: Int64 = 1_795_262_400_000

    private static func harness(of broker: Broker) -> Harness {
        var harness = broker.harness
        harness.environment["TZ"] = "UTC"
        return harness
    }

    /// A final result of a record at an offset of partition 0, 0.2 s after it.
    private static func result(_ id: String, at offset: Int, members: String) -> String {
        #"{"request_id":"\#(id)","kind":"final",\#(members),"targets":{"planned":1,"accepted":1,"failed":0,"ambiguous":0},"#
            + #""timings":{"published_at":"2026-11-21T11:59:00.000Z","finished_at":"2026-11-21T11:59:00.200Z","total_ms":200},"#
            + #""origin":{"topic":"push.requests.v1","partition":0,"offset":"\#(offset)"}}"#
    }

    private static func request(_ id: String, options: String = "") -> String {
        #"{"id":"\#(id)","audience":{"users":["u"]},"message":{"title":"Hi"}\#(options)}"#
    }

    private static let sent = #""state":"sent","outcome":"success""#

    @Test func theFirstLineSaysWhatBecameOfARequest() throws {
        let broker = try Broker()
        let tracked = Self.request("t", options: #","options":{"track_outcome":true}"#)
        try broker.write(
            [Self.request("s"), tracked, Self.request("waits"), Self.request("twice")], to: "push.requests.v1",
            at: Self.now - 60_000)
        let again =
            #""state":"duplicate","outcome":"duplicate","error":{"code":"duplicate","#
            + #""message":"/dedupe/key: The request at offset 0 of its partition has the same key."}"#
        let sameID = again.replacing("/dedupe/key: The", with: "/id: The").replacing("same key", with: "same id")
        try broker.writeResults(
            [
                // Of one the first request waits; of the other it is gone.
                Self.result("twice", at: 97, members: sameID), Self.result("alone", at: 96, members: sameID),
                Self.result("s", at: 0, members: Self.sent), Self.result("t", at: 1, members: Self.sent),
                Self.result("gone", at: 99, members: Self.sent), Self.result("again", at: 98, members: again),
            ], at: Self.now - 1000)
        let harness = Self.harness(of: broker)
        let unknown = "Whether the phone showed it is not known"
        for (id, first, second) in [
            ("s", "Sent at 11:59:00 UTC, in 0.2 s.", "\(unknown): outcomes are not tracked."),
            ("t", "Sent at 11:59:00 UTC, in 0.2 s.", "\(unknown) yet: the hub has not told the outcome."),
            ("gone", "Sent at 11:59:00 UTC, in 0.2 s.", "\(unknown): there is no outcome of it."),
            ("again", "A repetition of s, which was sent.", "It was not sent a second time."),
            ("twice", "Published at 11:59:00 UTC, and no worker has read it yet.", nil),
            ("alone", "A repetition of s, which was sent.", "It was not sent a second time."),
            ("waits", "Published at 11:59:00 UTC, and no worker has read it yet.", nil),
        ] as [(String, String, String?)] {
            let shown = harness.run("results show \(id)")
            #expect(shown.lines.first.map(String.init) == first, "\(id): \(shown)")
            if let second { #expect(shown.lines.dropFirst().first.map(String.init) == second, "\(id): \(shown)") }
        }
        #expect(harness.run("results show s").output.contains("\n\nrequest  s\nstate    sent (success)\n"))
        let json = harness.run("results show waits -o json").output
        #expect(
            json.contains(#","verdict":{"code":"published","text":"Published at 11:59:00 UTC, and no worker has read it yet."}}"#)
        )
    }
}
