import Testing

@testable import HubServer
@testable import HubStore

/// The removal of what has expired, in a file and in memory.
struct DeviceExpiryTests {
    /// A registration of its own, and an installation with a template, for each second of 1970.
    private static func fill(_ store: any DeviceStore, expiring seconds: [Int64?]) throws {
        try store.change { (book) throws(RefusedCall) in
            for (number, time) in seconds.enumerated() {
                var registration = Registration(id: "1-\(number)-1", platform: .gcm, handle: "r\(number)", tags: ["a"])
                registration.expiresAt = time.map { $0 * 1000 }
                try book.write(registration)
                var target = InstallationTarget(pushChannel: "i\(number)", tags: ["a"])
                target.templates = [.init(name: "t", text: "{}", body: try InstallationReader.compiled("{}"))]
                var installation = StoredInstallation(id: "i\(number)", platform: .gcm, target: target)
                installation.expirationTime = time.map { "1970-01-01T00:00:\($0)Z" }
                var ordinal = 1
                let registrations = installation.registrations {
                    ordinal += 1
                    return "1-\(number)-\(ordinal)"
                }
                try book.write(installation, as: registrations)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 100]) func whatHasExpiredIsRemovedInPortions(_ limit: Int) throws {
        let file = try DeviceFile()
        for store in [MemoryDevices(), file.devices] as [any DeviceStore] {
            try Self.fill(store, expiring: [15, nil, 17, 16, 59])
            var counts: [Int] = []
            repeat { counts.append(try store.forgetExpired(before: 17_000, limit: limit)) } while counts.last != 0
            #expect(counts.allSatisfy { $0 <= limit } && counts.reduce(0, +) == 6)
            let left = try store.read { (book) throws(RefusedCall) in
                (try book.installationIDs(behind: nil, limit: 9), try book.page(of: .all, from: 0, limit: 99).page.map(\.id))
            }
            #expect(left.0 == ["i1", "i4"])
            #expect(left.1 == ["1-1-1", "1-1-2", "1-1-3", "1-4-1", "1-4-2", "1-4-3"])
        }
        #expect(try file.problems() == [])
        #expect(try file.devices.counts() == DeviceCounts(devices: 4, registrations: 6, installations: 2))
    }

    @Test func aRowThatCannotBeReadKeepsNoOther() throws {
        let file = try DeviceFile()
        try Self.fill(file.devices, expiring: [15, 16])
        try file.file.change { (connection) throws(RefusedCall) in
            try connection.execute("UPDATE registration SET content = x'' WHERE sequence < 4")
        }
        #expect(try file.devices.forgetExpired(before: 19_000, limit: 100) == 3)
        #expect(try file.devices.forgetExpired(before: 19_000, limit: 100) == 0)
    }
}
