import FanOut
import PushModel
import TestSupport
import Testing

/// Audiences that come name by name, part by part.
struct AudiencePartsTests {
    private static func planning(_ members: String) throws -> Planning {
        var planning = Planning()
        try planning.read(#""audience":{"users":["sample"]}\#(members)"#)
        return planning
    }

    /// The audiences of all parts, with their names and calls.
    private static func parts(_ names: [String], _ parts: AudienceParts) throws -> [(json: String, names: Int, calls: Int)] {
        var parts = parts
        var found: [(json: String, names: Int, calls: Int)] = []
        func note() {
            var json = ByteWriter()
            parts.appendAudience(to: &json)
            #expect(parts.chunk == found.count)
            found.append((json.text, parts.count, parts.callCount))
        }
        for name in names { if try parts.add(Array(name.utf8).span) { note() } }
        while parts.finish() { note() }
        return found
    }

    @Test(
        arguments: [
            (1, "", [1], 3), (100, "", [100], 15), (101, "", [100, 1], 18), (1000, "", Array(repeating: 100, count: 10), 150),
            (700, #","platforms":["apple"]"#, [320, 320, 60], 35), (330, #","template":{"a":"b"}"#, [320, 10], 17),
            (0, "", [], 0),
        ])
    func partsAreFullButTheLast(_ count: Int, _ members: String, _ sizes: [Int], _ calls: Int) throws {
        let planning = try Self.planning(members)
        let names = (0..<count).map { "u\($0)" }
        let parts = try Self.parts(names, planning.planner.parts(of: .users, for: planning.request))
        #expect(parts.map(\.names) == sizes)
        #expect(parts.reduce(0) { $0 + $1.calls } == calls)
        if let first = parts.first, let size = sizes.first {
            #expect(first.json == #"{"users":\#(list(Array(names.prefix(size))))}"#)
        }
    }

    @Test(arguments: 0..<20) func theyAreThePartsOfARequestWithTheSameList(seed: Int) throws {
        var random = SeededRandom(seed)
        let names = (0..<(110 + random.below(4000))).map { "u\($0)" }.shuffled(using: &random)
        var planning = Planning()
        try planning.plan(#""audience":{"users":\#(list(names))}"#)
        let expansion = planning.planner.expansion(of: planning.plan, for: planning.request)
        let audiences = (0..<expansion.count).map { chunk in
            var json = ByteWriter()
            planning.plan.appendAudience(of: chunk, in: expansion, for: planning.request, to: &json)
            return json.text
        }
        let parts = try Self.parts(names, planning.planner.parts(of: .users, for: planning.request))
        #expect(parts.map(\.json) == audiences)
        #expect(parts.reduce(0) { $0 + $1.calls } == expansion.callCount)
    }

    @Test func aPartOfCategoriesIsARequestThatIsRead() throws {
        let planning = try Self.planning(#","template":{"a":"b"}"#)
        let parts = try Self.parts((0..<450).map { "c\($0)" }, planning.planner.parts(of: .categories, for: planning.request))
        #expect(parts.map(\.names) == [200, 200, 50])
    }

    @Test func handlesFillAPartOfTheirPlatform() throws {
        var parts = FanOutPlanner().partsOfHandles()
        var found: [(Int, String)] = []
        func note() {
            var json = ByteWriter()
            parts.appendAudience(to: &json)
            #expect(parts.callCount == 1)
            found.append((parts.count, String(json.text.prefix(42))))
        }
        for number in 0..<2500 {
            let platform: Platform = number % 5 == 0 ? .windows : .apple
            if try parts.add(Array("c0ffe\(1_000_000 + number)".utf8).span, of: platform) { note() }
        }
        while parts.finish() { note() }
        try #require(found.map(\.0) == [1000, 1000, 500])
        #expect(found[0].1 == #"{"devices":[{"platform":"apple","handle":""#)
        #expect(found[2].1.contains("windows"))
    }

    /// The audience, and the hub, of each part.
    private static func sharedParts(
        _ parts: AudienceParts, _ texts: [String], add: (inout AudienceParts, Span<UInt8>) throws -> Bool
    ) throws -> [(hub: String, texts: [String])] {
        var parts = parts
        var found: [(hub: String, texts: [String])] = []
        func note() throws {
            var json = ByteWriter()
            parts.appendAudience(to: &json)
            let words = json.text.split(separator: "\"").map(String.init).filter { $0.hasPrefix("n") }
            #expect(words.count == parts.count && parts.chunk == found.count)
            found.append((try #require(parts.hub), words))
        }
        for text in texts { if try add(&parts, Array(text.utf8).span) { try note() } }
        while parts.finish() { try note() }
        return found
    }

    @Test(arguments: [false, true]) func hubsOfASpreadGetTheirOwnAlone(areHandles: Bool) throws {
        let spread = HubSpread(["a", "b", "c"])
        let planning = try Self.planning("")
        let texts = (0..<4000).map { "n\($0)" }
        let planner = planning.planner
        let parts =
            areHandles ? planner.partsOfHandles(over: spread) : planner.parts(of: .users, for: planning.request, over: spread)
        let found = try Self.sharedParts(parts, texts) { parts, text in
            areHandles ? try parts.add(text, of: .windows) : try parts.add(text)
        }
        #expect(found.flatMap(\.texts).sorted() == texts.sorted())
        for part in found {
            #expect(part.texts.allSatisfy { spread.hub(of: Array($0.utf8).span) == spread.hubs.firstIndex(of: part.hub) })
        }
        // Only the last part of each hub is not full.
        #expect(Set(found.map(\.hub)).count == 3 && found.count { $0.texts.count < (areHandles ? 1000 : 100) } <= 3)
    }

    /// By that it is decided whether brokers take all parts.
    @Test(arguments: [nil, HubSpread(["a", "bcd"])] as [HubSpread?])
    func noPartIsLongerThanItsWriterSays(spread: HubSpread?) throws {
        let planning = try Self.planning("")
        let writer = PartWriter(
            planning.request, body: planning.request.document.root, platforms: PlatformSet(.apple), key: ParentKey("t:0:7"),
            partition: 3, chunks: 12, publishedAt: Timestamp(milliseconds: 1_795_176_000_000))
        var parts = planning.planner.parts(of: .users, for: planning.request, over: spread)
        func check() {
            var json = ByteWriter()
            writer.append(parts.chunk, hub: parts.hub, to: &json) { parts.appendAudience(to: &$0) }
            let most = writer.maximumByteCount(audience: parts.ownByteCount)
            #expect((json.count...json.count + 32).contains(most))
        }
        for number in 0..<1234 { if try parts.add(Array("u\(number)".utf8).span) { check() } }
        while parts.finish() { check() }
        #expect(parts.chunk >= 12)
    }

    @Test func longHandlesFillAPartBeforeItIsTooLargeToBeRead() throws {
        var parts = FanOutPlanner().partsOfHandles()
        let handle = Array(String(repeating: "x", count: 4096).utf8)
        var sizes: [Int] = []
        for _ in 0..<200 { if try parts.add(handle.span, of: .windows) { sizes.append(parts.count) } }
        #expect(sizes.count == 3 && sizes.allSatisfy { $0 < 70 })
    }

    @Test(
        arguments: [
            (.installations, ""), (.installations, "a b"), (.installations, "a\"b"), (.installations, "é"),
            (.installations, String(repeating: "x", count: 121)), (.users, ""), (.users, "a\nb"), (.users, "a "),
            (.users, String(repeating: "x", count: 256)),
        ] as [(FanOutPlanner.NameKind, String)])
    func aNameThatMakesNoTagIsRefusedAndTheRestGoesOn(_ kind: FanOutPlanner.NameKind, _ name: String) throws {
        let planning = try Self.planning("")
        var parts = planning.planner.parts(of: kind, for: planning.request)
        #expect(throws: RequestFault.self) { _ = try parts.add(Array(name.utf8).span) }
        #expect(throws: RequestFault.self) { _ = try parts.add(Array("h".utf8).span, of: .apple) }
        _ = try parts.add(Array("good".utf8).span)
        let hasRest = parts.finish()
        #expect(hasRest && parts.count == 1)
        var handles = planning.planner.partsOfHandles()
        #expect(throws: RequestFault.self) { _ = try handles.add(Array("good".utf8).span) }
    }

    /// Parts are no longer than of plain names then, and the hub of a user is that of the name.
    @Test func usersStandInPartsByTheirForms() throws {
        let spread = HubSpread(["a", "b", "c"])
        let planning = try Self.planning("")
        for name in ["Jürgen", "say \"hi\"", "a+b@example.com", String(repeating: "한", count: 80)] {
            var parts = planning.planner.parts(of: .users, for: planning.request, over: spread)
            _ = try parts.add(Array(name.utf8).span)
            let hasRest = parts.finish()
            var json = ByteWriter()
            parts.appendAudience(to: &json)
            let form = try UserTag.Pattern("username:{user}").tag(of: name).form
            #expect(hasRest && json.text == "{\"users\":[\"\(form)\"]}")
            #expect(parts.hub == spread.hubs[spread.hub(of: Array(name.utf8).span)])
        }
    }
}
