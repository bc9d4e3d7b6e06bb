import FanOut
import Testing

@testable import HubServer
@testable import HubStore

/// Audiences among so many devices that sets are stepped through, looked up again, and left behind.
struct AudienceModelTests {
    private static let deviceCount = 1200
    private static let expressions = [
        "two", "rare", "two && three", "rare && three", "early && late", "late && !two", "!rare", "!two && !three",
        "rare || late", "!early || rare", "!(two || three) && early", "(rare || late) && !(two && three)", "!nobody", "nobody",
        "nobody || rare", "two && nobody", "all && last", "all && !last", "first || last",
    ]

    /// A device of the number, with those tags that go with it.
    private static func registration(_ number: Int) throws(RefusedCall) -> Registration {
        let conditions = [
            ("all", true), ("two", number % 2 == 0), ("three", number % 3 == 0), ("rare", number % 97 == 0),
            ("early", number < deviceCount / 3), ("late", number >= deviceCount / 3), ("first", number == 0),
            ("last", number == deviceCount - 1),
        ]
        let platforms: [HubPlatform] = [.fcmv1, .apple, .xiaomi]
        var registration = Registration(
            id: "\(number)-1-1", platform: platforms[number % platforms.count], handle: "\(number)",
            tags: conditions.filter(\.1).map(\.0))
        if number % 5 == 0 {
            registration.template = Registration.Template(name: nil, text: "{}", body: try InstallationReader.compiled("{}"))
        }
        return registration
    }

    @Test(arguments: [nil, HubPlatform.fcmv1, .xiaomi])
    func aLargeAudienceIsThatOfTheModel(_ platform: HubPlatform?) throws {
        let (model, file) = (MemoryDevices(), try DeviceFile())
        for store in [model, file.devices] as [any DeviceStore] {
            try store.change { (book) throws(RefusedCall) in
                for number in 0..<Self.deviceCount { try book.write(try Self.registration(number)) }
            }
        }
        for text in Self.expressions {
            for end in [nil, DeviceNumber(Self.deviceCount / 2)] {
                var audience = DeviceAudience(expression: try TagExpression(parsing: text), platform: platform, now: 0)
                audience.end = end
                let expected = try Self.places(of: audience, in: model, limit: Self.deviceCount)
                #expect(try Self.places(of: audience, in: file.devices, limit: 70) == expected, "\(text) before \(end ?? -1)")
            }
        }
    }

    /// The places of an audience, page by page.
    private static func places(
        of audience: DeviceAudience, in store: any DeviceStore, limit: Int
    ) throws -> [DevicePlace] {
        var places: [DevicePlace] = []
        while true {
            let last = places.last
            let page = try store.read { (book) throws(RefusedCall) in
                try book.devices(of: audience, after: last, limit: limit).map(\.place)
            }
            places += page
            if page.count < limit { return places }
        }
    }
}
