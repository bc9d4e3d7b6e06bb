import Testing

@testable import HubServer
@testable import HubStore

/// Devices in a file and their model in memory get the same calls.
struct DeviceModelTests {
    /// Both stores.
    private struct Pair {
        let model = MemoryDevices()
        let file: DeviceFile

        init(isSealed: Bool) throws { file = try DeviceFile(isSealed: isSealed) }

        /// Changes both.
        func change(_ body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> Void) throws {
            try model.change(body)
            try file.devices.change(body)
        }

        /// Expects the same answer of both, and returns it.
        @discardableResult
        func compare(
            _ comment: String, by body: @escaping @Sendable (any DeviceBook) throws(RefusedCall) -> String
        ) throws -> String {
            let (expected, found) = (try model.read(body), try file.devices.read(body))
            #expect(found == expected, "\(comment)")
            return found
        }
    }

    private static let rounds = 300

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aFileAnswersAsItsModel(_ seed: UInt64) throws {
        var draw = DeviceDraw(seed: seed)
        let pair = try Pair(isSealed: seed % 2 == 0)
        for round in 1...Self.rounds {
            try change(pair, by: &draw)
            try compareRecords(of: pair, by: &draw)
            try compareLists(of: pair, by: &draw)
            try compareAudiences(of: pair, by: &draw)
            if round % 100 == 0 {
                #expect(try pair.file.problems() == [], "round \(round)")
                try pair.file.reopen()
            }
        }
    }

    @Test func anEmptiedFileHasNoRowLeft() throws {
        var draw = DeviceDraw(seed: 7)
        let pair = try Pair(isSealed: false)
        for _ in 0..<100 { try change(pair, by: &draw) }
        try pair.change { (book) throws(RefusedCall) in
            for number in 0..<10 { try book.removeInstallation("i\(number)") }
            let left = try book.page(of: .all, from: 0, limit: 10_000).page
            for registration in left { try book.removeRegistration(registration.id) }
        }
        #expect(try pair.file.problems() == [])
        #expect(try pair.file.devices.counts() == DeviceCounts(devices: 0, registrations: 0, installations: 0))
        let tagCount = try pair.file.file.read { (connection) throws(RefusedCall) in
            try connection.row("SELECT count(*) FROM tag", with: []) { (row) throws(RefusedCall) in try row.number(0) }
        }
        #expect(tagCount == 0)
        try pair.compare("the next number") { (book) throws(RefusedCall) in "\(try book.end())" }
    }

