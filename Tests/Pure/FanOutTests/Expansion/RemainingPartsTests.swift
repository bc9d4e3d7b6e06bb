import FanOut
import PushModel
import TestSupport
import Testing

/// The steps in which the parts of a large request are written.
struct RemainingPartsTests {
    private static func parts(_ sizes: [Int]) -> RemainingParts {
        var parts = RemainingParts()
        for size in sizes { parts.add { for _ in 0..<size { $0.append(UInt8(ascii: "x")) } } }
        return parts
    }

    /// How many parts of so many bytes a step writes, with so many repeated in each and so much room.
    @Test(
        arguments: [
            // All, where they fit, or where one would be left.
            (1, 100, 1000, 0, 1), (2, 100, 300_000, 0, 2), (3, 10, 1000, 0, 3), (100, 1000, 4000, 1_048_576, 100),
            // As many as fill the room together with the continuation.
            (100, 1000, 300_000, 1_048_576, 3), (100, 1000, 300_000, 4_194_304, 13), (100, 1000, 300_000, Int.max, 13),
            // At least as much as the continuation has.
            (100, 1000, 300_000, 8192, 2), (100, 1000, 10, 0, 51),
            // So many that the continuation can be read.
            (100, 20_000, 100, 0, 74),
        ])
    func aStepFillsItsRoomAndIsWorthItsContinuation(count: Int, size: Int, repeated: Int, room: Int, step: Int) {
        let parts = Self.parts([Int](repeating: size, count: count))
        #expect(parts.stepCount(repeated: repeated, room: room) == step)
    }

    @Test(arguments: 0..<200) func noStepIsMuchLargerThanItsRoomOrThanWhatItWouldTakeAnyway(seed: Int) {
        var random = SeededRandom(seed)
        let repeated = 200 + random.below(380_000)
        let sizes = (0..<2 + random.below(300)).map { _ in 20 + random.below(400) }
        let room = random.below(6 << 20)
        let parts = Self.parts(sizes)
        let step = parts.stepCount(repeated: repeated, room: room)
        #expect((1...sizes.count).contains(step) && step != sizes.count - 1)
        let audiences = sizes.reduce(0, +)
        let bytes = (step + 1) * repeated + audiences
        // One part more, the continuation itself, and what JSON has around parts.
        let wanted = max(min(room, RemainingParts.largestStep), 2 * (repeated + audiences))
        let most = wanted + 2 * (repeated + 400) + 15_000
        #expect(bytes <= most || step == sizes.count && sizes.count * repeated + audiences <= most)
    }

