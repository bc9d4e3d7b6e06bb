import FanOut
import Testing

@testable import HubServer
@testable import HubStore

/// Values that are in a file, and are none that were written.
struct DeviceDamageTests {
    @Test(arguments: [
        "UPDATE registration SET content = x''", "UPDATE registration SET content = x'ffffffffffffffffff7f'",
        "UPDATE registration SET content = x'00ff01'", "UPDATE registration SET id = x'01'", "UPDATE registration SET id = x''",
        "UPDATE registration SET sealed = x'00'",
        "UPDATE device SET handle = x''", "UPDATE device SET handle = x'07'",
        "UPDATE device SET id = id + (200 << 40); UPDATE registration SET device = device + (200 << 40)",
    ])
    func aValueThatCannotBeReadIsRefusedWith503(_ damage: String) throws {
        let file = try DeviceFile()
        let audience = DeviceAudience(expression: nil, platform: nil, now: 0)
        try file.devices.change { (book) throws(RefusedCall) in
            var registration = Registration(id: "1-1-1", platform: .fcmv1, handle: "handle", tags: ["a"])
            registration.template = Registration.Template(name: nil, text: "{}", body: try InstallationReader.compiled("{}"))
            try book.write(registration)
        }
        try file.file.change { (connection) throws(RefusedCall) in try connection.execute(damage) }
        let statuses = [
            status(of: file) { (book) throws(RefusedCall) in _ = try book.page(of: .all, from: 0, limit: 1) },
            status(of: file) { (book) throws(RefusedCall) in _ = try book.registration("1-1-1") },
        ]
        #expect(statuses[0] == 503 && [200, 503].contains(statuses[1]))
        let page = try file.devices.read { (book) throws(RefusedCall) in
            try book.devices(of: audience, after: nil, limit: 1)
        }
        #expect(page.devices.isEmpty && page.next == nil && page.unreadableCount == 1)
        #expect(try file.problems().contains("1 registrations cannot be read"))
    }

    @Test func aRegistrationThatCannotBeReadKeepsNoOtherFromANotification() throws {
        let file = try DeviceFile()
        try file.devices.change { (book) throws(RefusedCall) in
            for number in 1...9 {
                try book.write(Registration(id: "\(number)-1-1", platform: .fcmv1, handle: "\(number)", tags: ["a"]))
            }
        }
        try file.file.change { (connection) throws(RefusedCall) in
            try connection.execute("UPDATE registration SET content = x'' WHERE device & 1 = 0")
        }
        let audience = DeviceAudience(expression: try TagExpression(parsing: "a"), platform: .fcmv1, now: 0)
        let page = try file.devices.read { (book) throws(RefusedCall) in
            try book.devices(of: audience, after: nil, limit: 100)
        }
        #expect(page.devices.map(\.place.number) == [1, 3, 5, 7, 9] && page.unreadableCount == 4)
    }

    @Test(arguments: [
        "UPDATE installation SET document = x''", "UPDATE installation SET document = x'0040'",
        "UPDATE installation SET document = x'00ffffffffffffffffff7f'", "UPDATE installation SET registrations = x'05'",
        "UPDATE installation SET channel_holder = 7", "UPDATE installation SET registrations = x'01ffffffffffffffffff7f'",
    ])
    func anInstallationThatCannotBeReadIsRefusedWith503(_ damage: String) throws {
        let file = try DeviceFile()
        try file.devices.change { (book) throws(RefusedCall) in
            let target = InstallationTarget(pushChannel: "handle", tags: [])
            let installation = StoredInstallation(id: "i", platform: .fcmv1, target: target)
            try book.write(installation, as: installation.registrations { "1-1-1" })
        }
        try file.file.change { (connection) throws(RefusedCall) in try connection.execute(damage) }
        #expect(status(of: file) { (book) throws(RefusedCall) in _ = try book.installation("i") } == 503)
        #expect(try file.problems().contains { $0.contains("installation") })
    }

    @Test(arguments: [
        "next_device = 1 << 40", "next_device = 9223372036854775807", "next_sequence = -1", "device_count = -1",
    ])
    func aTallyThatCannotBeIsRefusedWith503(_ damage: String) throws {
        let file = try DeviceFile()
        try file.file.change { (connection) throws(RefusedCall) in
            try connection.execute("UPDATE device_tally SET " + damage)
        }
        #expect(throws: RefusedCall.self) {
            try file.devices.change { (book) throws(RefusedCall) in
                try book.write(Registration(id: "1-1-1", platform: .fcmv1, handle: "handle", tags: []))
            }
        }
        #expect(try file.devices.read { (book) throws(RefusedCall) in try book.registration("1-1-1")?.id } == nil)
    }

    @Test(arguments: [("a", 1), ("a && a", 1), ("a || a", 1), ("!!a", 1), ("!a", 0), ("!a || a", 1)])
    func aPostingOfNoRegistrationIsSteppedOver(_ text: String, count: Int) throws {
        let (file, expression) = (try DeviceFile(), try TagExpression(parsing: text))
        try file.devices.change { (book) throws(RefusedCall) in
            try book.write(Registration(id: "1-1-1", platform: .fcmv1, handle: "handle", tags: ["a"]))
        }
        // The greatest number of all has none behind it.
        let damage = "INSERT INTO tagged SELECT tag, device, 9223372036854775807 FROM tagged"
        try file.file.change { (connection) throws(RefusedCall) in try connection.execute(damage) }
        let found = try [HubPlatform.fcmv1, nil].map { platform in
            let audience = DeviceAudience(expression: expression, platform: platform, now: 0)
            return try file.devices.read { (book) throws(RefusedCall) in
                try book.devices(of: audience, after: nil, limit: 10).devices.count
            }
        }
        #expect(found == [count, 0])
        #expect(try file.problems().count == 1)
    }

    private func status(
        of file: DeviceFile, after body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Void
    ) -> Int {
        do throws(RefusedCall) {
            try file.devices.read(body)
            return 200
        } catch {
            return error.answer.status
        }
    }
}
