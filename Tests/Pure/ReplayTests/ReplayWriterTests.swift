import FanOut
import PushModel
import TestSupport
import Testing

@testable import Replay

@Suite struct ReplayWriterTests {
    static func names(_ prefix: String, _ count: Int) -> String {
        "[" + (0..<count).map { "\"\(prefix)\($0)\"" }.joined(separator: ",") + "]"
    }

    /// Originals of every kind of audience.
    static let originals = [
        #"{"audience":{"users":\#(names("u", 50))},"message":{"title":"Hi"}}"#,
        #"{"audience":{"users":["alice","bob"]},"platforms":["apns","wns"],"message":{"title":"Hi"}}"#,
        #"{"audience":{"categories":\#(names("c", 41))},"template":{"a":"b"}}"#,
        #"{"audience":{"installations":\#(names("i", 61))},"payloads":{"fcm":{"body":{}},"browser":{"body":"x"}}}"#,
        #"{"audience":{"broadcast":true},"message":{"title":"Hi"}}"#,
        #"{"audience":{"tag_expression":"\#((0..<50).map { "t\($0)" }.joined(separator: " || "))"},"message":{"title":"Hi"}}"#,
        #"{"audience":{"tag_expression":"a && (b || c) && !d"},"message":{"title":"Hi"}}"#,
        """
        {"audience":{"devices":[\((0..<2100).map { #"{"platform":"apple","handle":"a0\#(1000 + $0)"}"# }.joined(separator: ",")),\
        {"platform":"fcm","handle":"f1"}]},"message":{"title":"Hi"}}
        """,
    ]

    @Test(arguments: originals) func whateverFailedIsRepeatedAndNothingElse(_ original: String) throws {
        let whole = try Replaying.calls(original)
        // Every choice of calls where they are few, and some of them where they are many.
        var random = SeededRandom(whole.count)
        try #require(whole.count < Int.bitWidth - 1)
        let choices = 1..<(1 << whole.count)
        for mask in choices.count < 40 ? Array(choices) : (0..<40).map({ _ in Int.random(in: choices, using: &random) }) {
            let indices = whole.indices.filter { mask & 1 << $0 != 0 }
            var replaying = try Replaying()
            try #require(replaying.read(original) == nil)
            let repeated = try replaying.write(SendSet(indices)).flatMap { try Replaying.calls($0) }
            #expect(repeated.sorted() == indices.map { whole[$0] }.sorted())
        }
    }

    @Test func aRequestThatWasNeverCalledIsRepeatedAsAWhole() throws {
        var replaying = try Replaying()
        try #require(replaying.read(Self.originals[0]) == nil)
        let requests = try replaying.write(.all)
        try #require(requests.count == 1)
        #expect(try Replaying.calls(requests[0]) == Replaying.calls(Self.originals[0]))
    }

    /// A result may name a tenant, and the place of another's record.
    @Test(
        arguments: [("acme", "acme", nil), ("acme", "bank", .gone), ("acme", nil, .gone), (nil, "bank", nil)]
            as [(String?, String?, Leftover?)])
    func aTenantsReplayRepeatsItsOwnRecordsAlone(tenant: String?, original: String?, left: Leftover?) throws {
        var replaying = try Replaying(tenant: tenant)
        let named = original.map { #""tenant":"\#($0)","# } ?? ""
        #expect(replaying.read(#"{\#(named)"audience":{"users":["a"]},"message":{"title":"Hi"}}"#) == left)
    }

    @Test func lineageAndContentAreCarriedOver() throws {
        let original = """
            {"schema_version":1,"id":"order-1","source":"/orders","hub":"shop","audience":{"users":["alice"]},"platforms":["apple"],\
            "message":{"title":"A \\"b\\""},"priority":"high","collapse_key":"k","labels":{"c":"mlb"},"options":{"max_attempts":2},\
            "dedupe":{"key":"d"},"ordering_key":"o","of tomorrow":[1]}
            """
        var replaying = try Replaying(["options.max_attempts=8"])
        try #require(replaying.read(original) == nil)
        #expect(
            try replaying.write(SendSet([0])) == [
                """
                {"schema_version":1,"id":"job:0","replay":{"root_request_id":"order-1","parent_request_id":"order-1",\
                "parent_origin":"push.requests.v1:3:17","parent_published_at":"2026-11-21T11:59:00.000Z","sends":[0],\
                "generation":1,"job_id":"job","actor":"ann","reason":"hub outage","modified":["options.max_attempts=8"]},"audience":{"users":["alice"]},"platforms":["apple"],"source":"/orders",\
                "hub":"shop","message":{"title":"A \\"b\\""},"priority":"high","collapse_key":"k","labels":{"c":"mlb"},\
                "options":{"max_attempts":8},"ordering_key":"o","of tomorrow":[1]}
                """
            ])
    }

