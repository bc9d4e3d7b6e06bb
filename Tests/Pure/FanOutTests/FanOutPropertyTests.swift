import FanOut
import PushModel
import TestSupport
import Testing

/// Random registrations and audiences: the calls reach the devices that the audience means, neither more nor less, and each once.
struct FanOutPropertyTests {
    @Test(arguments: 0..<80)
    func callsReachExactlyTheAudienceAndEachDeviceOnce(seed: Int) throws {
        var random = SeededRandom(seed)
        let hub = EmulatedRegistrations(sharedBy: 1, using: &random)
        for _ in 0..<4 {
            let audience = RandomAudience(using: &random)
            var planning = Planning(.generous)
            try planning.plan(audience.members)
            let rings = try hub.rings(of: planning)
            let meant = audience.handles ?? hub.devices(on: audience.platforms, where: audience.means)
            #expect(Set(rings.keys) == meant, "\(audience.members)")
            if !planning.plan.mayReachTwice || audience.isExclusive {
                #expect(rings.values.allSatisfy { $0 == 1 }, "\(rings.filter { $0.value > 1 }) \(audience.members)")
            }
            #expect(planning.plan.calls.count == audience.fewestCalls, "\(audience.members)")
            let calls = try planning.described()
            try planning.plan(audience.members)
            #expect(try planning.described() == calls)
        }
    }

    @Test(arguments: 0..<20)
    func whatMayRingTwiceIsSaidToDoSo(seed: Int) throws {
        var random = SeededRandom(seed + 900)
        let hub = EmulatedRegistrations(sharedBy: 3, using: &random)
        var twice = 0
        for _ in 0..<8 {
            let audience = RandomAudience(using: &random)
            var planning = Planning(.generous)
            try planning.plan(audience.members)
            let rings = try hub.rings(of: planning)
            if rings.values.contains(where: { $0 > 1 }) {
                twice += 1
                #expect(planning.plan.mayReachTwice, "\(audience.members)")
                #expect(planning.plan.calls.count { $0.platform == planning.plan.calls.first?.platform } > 1)
            }
        }
        #expect(twice < 8)
    }

    @Test func theSameTextsPlanAlikeHoweverTheyAreWritten() throws {
        let users = (0..<50).map { "u\($0)" }
        var plain = Planning(.generous)
        try plain.plan(#""audience":{"users":\#(list(users))}"#)
        let escaped = users.map { #"\u0075\#($0.dropFirst())"# }
        var other = Planning(.generous)
        try other.plan(
            "\"message\":{\"title\":\"Hi\"},\n \"audience\" : { \"users\" : [ \(escaped.map { "\"\($0)\"" }.joined(separator: " ,\n")) ] }"
        )
        #expect(try plain.described() == other.described())
        // A plan that was used for something else gives the same calls.
        try other.plan(#""audience":{"tag_expression":"a || b && c"}"#)
        try other.plan(#""audience":{"users":\#(list(users))}"#)
        #expect(try plain.described() == other.described())
    }
}

extension FanOutPlanner.Configuration {
    /// As many calls as a request takes.
    static var generous: Self {
        var configuration = Self()
        configuration.maximumCalls = 100_000
        return configuration
    }
}

extension Planning {
    /// Every call in words, so that plans can be compared.
    func described() throws -> [String] {
        plan.calls.map { call in
            let whom = tags(of: call) ?? (call.target == .broadcast ? "everyone" : handles(of: call).joined(separator: " "))
            return "\(call.platform.map { "\($0.name)" } ?? "template") \(call.chunk) \(whom)"
        }
    }
}

extension EmulatedRegistrations {
    /// 200 devices, each of which belongs to at most `count` users; some are registered twice.
    fileprivate init(sharedBy count: Int, using random: inout SeededRandom) {
        for number in 0..<200 {
            let platform = [Platform.apple, .fcmv1, .windows, .gcm][Int.random(in: 0..<4, using: &random)]
            let users = (0..<Int.random(in: 1...count, using: &random)).map { _ in "user\(Int.random(in: 0..<90, using: &random))"
            }
            let categories = (0..<30).filter { _ in Int.random(in: 0..<8, using: &random) == 0 }.map { "cat\($0)" }
            let tags = Set(users.map { "username:\($0)" } + categories)
            let handle = "ab\(number)"
            all.append(Registered(platform: platform, handle: handle, tags: tags.union(["$installationid:{inst-\(number)}"])))
            // The same device once more, by an old registration, with its handle in another case where that makes no difference.
            if Int.random(in: 0..<4, using: &random) == 0 {
                all.append(Registered(platform: platform, handle: platform == .apple ? "AB\(number)" : handle, tags: tags))
            }
        }
    }
}

