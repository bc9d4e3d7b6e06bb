import Testing

@testable import HubServer
@testable import HubStore

/// The most that a call may put into a hub.
struct DeviceLimitTests {
    private static func templates(_ count: Int, body: String = "{}", tags: Int = 0) -> String {
        let names = (0..<tags).map { "\"t\($0)\"" }.joined(separator: ",")
        return (0..<count).map { "\"n\($0)\":{\"body\":\"\(body)\",\"tags\":[\(names)]}" }.joined(separator: ",")
    }

    private static func tiles(_ count: Int) -> String {
        (0..<count).map { "\"n\($0)\":{\"pushChannel\":\"https://a.example/\($0)\"}" }.joined(separator: ",")
    }

    private static func body(_ count: Int) -> String { "[" + String(repeating: "1,", count: count / 2) + "1]" }

    @Test(arguments: [
        (templates(50), true), (templates(99), true), (templates(100), false), (templates(10_000), false),
        (templates(1, body: body(60_000)), true), (templates(1, body: body(70_000)), false),
        (templates(10, body: body(60_000)), true), (templates(30, body: body(60_000)), false),
        (templates(90, tags: 100), true), (templates(90, tags: 200), false),
    ]) func anInstallationHasLimits(_ templates: String, isTaken: Bool) {
        let text = "{\"platform\":\"wns\",\"pushChannel\":\"https://a.example/1\",\"templates\":{\(templates)}}"
        #expect(
            Self.status { () throws(RefusedCall) in
                _ = try InstallationReader(Array(text.utf8)).installation(id: "i")
            } == (isTaken ? 200 : 400))
    }

    @Test(arguments: [(99, true), (100, false), (5000, false)]) func tilesCountAsTemplatesDo(_ count: Int, isTaken: Bool) {
        let text = "{\"platform\":\"wns\",\"pushChannel\":\"https://a.example/1\",\"secondaryTiles\":{\(Self.tiles(count))}}"
        #expect(
            Self.status { () throws(RefusedCall) in
                _ = try InstallationReader(Array(text.utf8)).installation(id: "i")
            } == (isTaken ? 200 : 400))
    }

    @Test(arguments: [("/templates/t", false), ("/tags", true)]) func aPatchHasTheSameLimits(_ path: String, isTaken: Bool) {
        let target = InstallationTarget(pushChannel: "https://a.example/1", tags: [])
        var installation = StoredInstallation(id: "i", platform: .windows, target: target)
        let value = isTaken ? "[\"a\"]" : "{\"body\":\"\(Self.body(70_000))\"}"
        let patch = "[{\"op\":\"add\",\"path\":\"\(path)\",\"value\":\(value)}]"
        #expect(
            Self.status { () throws(RefusedCall) in
                try InstallationPatch.apply(Array(patch.utf8), to: &installation)
            } == (isTaken ? 200 : 400))
    }

    @Test(arguments: [(60_000, 200), (70_000, 400), (1 << 20, 400)]) func aRegistrationHasLimits(_ count: Int, status: Int) {
        let text = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><GcmTemplateRegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><GcmRegistrationId>h</GcmRegistrationId>\
            <BodyTemplate>\(Self.body(count))</BodyTemplate></GcmTemplateRegistrationDescription></content></entry>
            """
        #expect(Self.status { () throws(RefusedCall) in _ = try RegistrationReader.read(Array(text.utf8)) } == status)
    }

    @Test func aDeviceHasLimits() throws {
        let file = try DeviceFile()
        let registrations = (0...Registration.maximumCount).map { number in
            var registration = Registration(id: "\(number)-1-1", platform: .gcm, handle: "h", tags: [])
            registration.installationID = number < 150 ? "i" : nil
            return registration
        }
        let last = Registration.maximumCount
        for store in [MemoryDevices(), file.devices] as [any DeviceStore] {
            let statuses = try store.change { (book) throws(RefusedCall) in
                for registration in registrations.dropLast() { try book.write(registration) }
                return [
                    Self.status { () throws(RefusedCall) in try book.checkRoom(for: [registrations[last]]) },
                    Self.status { () throws(RefusedCall) in try book.checkRoom(for: [registrations[3]]) },
                    Self.status { () throws(RefusedCall) in
                        try book.checkRoom(for: [registrations[last]], replacing: "i")
                    },
                ]
            }
            #expect(statuses == [400, 200, 200])
        }
    }

    @Test func aBodyIsCutWhereNoPushServiceTakesIt() throws {
        let values = Array(repeating: "\"$(a)\"", count: 5000).joined(separator: ",")
        let body = try BodyTemplate("[\(values)]").rendered(["a": String(repeating: "x", count: 1000)])
        #expect((64 << 10...70 << 10).contains(body.count))
    }

    private static func status(of body: () throws(RefusedCall) -> Void) -> Int {
        do throws(RefusedCall) { try body() } catch { return error.answer.status }
        return 200
    }
}
