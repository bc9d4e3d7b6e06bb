import FanOut
import PushModel
import TestSupport
import Testing

/// Large requests in parts: planned one by one, the parts give just the calls of the whole.
struct ExpansionTests {
    /// The parts of what was planned, as records.
    private static func parts(of planning: Planning) throws -> [String] {
        let expansion = planning.planner.expansion(of: planning.plan, for: planning.request)
        var platforms: PlatformSet = planning.request.template == nil ? planning.planner.platforms(of: planning.request) : []
        if case .devices = planning.request.audience { platforms = [] }
        let writer = PartWriter(
            planning.request, body: planning.request.document.root, platforms: platforms, key: ParentKey("t:0:7"), partition: 3,
            chunks: expansion.count, publishedAt: Timestamp(milliseconds: 1_795_176_000_000))
        #expect(expansion.callCount == planning.plan.calls.count)
        return (0..<expansion.count).map { chunk in
            var json = ByteWriter()
            writer.append(chunk, to: &json) {
                planning.plan.appendAudience(of: chunk, in: expansion, for: planning.request, to: &$0)
            }
            return json.text
        }
    }

    /// The calls of a plan in words, without the numbers of their pieces.
    private static func calls(_ planning: Planning) throws -> [String] {
        try planning.described().map { call in
            let words = call.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            try #require(words.count == 3)
            return "\(words[0]) \(words[2])"
        }
    }

    private static func plan(_ record: String) throws -> Planning {
        var planning = Planning()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(.strict, from: .own).read(
            Array(record.utf8).span, headers: RecordHeaders(), origin: origin, into: &planning.request)
        try #require(reading == .request, "\(record)")
        try planning.planner.plan(planning.request, into: &planning.plan)
        return planning
    }

    private static func checkParts(of planning: Planning, _ count: Int) throws {
        let parts = try parts(of: planning)
        #expect(parts.count == count)
        var calls: [String] = []
        for (chunk, part) in parts.enumerated() {
            let own = try plan(part)
            #expect(!own.planner.isLarge(own.plan))
            #expect(own.request.document.string(own.request.id) == "news.\(chunk)")
            let reference = PartReference(of: own.request)
            #expect(reference?.chunk == chunk && reference?.chunks == count && reference?.parentID == "news")
            calls += try Self.calls(own)
        }
        #expect(try calls.sorted() == Self.calls(planning).sorted())
        #expect(try Self.parts(of: planning) == parts)
    }

