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
                for limits in Self.limits {
                    let found = try Self.places(of: audience, in: file, by: limits)
                    #expect(found == expected, "\(text) before \(end ?? -1) by \(limits)")
                }
            }
        }
    }

    /// Limits by which pages end early: after each posting, after each device, and both with windows of one device.
    private static let limits = [
        AudienceSearch.Limits(postingCount: 1), AudienceSearch.Limits(byteCount: 1),
        AudienceSearch.Limits(byteCount: 1, postingCount: 1, windowCount: 1), AudienceSearch.Limits(windowCount: 7),
    ]

    /// The places of an audience in a file, by pages of some limits.
    private static func places(
        of audience: DeviceAudience, in file: DeviceFile, by limits: AudienceSearch.Limits
    ) throws -> [DevicePlace] {
        try file.file.read { (connection) throws(RefusedCall) in
            var (places, place): ([DevicePlace], DevicePlace?) = ([], nil)
            repeat {
                let page = try page(of: audience, after: place, by: limits, on: connection)
                places += page.devices.map(\.place)
                place = page.next
            } while place != nil
            return places
        }
    }

    private static func page(
        of audience: DeviceAudience, after place: DevicePlace?, by limits: AudienceSearch.Limits, on connection: HubConnection
    ) throws(RefusedCall) -> AudiencePage {
        var (tags, rows) = (TagRows(of: connection), RegistrationRows(of: connection))
        return try AudienceSearch(for: audience, limits: limits, tags: &tags, on: connection)
            .devices(after: place, limit: deviceCount, rows: &rows)
    }

    @Test(arguments: ["all && !all", "two && !(all && two)", "!all", "all && two && !two"])
    func aPageWithoutDevicesEndsByWhatItLookedAt(_ text: String) throws {
        let file = try DeviceFile()
        try file.devices.change { (book) throws(RefusedCall) in
            for number in 0..<Self.deviceCount { try book.write(try Self.registration(number)) }
        }
        let audience = DeviceAudience(expression: try TagExpression(parsing: text), platform: .fcmv1, now: 0)
        let page = try file.file.read { (connection) throws(RefusedCall) in
            let limits = AudienceSearch.Limits(postingCount: 50, windowCount: 16)
            return try Self.page(of: audience, after: nil, by: limits, on: connection)
        }
        let next = try #require(page.next)
        #expect(page.devices.isEmpty && next.number < 300)
    }

    @Test func aPageOfExpiredRegistrationsEndsByWhatItLookedAt() throws {
        let file = try DeviceFile()
        try file.devices.change { (book) throws(RefusedCall) in
            for number in 0..<100 {
                var registration = Registration(id: "\(number)-1-1", platform: .fcmv1, handle: "\(number)", tags: [])
                registration.expiresAt = 5
                try book.write(registration)
            }
        }
        let audience = DeviceAudience(expression: nil, platform: .fcmv1, now: 5)
        let page = try file.file.read { (connection) throws(RefusedCall) in
            try Self.page(of: audience, after: nil, by: AudienceSearch.Limits(postingCount: 10), on: connection)
        }
        let next = try #require(page.next)
        #expect(page.devices.isEmpty && next.number < 20)
    }

    /// The places of an audience, page by page.
    private static func places(
        of audience: DeviceAudience, in store: any DeviceStore, limit: Int
    ) throws -> [DevicePlace] {
        var places: [DevicePlace] = []
        var place: DevicePlace?
        repeat {
            let page = try store.read { [place] (book) throws(RefusedCall) in
                try book.devices(of: audience, after: place, limit: limit)
            }
            places += page.devices.map(\.place)
            place = page.next
        } while place != nil
        return places
    }
}
