import CurlHTTP
import EventLoop
import HubAuth
import HubEmulator
import HubREST
import HubServer
import PushModel
import TestSupport
import Testing

/// Calls about devices over a real socket.
@Suite(.tags(.threads)) struct RegistrationClientTests {
    /// Serves a hub and gives a client of it.
    private func calling(
        key: String? = nil, secondary: String? = nil, _ configure: (inout HubEmulatorConfiguration) -> Void = { _ in },
        _ body: (EmulatedHub, RegistrationClient) throws -> Void
    ) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configure(&configuration)
        let hub = try EmulatedHub(configuration)
        _ = try hub.start()
        defer { hub.stop(within: .zero) }
        try body(hub, try client(of: hub, key: key, secondary: secondary).client)
    }

    /// A client of a hub that serves, with the keys that it signs with, and what it knows of the hub.
    private func client(
        of hub: EmulatedHub, key: String? = nil, secondary: String? = nil,
        waitForTurn: (@Sendable () throws(RegistrationFailure) -> Void)? = nil
    ) throws -> (client: RegistrationClient, keys: HubKeys, settings: HubConfiguration) {
        let connection = try ConnectionString(parsing: hub.connectionString)
        var credential = connection.credential
        if let key { credential = SASCredential(policy: credential.policy, key: SecretKey(key)) }
        var settings = HubConfiguration(endpoint: connection.endpoint, hub: try HubName("demo"), credential: credential)
        if let secondary { settings.secondaryCredential = SASCredential(policy: credential.policy, key: SecretKey(secondary)) }
        let port = UInt16(clamping: connection.endpoint.effectivePort)
        var connections = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: port)
        connections.proxy = ""
        let keys = HubKeys(settings)
        let client = try RegistrationClient(
            settings, connections: connections, userAgent: "pushfan/test", timeout: farDeadline, keys: keys,
            now: { WallClock.millisecondsSince1970() }, waitForTurn: waitForTurn)
        return (client, keys, settings)
    }

    @Test func onlyCallsAboutDevicesWaitForTheirTurn() throws {
        try calling { hub, _ in
            let client = try client(of: hub) { () throws(RegistrationFailure) in
                throw RegistrationFailure(.held, code: .hubThrottled)
            }.client
            #expect(try failure { _ = try client.installation("a") }.cause == .held)
            #expect(hub.calls().isEmpty)
            let unknown = "5130ff935c30099074017b22bb144ef8-20261130074913-199308-57"
            #expect(try client.telemetry(of: unknown, within: farDeadline) == nil)
        }
    }

    @Test func keysThatChangeSignTheNextCall() throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(configuration)
        _ = try hub.start()
        defer { hub.stop(within: .zero) }
        let (client, keys, wrong) = try client(of: hub, key: "d3Jvbmc=")
        #expect(try failure { _ = try client.installation("a") }.status == 401)
        var right = wrong
        right.credential = SASCredential(policy: "other", key: SecretKey(HubEmulatorConfiguration.defaultPolicy.key))
        #expect(keys.renew(by: right) == .otherHub, "the policy is another one")
        #expect(try failure { _ = try client.installation("a") }.status == 401)
        right.credential = SASCredential(
            policy: wrong.credential.policy, key: SecretKey(HubEmulatorConfiguration.defaultPolicy.key))
        #expect(keys.renew(by: right) == .taken)
        #expect(keys.renew(by: right) == .unchanged, "it has that key already")
        #expect(try client.installation("a") == nil)
    }

    private func failure(_ body: () throws -> Void) throws -> RegistrationFailure {
        try #require(throws: RegistrationFailure.self) { try body() }
    }

    @Test(
        arguments: [
            (.apple, "62BCAA"), (.fcmv1, "f:\"<&>"), (.gcm, "g"), (.windows, "https://x.y/z?a=b&c=d"), (.adm, "a"),
            (.xiaomi, "x"), (.baidu, "u-c"), (.browser, #"{"endpoint":"https://e","p256dh":"p","auth":"s"}"#),
        ] as [(Platform, String)])
    func whatWasWrittenIsReadAndListed(platform: Platform, handle: String) throws {
        try calling { hub, client in
            let id = "a-b_c@d:e#f."
            #expect(try client.installation(id) == nil)
            var phone = Installation(
                id: id, platform: .known(platform), pushChannel: handle, tags: ["username:bob", "news"], userID: "bob")
            try client.put(phone)
            #expect(try client.installation(id) == phone)
            let listed = try client.registrations(of: handle, on: platform)
            #expect(listed.map(\.installationID) == [id] && listed.map(\.userID) == ["bob"])
            #expect(listed.map(\.kind) == [.native] && listed.map(\.platform) == [platform])
            phone.tags = ["World"]
            phone.userID = nil
            try client.put(phone)
            #expect(try client.installation(id) == phone)
            #expect(try client.registrations(of: handle, on: platform).map(\.tags) == [["World", "$InstallationId:{\(id)}"]])
            for _ in 0..<2 { try client.deleteInstallation(id) }
            #expect(try client.installation(id) == nil)
            #expect(try client.registrations(of: handle, on: platform).isEmpty)
            #expect(hub.calls().allSatisfy { [200, 204, 404].contains($0.status) })
        }
    }

    @Test func aPatchChangesAllOrNothing() throws {
        try calling { _, client in
            let absence = try failure { try client.patch("i", changes: [.adding(tag: "news")]) }
            #expect(absence.status == 404 && absence.cause == .absent && !absence.isWorthRetrying)
            var phone = Installation(id: "i", platform: .known(.gcm), pushChannel: "g", tags: ["World"], userID: "bob")
            try client.put(phone)
            try client.patch("i", changes: [.adding(tag: "news"), .adding(tag: "NEWS"), .removing(tag: "world")])
            phone.tags = ["news"]
            #expect(try client.installation("i") == phone)
            let wrong = InstallationChange(op: .replace, path: "/nothing", value: "x")
            #expect(try failure { try client.patch("i", changes: [.adding(tag: "a"), wrong]) }.status == 400)
            try client.patch("i", changes: [InstallationChange(op: .replace, path: "/pushChannel", value: "h")])
            phone.pushChannel = "h"
            #expect(try client.installation("i") == phone)
        }
    }

    @Test(arguments: [1, 2, 100]) func allRegistrationsOfATagAreFoundOnAnyNumberOfPages(pageCount: Int) throws {
        try calling { _, client in
            for index in 0..<5 {
                let user = index < 3 ? "bob" : "carol"
                try client.put(
                    Installation(
                        id: "i\(index)", platform: .known(.gcm), pushChannel: "g\(index)", tags: ["username:\(user)"],
                        userID: user))
            }
            for tag in ["username:bob", "USERNAME:BOB", "$UserId:{bob}"] {
                let listed = try client.registrations(tagged: tag, pageCount: pageCount)
                #expect(listed.compactMap(\.installationID).sorted() == ["i0", "i1", "i2"])
            }
            #expect(try client.registrations(tagged: "$InstallationId:{i4}", pageCount: pageCount).map(\.userID) == ["carol"])
            #expect(try client.registrations(tagged: "nobody").isEmpty)
        }
    }

    /// What an app made itself stays when the back end writes the installation again.
    @Test func templatesGoBackAsTheyWereFound() throws {
        try calling { hub, client in
            try hub.register(
                EmulatedDevice(
                    id: "i", platform: "apns", handle: "AB", templates: ["news": #"{"aps":{"alert":"$(messageParam)"}}"#]))
            var found = try #require(try client.installation("i"))
            #expect(found.templates != nil)
            found.tags = ["World"]
            try client.put(found)
            #expect(try client.installation("i") == found)
            let kinds = try client.registrations(of: "ab", on: .apple).map(\.kind)
            #expect(kinds == [.native, .template(name: "news")])
        }
    }

    @Test(arguments: [1, 2, 3, 100])
    func allRegistrationsOfAHandleAreFoundOnAnyNumberOfPages(pageCount: Int) throws {
        try calling { hub, client in
            for index in 0..<5 {
                try hub.register(EmulatedDevice(id: "i\(index)", platform: "apns", handle: "AB"))
                try hub.register(EmulatedDevice(id: "other\(index)", platform: "apns", handle: "CD"))
            }
            try hub.register(EmulatedDevice(id: "g", platform: "gcm", handle: "AB"))
            let listed = try client.registrations(of: "ab", on: .apple, pageCount: pageCount)
            #expect(listed.map(\.installationID) == (0..<5).map { "i\($0)" })
            #expect(hub.calls().count == (5 + pageCount - 1) / pageCount)
            let everywhere = try client.registrations(of: "AB", on: nil, pageCount: pageCount)
            #expect(everywhere.map(\.platform) == [.apple, .apple, .apple, .apple, .apple, .gcm])
        }
    }

    @Test func aRegistrationIsRemovedInItsVersionAndTwice() throws {
        try calling { hub, client in
            try hub.register(EmulatedDevice(id: "i", platform: "apns", handle: "AB"))
            let listed = try #require(try client.registrations(of: "AB", on: .apple).first)
            #expect(listed.etag == "1")
            let changed = try failure { try client.deleteRegistration(listed.id, etag: "2") }
            #expect(changed.status == 412 && !changed.isWorthRetrying)
            try client.deleteRegistration(listed.id, etag: listed.etag)
            for etag in [nil, listed.etag] { try client.deleteRegistration(listed.id, etag: etag) }
            #expect(try client.registrations(of: "AB", on: .apple).isEmpty)
        }
    }

    @Test func aWrongKeyIsToldWithoutTheKey() throws {
        let key = "d3Jvbmcta2V5LW5vdC10by1iZS1zaG93bg=="
        try calling(key: key) { hub, client in
            let phone = Installation(id: "i", platform: .known(.apple), pushChannel: "5EC2E7")
            let calls: [() throws -> Void] = [
                { try client.put(phone) }, { _ = try client.installation("i") }, { try client.deleteInstallation("i") },
                { _ = try client.registrations(of: "5EC2E7", on: .apple) }, { try client.deleteRegistration("1-2-3") },
            ]
            for call in calls {
                let told = try failure(call)
                #expect(told.status == 401 && told.code == .hubUnauthorized && !told.isWorthRetrying)
                #expect(told.trackingID != nil && told.hubCode == 401)
                var dumped = ""
                dump(told, to: &dumped)
                for text in ["\(told)", dumped] {
                    for secret in [key, "5EC2E7", "sig=", "SharedAccess"] { #expect(!text.contains(secret)) }
                }
            }
            #expect(hub.calls().allSatisfy { $0.status == 401 })
        }
    }

    @Test func theOtherKeyIsTriedWhenTheFirstIsRefused() throws {
        try calling(key: "d3Jvbmc=", secondary: HubEmulatorConfiguration.defaultPolicy.key) { (hub, client) throws in
            #expect(try client.installation("i") == nil)
            #expect(hub.calls().map(\.status) == [401, 401, 404])
            #expect(try client.installation("i") == nil)
            #expect(hub.calls().map(\.status) == [401, 401, 404, 404])
        }
    }

    @Test func aPolicyWithoutTheRightIsForbidden() throws {
        let policy = HubPolicy(name: "Send", key: "c2VuZC1vbmx5", rights: .send)
        try calling {
            $0.policies = [policy]
        } _: { _, client in
            let told = try failure { _ = try client.installation("i") }
            #expect(told.status == 403 && told.code == .hubForbidden && !told.isWorthRetrying)
        }
    }

    @Test(
        arguments: [
            ("status=403,retry-after=7", 403, 7000, .hubThrottled), ("status=429,retry-after=3", 429, 3000, .hubThrottled),
            ("throttle", 429, 10_000, .hubThrottled), ("status=503,body=html", 503, nil, .hubUnavailable),
            ("status=409", 409, nil, .hubThrottled), ("reset=before", nil, nil, .hubUnavailable),
            ("truncate", nil, nil, .hubUnavailable),
        ] as [(String, Int?, Int64?, ErrorCode)])
    func aBusyHubIsToldAndNotAskedAgain(fault: String, status: Int?, wait: Int64?, code: ErrorCode) throws {
        try calling { hub, client in
            try hub.register(EmulatedDevice(id: "i", platform: "apns", handle: "AB"))
            hub.arm([try Fault(parsing: fault + ",count=1")])
            let told = try failure { _ = try client.installation("i") }
            #expect(told.status == status && told.retryAfter == wait && told.code == code)
            #expect(told.isWorthRetrying)
            #expect(hub.calls().count == 1)
            #expect(try client.installation("i")?.pushChannel == "AB")
        }
    }

    @Test func aConnectionThatHasEndedIsReplaced() throws {
        try calling { hub, client in
            hub.arm([try Fault(parsing: "close-after=1")])
            for _ in 0..<5 { #expect(try client.installation("i") == nil) }
        }
    }

    @Test func aHubThatIsNotThereIsNoMissingDevice() throws {
        try calling {
            $0.hubName = "other"
        } _: { _, client in
            let told = try failure { try client.deleteInstallation("i") }
            #expect(told.status == 404 && told.code == .hubNotFound)
        }
    }

    @Test func whatNoHubCanHaveIsNotAskedFor() throws {
        try calling { hub, client in
            let told = try failure { _ = try client.installation("a/../b") }
            #expect(told.cause == .unusable && told.status == nil && !told.isWorthRetrying)
            #expect(hub.calls().isEmpty)
        }
    }

    /// More than two pages of them, and the hub throttles in the middle.
    @Test func allDevicesOfAUserAreRemovedAndNoOthers() throws {
        try calling { hub, client in
            for number in 0..<250 {
                try hub.register(
                    EmulatedDevice(
                        id: "i-\(number)", platform: "fcmV1", handle: "h-\(number)", userID: number < 200 ? "alice" : nil,
                        tags: number < 50 ? [] : ["username:alice"]))
            }
            try hub.register(EmulatedDevice(id: "b", platform: "fcmV1", handle: "b", userID: "bob", tags: ["username:bob"]))
            hub.arm([try Fault(parsing: "throttle,method=DELETE,after=100,count=1,retry-after=7")])
            var erasure = DeviceErasure(of: DeviceUser(tag: "username:alice", userID: "alice"))
            var waits: [Int64] = []
            let ending = erasure.run(
                by: client,
                wait: { milliseconds in
                    if milliseconds > 0 { waits.append(milliseconds) }
                    return true
                })
            #expect(ending == .done && erasure.progress.found == 250 && erasure.progress.removed == 250)
            #expect(waits.first == 7000)
            let left = hub.devices().filter { $0.registrationCount > 0 }
            #expect(left.map(\.handle) == ["b"])
        }
    }

    @Test func aKeyThatMayNotListIsTold() throws {
        try calling(key: "d3Jvbmc=") { _, client in
            var erasure = DeviceErasure(of: DeviceUser(tag: "username:alice", userID: "alice"))
            let ending = erasure.run(by: client, wait: { _ in true })
            #expect("\(ending)".contains("Manage"))
        }
    }

    @Test func anErasureThatIsStoppedEndsThere() throws {
        try calling { hub, client in
            var erasure = DeviceErasure(of: DeviceUser(tag: "username:alice", userID: "alice"))
            #expect(erasure.run(by: client, wait: { _ in false }) == .stopped)
            #expect(hub.calls().isEmpty)
        }
    }
}