    @Test func aRefusedChangeLeavesNothingBehind() throws {
        let file = try DeviceFile()
        #expect(throws: RefusedCall.self) {
            try file.devices.change { (book) throws(RefusedCall) in
                try book.write(Registration(id: "1-1-1", platform: .fcmv1, handle: "handle", tags: ["a"]))
                throw .invalid("not like this")
            }
        }
        #expect(try file.devices.read { (book) throws(RefusedCall) in try book.registration("1-1-1")?.id } == nil)
        #expect(try file.devices.counts() == DeviceCounts(devices: 0, registrations: 0, installations: 0))
        #expect(try file.problems() == [])
    }

    // MARK: - Changes

    private func change(_ pair: Pair, by draw: inout DeviceDraw) throws {
        switch draw.number(below: 10) {
        case 0...2:
            let registration = try draw.registration()
            try pair.change { (book) throws(RefusedCall) in try book.write(registration) }
        case 3:
            let id = draw.registrationID()
            try pair.change { (book) throws(RefusedCall) in try book.removeRegistration(id) }
        case 4...5:
            let (installation, now) = (try draw.installation(), draw.time())
            let registrations = installation.registrations { "\(draw.number(below: 1 << 40))-\(draw.number(below: 1 << 40))-3" }
                .map { registration in
                    var registration = registration
                    registration.writtenAt = now
                    return registration
                }
            try pair.change { (book) throws(RefusedCall) in try book.write(installation, as: registrations) }
        case 6:
            let id = draw.installationID()
            try pair.change { (book) throws(RefusedCall) in try book.removeInstallation(id) }
        case 7:
            let id = draw.installationID()
            try pair.change { (book) throws(RefusedCall) in try book.markExpired(installation: id) }
        case 8:
            let (device, time) = (device(by: &draw), draw.isOne(in: 2) ? draw.time() : nil)
            try pair.change { (book) throws(RefusedCall) in try book.expire(device, before: time) }
        default:
            try rewrite(pair, by: &draw)
        }
    }

    /// Changes that meet what others have written: within one change, and under the ids of an installation.
    private func rewrite(_ pair: Pair, by draw: inout DeviceDraw) throws {
        let (device, registration, isKept) = (device(by: &draw), try draw.registration(), draw.isOne(in: 2))
        let (id, tag) = (draw.installationID(), draw.tag())
        try pair.change { (book) throws(RefusedCall) in
            let found = try book.registrations(of: device)
            for registration in found { try book.removeRegistration(registration.id) }
            for registration in found.reversed() where isKept {
                var registration = registration
                registration.installationID = nil
                try book.write(registration)
            }
            guard var installation = try book.installation(id) else { return }
            let own = DeviceKey(platform: installation.platform, handle: installation.target.pushChannel)
            let derived = try book.registrations(of: own).filter { $0.installationID == id }
            installation.target.tags = [tag]
            if derived.count > 1 {
                try book.write(installation, as: derived)
            } else if let first = derived.first {
                var taken = registration
                taken.id = first.id
                try book.write(taken)
            }
        }
    }

    // MARK: - Answers

    private func compareRecords(of pair: Pair, by draw: inout DeviceDraw) throws {
        let (registration, installation, device) = (draw.registrationID(), draw.installationID(), device(by: &draw))
        try pair.compare("registration \(registration)") { (book) throws(RefusedCall) in
            DeviceText.of(try book.registration(registration))
        }
        try pair.compare("installation \(installation)") { (book) throws(RefusedCall) in
            DeviceText.of(try book.installation(installation))
        }
        try pair.compare("registrations of \(device)") { (book) throws(RefusedCall) in
            DeviceText.of(try book.registrations(of: device))
        }
        try pair.compare("the next number") { (book) throws(RefusedCall) in "\(try book.end())" }
    }

    private func compareLists(of pair: Pair, by draw: inout DeviceDraw) throws {
        let device = device(by: &draw)
        let element = draw.isOne(in: 2) ? device.platform.handleElement : "ChannelUri"
        let filter = try #require(RegistrationFilter("\(element) eq '\(device.handle)'"))
        let installation = "$installationid:{\(draw.installationID())}"
        for list in [RegistrationList.all, .tagged(draw.tag().lowercased()), .tagged(installation), .filtered(filter)] {
            let limit = draw.number(below: 30) + 1
            try pair.compare("\(list) by \(limit)") { (book) throws(RefusedCall) in
                var (text, cursor): (String, Int?) = ("", 0)
                while let place = cursor {
                    let (page, next) = try book.page(of: list, from: place, limit: limit)
                    text += DeviceText.of(page) + "\n---\n"
                    cursor = next
                }
                return text
            }
        }
    }

    private func compareAudiences(of pair: Pair, by draw: inout DeviceDraw) throws {
        let end = try pair.model.read { (book) throws(RefusedCall) in try book.end() }
        for _ in 0..<4 {
            let (audience, limit) = (try draw.audience(end: end), draw.number(below: 12) + 1)
            try pair.compare("\(audience) by \(limit)") { (book) throws(RefusedCall) in
                var (text, place): (String, DevicePlace?) = ("", nil)
                while true {
                    let page = try book.devices(of: audience, after: place, limit: limit)
                    text += DeviceText.of(page.devices) + "\n---\n"
                    guard let next = page.next else { return text }
                    place = next
                }
            }
        }
    }

    private func device(by draw: inout DeviceDraw) -> DeviceKey {
        let platform = draw.one(of: DeviceDraw.platforms)
        return DeviceKey(platform: platform, handle: draw.handle(on: platform))
    }
}