/// An audience, and by itself whom it means and what it may cost.
private struct RandomAudience {
    /// The request's members.
    var members = ""
    var platforms: PlatformSet = [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)]
    var means: (Registered) -> Bool = { _ in true }
    /// The devices of an audience of handles, which need no registration.
    var handles: Set<String>?
    /// Whether a device that belongs to one user is in one part at most.
    var isExclusive = true
    var fewestCalls = 3

    init(using random: inout SeededRandom) {
        let count = [1, 2, 19, 20, 21, 40, 45][Int.random(in: 0..<7, using: &random)]
        let kind = Int.random(in: 0..<6, using: &random)
        switch kind {
        case 0: names("users", (0..<90).shuffled(using: &random).prefix(count).map { "user\($0)" }, "username:", "", &random)
        case 1:
            names(
                "installations", (0..<220).shuffled(using: &random).prefix(count).map { "inst-\($0)" }, "$installationid:{", "}",
                &random)
        case 2:
            names("categories", (0..<30).shuffled(using: &random).prefix(count).map { "cat\($0)" }, "", "", &random)
            isExclusive = fewestCalls == 3
        case 3: handles([5, 999, 1001, 2100][Int.random(in: 0..<4, using: &random)], &random)
        case 4: members = #""audience":{"broadcast":true}"#
        default: expression(&random)
        }
        guard kind != 3, Int.random(in: 0..<4, using: &random) == 0 else { return }
        // A template goes to all platforms at once.
        members += #","template":{"a":"b"}"#
        platforms = [.init(.apple), .init(.fcmv1), .init(.windows), .init(.gcm)]
        fewestCalls /= 3
    }

    /// A list, with names that stand in it a second time in capitals.
    private mutating func names(
        _ kind: String, _ names: [String], _ prefix: String, _ suffix: String, _ random: inout SeededRandom
    ) {
        let again = names.filter { _ in Int.random(in: 0..<5, using: &random) == 0 }.map { $0.uppercased() }
        members = #""audience":{"\#(kind)":\#(list((names + again).shuffled(using: &random)))}"#
        let tags = Set(names.map { prefix + $0 + suffix })
        means = { !$0.tags.isDisjoint(with: tags) }
        fewestCalls = 3 * ((names.count + 19) / 20)
    }

    /// Handles, some of them twice; Apple's in both cases.
    private mutating func handles(_ count: Int, _ random: inout SeededRandom) {
        var listed = (0..<count).map { (platform: $0 % 3 == 0 ? "wns" : "apns", handle: "c0ffe\(1_000_000 + $0)") }
        let meant = listed.map { Registered(platform: $0.platform == "wns" ? .windows : .apple, handle: $0.handle, tags: []) }
        for device in listed where Int.random(in: 0..<9, using: &random) == 0 {
            listed.append(
                (
                    device.platform == "wns" ? "windows" : "apple",
                    device.platform == "wns" ? device.handle : device.handle.uppercased()
                ))
        }
        members = devices(listed.shuffled(using: &random))
        handles = Set(meant.map(\.device))
        let windows = meant.count { $0.platform == .windows }
        fewestCalls = (windows + 999) / 1000 + (count - windows + 999) / 1000
    }

    private mutating func expression(_ random: inout SeededRandom) {
        let (a, b, c) = (category(&random), category(&random), category(&random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            members = #""audience":{"tag_expression":"(\#(a) || !\#(b)) && \#(c)"}"#
            means = { ($0.tags.contains(a) || !$0.tags.contains(b)) && $0.tags.contains(c) }
        case 1:
            members = #""audience":{"tag_expression":"\#(a) && !(\#(b) && \#(c))"}"#
            means = { $0.tags.contains(a) && !($0.tags.contains(b) && $0.tags.contains(c)) }
        default:
            // More tags than one call takes, and no device in both of its parts.
            let names = ["\(a) && x1 && x2 && x3 && x4", "!\(a) && (cat30 || cat31 || \(b) || \(c) || \(c))"]
            members = #""audience":{"tag_expression":"\#(names.joined(separator: " || "))"}"#
            means = { !$0.tags.contains(a) && ($0.tags.contains(b) || $0.tags.contains(c)) }
            fewestCalls = 3 * 2
        }
    }

    private func category(_ random: inout SeededRandom) -> String { "cat\(Int.random(in: 0..<30, using: &random))" }
}
