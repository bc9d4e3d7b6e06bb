import FanOut
import PushModel
import Testing

/// Random devices and audiences: those that the planned headers match are those that the audience means, neither more nor less.
struct FanOutPropertyTests {
    @Test(arguments: 0..<60)
    func plannedTagsReachExactlyTheAudience(seed: Int) throws {
        var random = Numbers(state: UInt64(seed) &* 0x9E37 &+ 5)
        for _ in 0..<5 {
            let devices = (0..<120).map { Device(number: $0, using: &random) }
            let audience = Audience.random(using: &random)
            var planning = Planning.forApple
            try planning.plan("\"audience\":\(audience.json)")
            let again = planning.plan.calls
            try planning.plan("\"audience\":\(audience.json)")
            #expect(planning.plan.calls == again)
            let expressions = try planning.tags().map { try TagExpression(parsing: $0) }
            for device in devices {
                let isReached = expressions.contains { $0.matches(device.tags) }
                #expect(isReached == audience.means(device), "\(device.tags) and \(audience.json)")
            }
        }
    }
}

/// A registered device, with its tags in lower case as a hub keeps them.
private struct Device {
    var user: String
    var installation: String
    var categories: Set<String>

    init(number: Int, using random: inout Numbers) {
        user = "user\(Int.random(in: 0..<60, using: &random))"
        installation = "inst-\(number)"
        categories = Set((0..<30).filter { _ in Int.random(in: 0..<8, using: &random) == 0 }.map { "cat\($0)" })
    }

    var tags: Set<String> {
        Set(["username:\(user)", "$installationid:{\(installation)}"]).union(categories)
    }
}

/// An audience, and by itself whom it means.
private struct Audience {
    var json: String
    var means: (Device) -> Bool

    static func random(using random: inout Numbers) -> Audience {
        let count = [1, 2, 19, 20, 21, 45][Int.random(in: 0..<6, using: &random)]
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let users = (0..<60).shuffled(using: &random).prefix(count).map { "user\($0)" }
            return Audience(json: "{\"users\":\(list(users))}") { users.contains($0.user) }
        case 1:
            let installations = (0..<130).shuffled(using: &random).prefix(count).map { "inst-\($0)" }
            return Audience(json: "{\"installations\":\(list(installations))}") { installations.contains($0.installation) }
        case 2:
            let categories = (0..<30).shuffled(using: &random).prefix(count).map { "cat\($0)" }
            return Audience(json: "{\"categories\":\(list(categories))}") { !$0.categories.isDisjoint(with: categories) }
        case 3:
            let (a, b, c) = (category(&random), category(&random), category(&random))
            return Audience(json: "{\"tag_expression\":\"(\(a) || !\(b)) && \(c)\"}") {
                ($0.categories.contains(a) || !$0.categories.contains(b)) && $0.categories.contains(c)
            }
        default:
            let (a, b, c) = (category(&random), category(&random), category(&random))
            return Audience(json: "{\"tag_expression\":\"\(a) && !(\(b) && \(c))\"}") {
                $0.categories.contains(a) && !($0.categories.contains(b) && $0.categories.contains(c))
            }
        }
    }

    private static func category(_ random: inout Numbers) -> String { "cat\(Int.random(in: 0..<30, using: &random))" }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, the same everywhere.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