    /// What a plan knows of the original, and what is said when another id or time stands at its place.
    @Test(
        arguments: [
            ("r", 0, nil), ("r", nil, nil), (nil, 0, nil), (nil, nil, nil), ("q", 0, .gone), ("r", 1, .gone), ("q", nil, .gone),
            (nil, -1, .gone),
        ] as [(String?, Int64?, Leftover?)])
    func anotherRequestAtThePlaceOfTheOriginalIsNotRepeated(id: String?, late: Int64?, reason: Leftover?) throws {
        var replaying = try Replaying()
        let time = late.map { Replaying.published.adding(milliseconds: $0) }
        let wanted = Original(at: place, id: id, publishedAt: time)
        let request = #"{"id":"r","audience":{"users":["a"]},"message":{"title":"Hi"}}"#
        #expect(replaying.read(request, as: wanted) == reason)
        // Nor is it named as one with faults.
        if late.map({ $0 != 0 }) ?? false { #expect(replaying.read("{", as: wanted) == .gone) }
    }

    @Test func whatRepeatsAPartIsNoPartAndHasTheIdentityOfTheWhole() throws {
        let block =
            #"{"id":"news","key":"t:0:1","partition":0,"chunk":3,"chunks":7,"published_at":"2026-11-20T12:00:00Z"}"#
        var replaying = try Replaying()
        let part = #"{"id":"news.3","audience":{"users":["a"]},"message":{"title":"Hi"},"parent":\#(block)}"#
        try #require(replaying.read(part) == nil)
        let request = try replaying.writeFirst()
        #expect(request.contains(#""root_request_id":"news","parent_request_id":"news.3""#))
        #expect(!request.contains(#""parent":"#))
    }

    @Test func aReplayOfAReplayKeepsItsRootAndItsEdits() throws {
        var first = try Replaying(["hub=other", "options.max_attempts=8"])
        try #require(first.read(#"{"id":"r","audience":{"users":["a"]},"message":{"title":"Hi"}}"#) == nil)
        let once = try first.writeFirst()
        var second = try Replaying(["options.max_attempts=8", "priority=high"])
        try #require(second.read(once) == nil)
        let twice = try second.writeFirst()
        #expect(twice.contains(#""root_request_id":"r","parent_request_id":"job:0""#))
        #expect(twice.contains(#""generation":2"#))
        #expect(twice.contains(#""modified":["hub=\"other\"","options.max_attempts=8","priority=\"high\""]"#))
        #expect(twice.contains(#""hub":"other""#))
    }

    @Test func aChainOfReplaysHasAnEnd() throws {
        var json = #"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#
        for _ in 0..<5 {
            var replaying = try Replaying()
            try #require(replaying.read(json) == nil)
            json = try replaying.writeFirst()
        }
        var replaying = try Replaying()
        #expect(replaying.read(json) == .exhausted)
    }

    /// What the original says of its life, what the replay is told, and what the new request says.
    static let lives: [(original: String, expiry: NewExpiry?, expected: String?)] = [
        ("", nil, ""),
        (#","ttl_seconds":120"#, nil, #","expires_at":"2026-11-21T12:01:00.000Z""#),
        (#","expires_at":"2026-11-21T13:00:00+01:00""#, nil, nil),
        (#","expires_at":"2026-11-21T15:00:00+01:00""#, nil, #","expires_at":"2026-11-21T14:00:00.000Z""#),
        (#","ttl_seconds":1"#, nil, nil),
        (#","ttl_seconds":1"#, .life(seconds: 60), #","ttl_seconds":60"#),
        (#","created_at":"2026-11-20T00:00:00Z","ttl_seconds":1"#, .life(seconds: 60), #","ttl_seconds":60"#),
        (#","ttl_seconds":1"#, .moment(Timestamp(milliseconds: 1_795_262_460_000)), #","expires_at":"2026-11-21T12:01:00.000Z""#),
        (#","ttl_seconds":1"#, .moment(Timestamp(milliseconds: 1_795_262_400_000)), nil),
    ]

    @Test(arguments: lives) func nothingIsRepeatedPastItsExpiry(
        _ row: (original: String, expiry: NewExpiry?, expected: String?)
    ) throws {
        var replaying = try Replaying(expiry: row.expiry)
        let reason = replaying.read(#"{"audience":{"users":["a"]},"message":{"title":"Hi"}\#(row.original)}"#)
        guard let expected = row.expected else {
            #expect(reason == .expired)
            return
        }
        try #require(reason == nil)
        let json = try replaying.writeFirst()
        #expect(json.contains(#""platforms":["apple","fcmv1","windows"]\#(expected),"message""#), "\(json)")
        #expect(!json.contains("created_at"))
    }

    @Test(arguments: [
        (NewExpiry.life(seconds: 60), "ttl_seconds=60"),
        (.moment(Timestamp(milliseconds: 1_795_262_460_000)), "expires_at=2026-11-21T12:01:00.000Z"),
    ])
    func aNewExpiryIsAChange(_ expiry: NewExpiry, _ note: String) throws {
        var replaying = try Replaying(["priority=high"], expiry: expiry)
        try #require(replaying.read(#"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#) == nil)
        #expect(try replaying.writeFirst().contains(#""modified":["priority=\"high\"","\#(note)"]"#))
    }

    @Test func whatStoodInHeadersMovesIntoTheRequest() throws {
        var replaying = try Replaying()
        let headers = ["ce_id": "e-1", "ce_source": "/s", "ce_partitionkey": "k", "ce_expirytime": "2026-11-21T13:00:00Z"]
        try #require(replaying.read(#"{"audience":{"users":["a"]},"message":{"title":"Hi"}}"#, headers) == nil)
        let json = try replaying.writeFirst()
        for part in [
            #""root_request_id":"e-1""#, #""source":"/s""#, #""ordering_key":"k""#, #""expires_at":"2026-11-21T13:00:00.000Z""#,
        ] {
            #expect(json.contains(part), "\(json)")
        }
    }

    @Test func theRequestIsTakenOutOfAnEventsEnvelope() throws {
        var replaying = try Replaying()
        let event = #"{"specversion":"1.0","id":"e","source":"/s","data":{"audience":{"users":["a"]},"message":{"title":"Hi"}}}"#
        try #require(replaying.read(event, ["content-type": "application/cloudevents+json"]) == nil)
        let json = try replaying.writeFirst()
        #expect(!json.contains("specversion"))
        #expect(try Replaying.calls(json).count == 3)
    }

    @Test func aPlanThatWouldBeAnotherIsNotRun() throws {
        var replaying = try Replaying()
        var platforms = PlatformSequence()
        platforms.append(.apple)
        #expect(replaying.read(Self.originals[1], calls: (1, platforms)) == .changed)
        platforms.append(.windows)
        #expect(replaying.read(Self.originals[1], calls: (2, platforms)) == nil)
        var others = PlatformSequence()
        others.append(.windows)
        others.append(.apple)
        #expect(replaying.read(Self.originals[1], calls: (2, others)) == .changed)
    }

    @Test(arguments: ["options.max_atempts=8", "options.max_attempts=99", "hub=A B", "message=null", "payloads.apple.body=x"])
    func anEditThatMakesNoValidRequestIsFound(_ edit: String) throws {
        var replaying = try Replaying([edit])
        try #require(replaying.read(Self.originals[1]) == nil)
        var json = ByteWriter()
        let isValid = replaying.writer.write(SendSet([0]), id: "job:0", into: &json)
        #expect(isValid == edit.hasPrefix("payloads"))
    }
}