    @Test(
        arguments: [
            (120, "", 2), (121, "", 2), (101, "", 2), (200, "", 2), (201, "", 3), (1000, "", 10), (10_000, "", 100),
            (400, #","platforms":["apple"]"#, 2), (640, #","template":{"a":"b"}"#, 2), (641, #","template":{"a":"b"}"#, 3),
            (1000, #","platforms":["apple","windows"]"#, 7),
        ])
    func usersAreDividedIntoAsManyAsFillARequest(_ users: Int, _ members: String, _ count: Int) throws {
        var planning = Planning()
        try planning.plan(#""id":"news","audience":{"users":\#(list((0..<users).map { "u\($0)" }))}\#(members)"#)
        #expect(planning.planner.isLarge(planning.plan))
        try Self.checkParts(of: planning, count)
    }

    @Test(arguments: 0..<30) func partsPlannedAloneGiveTheCallsOfTheWhole(seed: Int) throws {
        var random = SeededRandom(seed)
        var planning = Planning()
        let kind = ["users", "installations", "categories"][random.below(3)]
        let count = kind == "categories" ? 110 + random.below(90) : 110 + random.below(3000)
        let names = (0..<count).map { "n\($0)" }
        // Names that stand there twice, in capitals too.
        let again = names.filter { _ in random.below(9) == 0 }.prefix(max(0, (kind == "categories" ? 200 : 10_000) - count))
        let all = (names + again.map { $0.uppercased() }).shuffled(using: &random)
        try planning.plan(#""id":"news","audience":{"\#(kind)":\#(list(all))}"#)
        let pieces = (count + 19) / 20
        try Self.checkParts(of: planning, (pieces + 4) / 5)
    }

    @Test func anExpressionIsSentPieceByPiece() throws {
        var planning = Planning()
        let tags = (0..<111).map { "t\($0)" }.joined(separator: " || ")
        try planning.plan(#""id":"news","audience":{"tag_expression":"\#(tags)"}"#)
        #expect(planning.plan.calls.count == 18)
        try Self.checkParts(of: planning, 6)
    }

    @Test func handlesAreDividedByTheirCalls() throws {
        var planning = Planning()
        // Every platform has a call that is not full.
        let platforms = ["apple", "fcmv1", "gcm", "windows", "adm", "baidu", "browser", "xiaomi"]
        let handles = (0..<8008).map { number in
            let platform = platforms[number % 8]
            let keys = #"{\"endpoint\":\"https://b/\#(number)\",\"p256dh\":\"k\",\"auth\":\"a\"}"#
            return (platform: platform, handle: platform == "browser" ? keys : "c0ffe\(1_000_000 + number)")
        }
        let payloads = platforms.map { #""\#($0)":{"body":"x"}"# }.joined(separator: ",")
        try planning.plan(#""id":"news",\#(devices(handles)),"payloads":{\#(payloads)}"#)
        #expect(planning.plan.calls.count == 16)
        var small = FanOutPlanner.Configuration()
        small.maximumCalls = 8
        planning.planner = FanOutPlanner(small)
        let parts = try Self.parts(of: planning)
        #expect(parts.count == 2)
        #expect(try parts.flatMap { try Self.calls(Self.plan($0)) }.sorted() == Self.calls(planning).sorted())
    }

    @Test func aPartSaysWhatTheWholeSays() throws {
        var planning = Planning()
        try planning.plan(
            #"""
            "schema_version":1,"id":"news","source":"/a\"b","tenant":"t1","hub":"h","created_at":"2026-11-20T12:00:00Z",
            "audience":{"users":\#(list((0..<300).map { "u\($0)" }))},"message":{"title":"Hi \"you\"","data":{"a":"b"}},
            "ttl_seconds":60,"not_before":"2026-11-20T12:00:10Z","priority":"low","collapse_key":"c","ordering_key":"o",
            "dedupe":{"key":"d"},"options":{"max_attempts":3},"labels":{"campaign":"mlb"},"later":{"unknown":[1]},
            "replay":{"root_request_id":"a","parent_request_id":"b","generation":1,"job_id":"j"}
            """#)
        let second = try #require(try Self.parts(of: planning).dropFirst().first)
        let part = try Self.plan(second)
        let (request, document) = (part.request, part.request.document)
        func text(_ text: PushRequest.Text?) -> String? { text.map { document.string($0) } }
        #expect(text(request.source) == "/a\"b" && text(request.tenant) == "t1" && text(request.hub) == "h")
        #expect(text(request.message?.title) == "Hi \"you\"" && request.priority == .low && text(request.collapseKey) == "c")
        #expect(request.timeToLive == nil && request.expiresAt == planning.request.expiresAt)
        #expect(request.notBefore == planning.request.notBefore && request.createdAt == planning.request.createdAt)
        #expect(request.options.maxAttempts == 3 && request.labels != nil && request.replay != nil)
        #expect(request.orderingKey == nil, "parts are sent side by side")
        #expect(document.member("dedupe", of: document.root) == nil && document.member("later", of: document.root) == nil)
        #expect(request.platforms == [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)])
    }

    @Test(arguments: [1, 119, 120, 128]) func theIdOfAPartIsOneHoweverLongThatOfTheWholeIs(_ length: Int) throws {
        var planning = Planning()
        let id = String(repeating: "x", count: length)
        try planning.plan(#""id":"\#(id)","audience":{"users":\#(list((0..<300).map { "u\($0)" }))}"#)
        let ids = try Self.parts(of: planning).map { try Self.plan($0).request }.map { $0.document.string($0.id) }
        #expect(Set(ids).count == 3 && ids.allSatisfy { $0.utf8.count <= 128 })
        #expect(ids.first == "\(id).0" || length > 119)
    }

    @Test func whatIsNotLargeHasOnePart() throws {
        var planning = Planning()
        try planning.plan(#""id":"news","audience":{"broadcast":true}"#)
        #expect(planning.planner.expansion(of: planning.plan, for: planning.request).count == 1)
        try Self.checkParts(of: planning, 1)
    }
}