    /// Reads what was written as whoever has its partition does.
    private static func read(_ record: String) throws -> PushRequest {
        var request = PushRequest()
        let origin = RecordOrigin(topic: "own", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(.strict, from: .own).read(
            Array(record.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
        try #require(reading == .request, "\(record)")
        return request
    }

    /// The records of all parts, by way of as many continuations as it takes; and how many these were.
    private static func chain(_ writer: PartWriter, _ parts: RemainingParts, room: Int) throws -> ([String], continuations: Int) {
        var (writer, parts) = (writer, parts)
        var records: [String] = []
        var count = 0
        while true {
            let step = parts.stepCount(repeated: writer.repeatedByteCount, room: room)
            for index in 0..<step {
                var json = ByteWriter()
                writer.append(index, of: parts, to: &json)
                records.append(json.text)
            }
            guard step < parts.count else { return (records, count) }
            var json = ByteWriter()
            writer.appendContinuation(from: step, of: parts, to: &json)
            #expect(json.count <= RequestReader.maximumRecordByteCount)
            let request = try read(json.text)
            let whole = try #require(PartReference(of: request))
            #expect(whole.chunk == records.count)
            parts = try #require(RemainingParts(of: request, body: request.document.root))
            writer = PartWriter(request, body: request.document.root, platforms: request.platforms, of: whole)
            count += 1
        }
    }

    private static let members = #"""
        ,"source":"/a\"b","tenant":"t1","hub":"h","created_at":"2026-11-20T12:00:00Z","ttl_seconds":60,"priority":"low",
        "message":{"title":"Hi \"you\"","data":{"a":"b"}},"options":{"max_attempts":3},"labels":{"campaign":"mlb"},
        "collapse_key":"c","replay":{"root_request_id":"a","parent_request_id":"b","generation":1,"job_id":"j"}
        """#

    private static func audiences() -> [String] {
        let users = (0..<1700).map { "u\($0)" }
        let tags = (0..<111).map { "t\($0)" }.joined(separator: " || ")
        let handles = (0..<8000).map { (platform: $0 % 2 == 0 ? "apple" : "fcmv1", handle: "c0ffe\(1_000_000 + $0)") }
        return [
            #""audience":{"users":\#(list(users))}"#, #""audience":{"categories":\#(list(Array(users.prefix(200))))}"#,
            #""audience":{"tag_expression":"\#(tags)"}"#, devices(handles),
        ]
    }

    @Test(arguments: 0..<4, [1, 3000, 60_000, Int.max])
    func theStepsWriteJustThePartsThatOneTransactionWould(audience: Int, room: Int) throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.maximumCalls = 1
        var planning = Planning(configuration)
        try planning.plan(#""id":"news",\#(Self.audiences()[audience])\#(Self.members)"#)
        let (request, plan) = (planning.request, planning.plan)
        let expansion = planning.planner.expansion(of: plan, for: request)
        var platforms = planning.planner.platforms(of: request)
        if case .devices = request.audience { platforms = [] }
        let writer = PartWriter(
            request, body: request.document.root, platforms: platforms, key: ParentKey("t:0:7"), partition: 3,
            chunks: expansion.count, publishedAt: Timestamp(milliseconds: 1_795_176_000_123))
        var parts = RemainingParts()
        var direct: [String] = []
        for chunk in 0..<expansion.count {
            parts.add { plan.appendAudience(of: chunk, in: expansion, for: request, to: &$0) }
            var json = ByteWriter()
            writer.append(chunk, to: &json) { plan.appendAudience(of: chunk, in: expansion, for: request, to: &$0) }
            direct.append(json.text)
        }
        try #require(direct.count > 4)
        let (records, continuations) = try Self.chain(writer, parts, room: room)
        #expect(records == direct)
        #expect(continuations > 0 || room > 3000)
    }

    @Test(arguments: [1, 8000]) func eachPartKeepsItsHub(room: Int) throws {
        var planning = Planning()
        try planning.plan(#""id":"news","audience":{"broadcast":true}\#(Self.members)"#)
        let request = planning.request
        let writer = PartWriter(
            request, body: request.document.root, platforms: [], key: ParentKey("t:0:7"), partition: 3, chunks: 40,
            publishedAt: Timestamp(milliseconds: 0))
        var parts = RemainingParts()
        for chunk in 0..<40 { parts.add(hub: "shop-\(chunk % 3)") { $0.append("{\"users\":[\"u\(chunk)\"]}") } }
        let (records, continuations) = try Self.chain(writer, parts, room: room)
        #expect(continuations > 1 && records.count == 40)
        for (chunk, record) in records.enumerated() {
            let part = try Self.read(record)
            #expect(part.hub.map { part.document.string($0) } == "shop-\(chunk % 3)" && part.remaining == nil)
            #expect(record.contains(#""audience":{"users":["u\#(chunk)"]}"#) && PartReference(of: part)?.chunk == chunk)
        }
    }

    @Test func whatIsNoContinuationCarriesNothing() throws {
        var planning = Planning()
        try planning.plan(#""id":"news","audience":{"broadcast":true}"#)
        #expect(RemainingParts(of: planning.request, body: planning.request.document.root) == nil)
    }
}
