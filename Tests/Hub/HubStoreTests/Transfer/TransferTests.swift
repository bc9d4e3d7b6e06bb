import Foundation
import SQLite
import TestSupport
import Testing

@testable import HubServer
@testable import HubStore

/// Moving devices out of a hub, and a user's devices away, over both stores.
struct TransferTests {
    enum Store: CaseIterable {
        case memory, file
    }

    /// Devices of a store of either kind.
    private final class Stage {
        let devices: any DeviceStore
        private let folder: TemporaryFolder?
        private let file: HubFile?

        init(_ store: Store) throws {
            guard store == .file else {
                (devices, folder, file) = (MemoryDevices(), nil, nil)
                return
            }
            let made = try TemporaryFolder()
            let opened = try HubFile(HubFileTerms(path: made.path("hub.db")))
            (devices, folder, file) = (FileDevices(opened), made, opened)
        }

        deinit { file?.close() }

        var path: String? { folder?.path("hub.db") }

        func write(_ count: Int, tags: [String], from first: Int = 0, installation: String? = nil) throws {
            let registrations = (first..<(first + count)).map { number in
                var registration = Registration(id: "1-\(number)-1", platform: .gcm, handle: "h\(number)", tags: tags)
                registration.installationID = installation
                return registration
            }
            try devices.change { (book) throws(RefusedCall) in
                for registration in registrations { try book.write(registration) }
            }
        }

        func lines() throws -> [String] { try Self.lines(of: devices) }

        static func lines(of devices: any DeviceStore) throws -> [String] {
            var export = RegistrationExport(of: devices)
            var lines: [String] = []
            while let part = try export.nextLines() { lines += part.map { String(decoding: $0, as: UTF8.self) } }
            #expect(export.count == lines.count)
            return lines
        }
    }

    @Test(arguments: Store.allCases) func anExportHasEveryRegistrationInItsOrder(store: Store) throws {
        let stage = try Stage(store)
        #expect(try stage.lines().isEmpty)
        try stage.write(2100, tags: ["news"])
        let lines = try stage.lines()
        #expect(lines.count == 2100)
        #expect(lines.enumerated().allSatisfy { $1.contains("<RegistrationId>1-\($0)-1</RegistrationId>") })
    }

