import FanOut
import PushModel
import TestSupport
import Testing

struct HubSpreadTests {
    private static func hub(_ name: String, _ spread: HubSpread) -> String {
        let place = spread.hub(of: Array(name.utf8).span)
        return spread.hubs.indices.contains(place) ? spread.hubs[place] : "no hub \(place)"
    }

    /// Worked out apart from this code, by the contract in the comment of `HubSpread`: whoever registers devices relies on it.
    static let places: [(user: String, hub: String)] = [
        ("alice", "shop-3"),
        ("Alice", "shop-3"),
        ("bob", "shop-2"),
        ("carol", "shop-2"),
        ("4711", "shop-1"),
        ("", "shop-1"),
        ("o'hara", "shop-2"),
        ("møller", "shop-1"),
        ("0b9c7a52-6a1f-4b0e-9a55-4f2f0f6a3c11", "shop-2"),
    ]

    @Test(arguments: places) func theContractIsKept(_ user: String, _ hub: String) {
        #expect(Self.hub(user, HubSpread(["shop-1", "shop-2", "shop-3"])) == hub)
    }

    @Test func theOrderOfTheHubsDoesNotMatter() {
        let (one, other) = (HubSpread(["a", "b", "c", "d"]), HubSpread(["d", "b", "a", "c"]))
        for number in 0..<1000 { #expect(Self.hub("user-\(number)", one) == Self.hub("user-\(number)", other)) }
    }

    @Test func lettersAreTheSameInBothCasesAsTheyAreInTags() {
        let spread = HubSpread(["a", "b", "c", "d"])
        for number in 0..<200 { #expect(Self.hub("User-\(number)É", spread) == Self.hub("uSER-\(number)É", spread)) }
    }

    @Test func aLetterIsTheSameHoweverItIsComposed() {
        let spread = HubSpread(["a", "b", "c", "d"])
        for number in 0..<200 { #expect(Self.hub("É\(number)", spread) == Self.hub("E\u{301}\(number)", spread)) }
    }

    @Test(arguments: [2, 3, 5, 16]) func everyHubHasItsPart(_ count: Int) {
        let spread = HubSpread((0..<count).map { "hub-\($0)" })
        var counts: [String: Int] = [:]
        for number in 0..<20_000 { counts[Self.hub("user-\(number)", spread), default: 0] += 1 }
        let part = 20_000 / count
        #expect(counts.count == count && counts.values.allSatisfy { abs($0 - part) < part / 7 }, "\(counts)")
    }

    @Test func aHubThatIsAddedTakesItsPartAndNobodyMovesElsewhere() {
        let (before, after) = (HubSpread(["a", "b", "c"]), HubSpread(["a", "b", "c", "d"]))
        var moved = 0
        for number in 0..<10_000 {
            let (old, new) = (Self.hub("user-\(number)", before), Self.hub("user-\(number)", after))
            guard old != new else { continue }
            #expect(new == "d")
            moved += 1
        }
        #expect((2200..<2800).contains(moved))
    }

    static let wholes: [(members: String, name: String?)] = [
        (#""audience":{"users":["alice"]}"#, "alice"), (#""audience":{"users":["alice","ALICE"]}"#, "alice"),
        (#""audience":{"installations":["alice"]}"#, "alice"),
        (#""audience":{"users":["u1","u2","u3","u4","u5","u6","u7","u8"]}"#, nil),
        (#""audience":{"devices":[{"platform":"apple","handle":"aa"}]}"#, "aa"),
        (#""audience":{"broadcast":true}"#, nil), (#""audience":{"categories":["World"]}"#, nil),
        (#""audience":{"tag_expression":"a && b"}"#, nil),
    ]

    @Test(arguments: wholes) func aRequestGoesToOneHubWhenAllItNamesAreThere(_ members: String, _ name: String?) throws {
        var planning = Planning.forApple
        try planning.read(members)
        let spread = HubSpread(["a", "b", "c"])
        #expect(spread.onlyHub(of: planning.request) == name.map { spread.hub(of: Array($0.utf8).span) })
        #expect(HubSpread(["a"]).onlyHub(of: planning.request) == 0)
    }
}

/// What a request becomes that goes to several hubs.
struct SpreadPartsTests {
    private static let spread = HubSpread(["a", "b", "c"])

    private struct Part {
        var hub: Int
        var audience: String
        var calls: Int
    }

    private static func parts(_ members: String) throws -> [Part] {
        var planning = Planning()
        try planning.plan(members)
        let parts = planning.planner.parts(of: planning.plan, for: planning.request, over: spread)
        var list: [Part] = []
        for number in 0..<parts.count {
            var json = ByteWriter()
            parts.appendAudience(of: number, in: planning.plan, for: planning.request, to: &json)
            let audience = String(decoding: json.bytes, as: UTF8.self)
            var own = Planning()
            try own.plan("\"audience\":\(audience)")
            #expect(!own.planner.isLarge(own.plan), "a part has no more calls than one request may make")
            list.append(Part(hub: parts.hub(of: number), audience: audience, calls: own.plan.calls.count))
        }
        #expect(list.reduce(0) { $0 + $1.calls } == parts.callCount)
        return list
    }

    private static func names(in audience: String) -> [String] {
        audience.split(separator: "\"").map(String.init).filter { $0.hasPrefix("u-") }
    }

    @Test(arguments: [2, 20, 21, 500, 3000]) func everyUserIsInOnePartAndThatIsItsHubs(_ count: Int) throws {
        let users = (0..<count).map { "u-\($0)" }
        let parts = try Self.parts(#""audience":{"users":\#(list(users))}"#)
        var found: [String] = []
        for part in parts {
            let names = Self.names(in: part.audience)
            #expect(names.allSatisfy { Self.spread.hub(of: Array($0.utf8).span) == part.hub })
            found += names
        }
        #expect(found.sorted() == users.sorted())
        #expect(parts.map(\.hub) == parts.map(\.hub).sorted())
    }

    static let everywhere = [
        #""audience":{"broadcast":true}"#, #""audience":{"categories":["World","Sports"]}"#,
        #""audience":{"tag_expression":"a && (b || c)"}"#,
    ]

    @Test(arguments: everywhere) func whatIsForNoUserGoesToEveryHub(_ members: String) throws {
        let parts = try Self.parts(members)
        #expect(parts.map(\.hub) == [0, 1, 2] && Set(parts.map(\.audience)).count == 1)
    }

    @Test func handlesGoToTheirHubs() throws {
        let handles = (0..<2500).map { (platform: $0 % 2 == 0 ? "wns" : "fcmv1", handle: "u-\($0)") }
        let parts = try Self.parts(devices(handles))
        var found: [String] = []
        for part in parts {
            let names = Self.names(in: part.audience)
            #expect(names.allSatisfy { Self.spread.hub(of: Array($0.utf8).span) == part.hub })
            found += names
        }
        #expect(found.sorted() == handles.map(\.handle).sorted())
    }
}