    @Test func anExportNeedsNoFileOfItsOwn() throws {
        let stage = try Stage(.file)
        try stage.write(3, tags: ["news"])
        let path = try #require(stage.path)
        let stored = try StoredDevices(path: path, handleKey: nil)
        #expect(try Stage.lines(of: stored) == stage.lines())
        #expect(throws: RefusedCall.self) {
            try stored.change { (book) throws(RefusedCall) in try book.removeRegistration("1-0-1") }
        }
        #expect(throws: HubFileError.self) { _ = try StoredDevices(path: path, handleKey: [UInt8](repeating: 7, count: 32)) }
        #expect(throws: HubFileError.self) { _ = try StoredDevices(path: path + ".none", handleKey: nil) }
    }

    @Test(arguments: Store.allCases) func aUserIsErasedByAnyOfTheTags(store: Store) throws {
        let stage = try Stage(store)
        try stage.write(450, tags: ["news", "username:alice"])
        try stage.write(3, tags: ["username:bob"], from: 450)
        try stage.write(1, tags: ["$UserId:{Alice}"], from: 453)
        var removal = UserRemoval(ofTags: ["username:Alice", "$UserId:{alice}"])
        try removal.run(on: stage.devices)
        #expect(removal.registrationCount == 451 && removal.installationCount == 0)
        #expect(try stage.lines().count == 3)
    }

    @Test(arguments: Store.allCases) func anInstallationOfAUserGoesAsAWhole(store: Store) throws {
        let stage = try Stage(store)
        var installation = StoredInstallation(id: "i-1", platform: .gcm, target: InstallationTarget(pushChannel: "h1"))
        installation.userID = "alice"
        installation.target.templates = [
            InstallationTarget.Template(name: "t", text: "{}", body: try BodyTemplate("{}"))
        ]
        let whole = installation
        try stage.devices.change { (book) throws(RefusedCall) in
            var number = 0
            let registrations = whole.registrations {
                number += 1
                return "2-\(number)-1"
            }
            try book.write(whole, as: registrations)
        }
        var removal = UserRemoval(ofTags: ["$UserId:{alice}"])
        try removal.run(on: stage.devices)
        #expect(removal.installationCount == 1 && removal.registrationCount == 0)
        #expect(try stage.lines().isEmpty)
        #expect(try stage.devices.read { (book) throws(RefusedCall) in try book.installation("i-1") } == nil)
    }

    @Test func aFileThatIsWrittenAnewHasNothingOfRemovedRows() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("hub.db")
        let file = try HubFile(HubFileTerms(path: path))
        #expect(throws: HubFileError.inUse(path: path)) { try HubFile.rewrite(path: path, handleKey: nil) }
        // Without this pragma the bytes of removed rows stay in the file, as rare copies do with it.
        try file.change { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in try connection.database.execute("PRAGMA secure_delete = OFF") }
        }
        try file.setValue("kept", to: Array("name-of-bob".utf8))
        try file.setValue("removed", to: Array("name-of-alice".utf8))
        try file.change { (connection) throws(RefusedCall) in
            try connection.run("DELETE FROM meta WHERE name = 'removed'", with: [])
        }
        file.close()
        let place = URL(fileURLWithPath: path)
        #expect(try Data(contentsOf: place).range(of: Data("name-of-alice".utf8)) != nil)
        try HubFile.rewrite(path: path, handleKey: nil)
        #expect(try Data(contentsOf: place).range(of: Data("name-of-alice".utf8)) == nil)
        #expect(try HubFile.check(path: path, handleKey: nil).problems.isEmpty)
        let again = try HubFile(HubFileTerms(path: path))
        defer { again.close() }
        #expect(try again.value("kept") == Array("name-of-bob".utf8))
    }

    @Test(arguments: Store.allCases) func anInstallationWhoseHandleIsGoneIsErasedToo(store: Store) throws {
        let stage = try Stage(store)
        try stage.devices.change { (book) throws(RefusedCall) in
            for (number, tag) in ["news", "username:alice", "news"].enumerated() {
                let target = InstallationTarget(pushChannel: "h\(number)", tags: [tag])
                var installation = StoredInstallation(id: "i-\(number)", platform: .gcm, target: target)
                installation.userID = number == 2 ? "alice" : "bob"
                try book.write(installation, as: installation.registrations { "3-\(number)-1" })
                try book.expire(DeviceKey(platform: .gcm, handle: "h\(number)"))
            }
        }
        var removal = UserRemoval(ofTags: ["username:Alice", "$UserId:{alice}"])
        try removal.run(on: stage.devices)
        #expect(removal.installationCount == 2 && removal.unreadableCount == 0)
        let left = try stage.devices.read { (book) throws(RefusedCall) in try book.installationIDs(behind: nil, limit: 9) }
        #expect(left == ["i-0"])
    }

    /// A derived registration whose installation is gone must not be found for ever.
    @Test func whatHasNoInstallationAnyMoreIsErasedToo() throws {
        let stage = try Stage(.memory)
        try stage.write(2, tags: ["username:alice"], installation: "gone")
        var removal = UserRemoval(ofTags: ["username:alice"])
        try removal.run(on: stage.devices)
        #expect(try stage.lines().isEmpty)
    }

    @Test(arguments: Store.allCases) func aTrialForgetsWhatIsWritten(store: Store) throws {
        let stage = try Stage(store)
        try stage.write(1, tags: ["news"])
        let seen = try stage.devices.read { (book) throws(RefusedCall) in
            let trial = TrialBook(over: book)
            trial.removeRegistration("1-0-1")
            trial.write(Registration(id: "1-9-1", platform: .gcm, handle: "h9", tags: []))
            return (try trial.registration("1-0-1") != nil, try trial.registration("1-9-1") == nil)
        }
        #expect(seen == (true, true))
        #expect(try stage.lines().count == 1)
    }
}

extension UserRemoval {
    /// Finds all, and removes it.
    fileprivate mutating func run(on devices: any DeviceStore) throws(RefusedCall) {
        try find(on: devices)
        try remove(from: devices)
    }
}
