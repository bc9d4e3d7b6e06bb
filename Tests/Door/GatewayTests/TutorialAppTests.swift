import Foundation
import HTTPServing
import HubEmulator
import TestSupport
import Testing

/// The tutorials' apps register over real HTTP, and what rings shows at whose devices: gateway, Kafka, worker and hub are all there.
@Suite(.tags(.threads)) struct TutorialAppTests {
    private let stage: AppStage

    init() throws { stage = try AppStage.shared.get() }

    /// The calls by which the hub was told of an installation.
    private func writes(of id: String) -> Int {
        stage.hub.calls().count { $0.method == "PUT" && $0.target.contains("/installations/\(id)?") }
    }

    private func tags(_ handle: String) -> Set<String> { Set(stage.device(handle)?.tags ?? []) }

    @Test func everyAppRegistersInItsOwnOrderOfCalls() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let phone = try stage.phone(of: alice)
        let id = try #require(phone.registrationID)
        #expect(UUID(uuidString: id) != nil && phone.canSend)
        #expect(phone.session.calls == ["POST /api/register?handle=\(phone.handle) 200", "PUT /api/register/\(id) 200"])
        let android = try stage.android(of: alice)
        let androidID = try #require(android.registrationID)
        #expect(
            android.session.calls == ["POST /api/register?handle=\(android.handle) 200", "PUT /api/register/\(androidID) 200"])
        let windows = try stage.windows(of: bob)
        let windowsID = try #require(windows.registrationID)
        #expect(windows.session.calls == ["POST /api/register 200", "PUT /api/register/\(windowsID) 200"])
        let rows: [(handle: String, platform: String, id: String, tags: Set<String>)] = [
            (phone.handle, "apple", id, ["username:\(alice)"]), (android.handle, "fcmv1", androidID, ["username:\(alice)"]),
            (windows.channel, "windows", windowsID, ["username:\(bob)", "myTag"]),
        ]
        for row in rows {
            let device = try #require(stage.device(row.handle))
            #expect(device.platform == row.platform && device.installations == [row.id] && device.registrationCount == 1)
            #expect(row.tags.isSubset(of: device.tags))
        }
    }

    @Test(arguments: ["gcm", "fcm", "fcmv1", "FCM"]) func everyWordForAndroidIsOnePlatform(word: String) throws {
        let user = stage.word("alice")
        let app = try stage.android(of: user, word: word)
        #expect(stage.device(app.handle)?.platform == "fcmv1")
        #expect(try app.send("Hi", to: user, on: [word]) == [200])
        #expect(stage.rung(app.handle).map { $0.data("message") } == ["From \(user): Hi"])
    }

    @Test func aWrongPasswordRegistersNothing() throws {
        let app = IOSApp(stage.port, token: stage.token())
        let failure = #expect(throws: AppSession.Failure.self) { try app.logIn("alice", "wrong") }
        #expect(failure == AppSession.Failure(status: 401) && !app.canSend && app.registrationID == nil)
        #expect(stage.device(app.handle) == nil)
    }

    @Test(arguments: [1, 32, 64, 100, 256]) func tokensOfEveryLengthRegister(byteCount: Int) throws {
        let user = stage.word("alice")
        let app = IOSApp(stage.port, token: stage.token(byteCount: byteCount))
        try app.logIn(user, user)
        #expect(tags(app.handle).contains("username:\(user)"))
    }

    @Test func anElidedTokenIsRefusedWithTheRemedy() throws {
        let user = stage.word("alice")
        let app = IOSApp(stage.port, token: stage.token(), description: .elided)
        let failure = #expect(throws: AppSession.Failure.self) { try app.logIn(user, user) }
        #expect(failure == AppSession.Failure(status: 400) && app.session.calls.count == 1)
        let answer = try app.session.call(
            "POST", "/api/register?handle=%7BLENGTH=32,BYTES=0X6F2A...0B0C%7D", [basic(user, user)])
        #expect(answer.body.contains("Hex-encode the bytes"))
        #expect(stage.hub.devices(tag: "username:\(user)").isEmpty)
    }

    @Test func tagsOfTheAppAreKeptAndThoseOfOthersRefused() throws {
        let (alice, bob, category) = (stage.word("alice"), stage.word("bob"), stage.word("category"))
        let app = IOSApp(stage.port, token: stage.token())
        try app.logIn(alice, alice, tags: [category, "username:\(alice)"])
        #expect(tags(app.handle).isSuperset(of: [category, "username:\(alice)"]))
        let others = [
            "username:\(bob)", "UserName:\(bob)", "from:\(bob)", "$UserId:{\(bob)}", "$InstallationId:{\(bob)}", "not a tag",
        ]
        for tag in others {
            let failure = #expect(throws: AppSession.Failure.self) { try app.logIn(alice, alice, tags: [tag]) }
            #expect(failure == AppSession.Failure(status: 400))
        }
        #expect(tags(app.handle).contains(category), "a refused call changes nothing")
        let content = #""payloads":{"apple":{"body":{"aps":{"alert":"News"}}}}"#
        try stage.publish(#"{"audience":{"categories":["\#(category)"]},"platforms":["apple"],\#(content)}"#)
        #expect(eventually { stage.rung(app.handle).map(\.alert) == ["News"] })
    }

    @Test func repeatedStartsWriteOnce() throws {
        let user = stage.word("alice")
        let app = try stage.phone(of: user)
        for _ in 0..<20 { try app.logIn(user, user) }
        let id = try #require(app.registrationID)
        #expect(writes(of: id) == 1 && stage.device(app.handle)?.registrationCount == 1)
    }

    @Test func aStaleIDHealsInOneRound() throws {
        let user = stage.word("alice")
        let (phone, android, windows) = (try stage.phone(of: user), try stage.android(of: user), try stage.windows(of: user))
        let old = HubSession(port: stage.hubPort, AppStage.listenPolicy)
        let rows: [(id: String?, session: AppSession, handle: String, again: () throws -> Void)] = [
            (phone.registrationID, phone.session, phone.handle, { try phone.logIn(user, user) }),
            (android.registrationID, android.session, android.handle, { try android.logIn(user, user) }),
            (windows.registrationID, windows.session, windows.channel, { try windows.logIn(user, user) }),
        ]
        for row in rows {
            let id = try #require(row.id)
            try old.call("DELETE", "installations/\(id)", "api-version=2020-06", [])
            #expect(stage.device(row.handle)?.registrationCount == 0)
            row.session.forgetCalls()
            try row.again()
            #expect(row.session.calls == ["PUT /api/register/\(id) 200"])
            #expect(stage.device(row.handle)?.installations == [id])
        }
    }

    @Test func anAppInstalledAgainFindsItsID() throws {
        let user = stage.word("alice")
        let phone = try stage.phone(of: user)
        let again = IOSApp(stage.port, token: phone.token)
        try again.logIn(user, user)
        #expect(again.registrationID == phone.registrationID && again.registrationID != nil)
        let android = try stage.android(of: user)
        let androidAgain = AndroidApp(stage.port, handle: android.handle)
        try androidAgain.logIn(user, user)
        #expect(androidAgain.registrationID == android.registrationID)
        // This app never tells its channel: it gets another id, and the old one goes.
        let windows = try stage.windows(of: user)
        let windowsAgain = WindowsApp(stage.port, channel: windows.channel)
        try windowsAgain.logIn(user, user)
        #expect(windowsAgain.registrationID != windows.registrationID)
        for handle in [phone.handle, android.handle, windows.channel] {
            #expect(stage.device(handle)?.registrationCount == 1)
        }
        #expect(try again.send("Hi", to: user, on: ["apns", "gcm", "wns"]) == [200, 200, 200])
        for handle in [phone.handle, android.handle, windows.channel] { #expect(stage.rungCount(handle) == 1) }
    }

    @Test func anotherTokenReplacesTheOldOne() throws {
        let user = stage.word("alice")
        let app = try stage.phone(of: user)
        let old = app.handle
        app.token = stage.token()
        try app.logIn(user, user)
        #expect(stage.device(old)?.registrationCount == 0)
        #expect(try app.send("Hi", to: user, on: ["apns"]) == [200])
        #expect(stage.rungCount(old) == 0 && stage.rungCount(app.handle) == 1)
    }

    @Test func oldNativeRegistrationsGoAndTemplatesStay() throws {
        let (alice, category) = (stage.word("alice"), stage.word("World"))
        let app = IOSApp(stage.port, token: stage.token())
        let channel = stage.channel()
        let backEnd = HubSession(port: stage.hubPort, AppStage.listenPolicy)
        for _ in 0..<3 { #expect(try backEnd.registerNatively(app.handle, on: .apple, tags: "username:\(alice)") == 200) }
        #expect(try backEnd.registerNatively(channel, on: .windows, tags: "username:\(alice)") == 200)
        let news = NewsApp(stage.hubPort, handle: app.handle)
        try news.subscribe(to: [category])
        #expect(stage.device(app.handle)?.registrationCount == 4)
        try app.logIn(alice, alice)
        #expect(stage.device(app.handle)?.registrationCount == 2)
        let windows = WindowsApp(stage.port, channel: channel)
        try windows.logIn(alice, alice)
        #expect(stage.device(channel)?.registrationCount == 1)
        #expect(try app.send("Hi", to: alice, on: ["apns", "wns"]) == [200, 200])
        #expect(stage.rung(app.handle).map(\.alert) == ["From \(alice): Hi"] && stage.rungCount(channel) == 1)
        let desk = HubSession(port: stage.hubPort, AppStage.sendPolicy)
        #expect(try desk.send("x", to: category) == 201)
        #expect(stage.rung(app.handle).last?.alert == "Breaking \(category) News : x" && stage.rungCount(app.handle) == 2)
    }

    @Test func aDeviceThatChangesItsUserIsTheNewOnes() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let app = try stage.phone(of: alice)
        let id = app.registrationID
        try app.logIn(bob, bob)
        #expect(app.registrationID == id && stage.device(app.handle)?.registrationCount == 1)
        #expect(tags(app.handle).contains("username:\(bob)") && !tags(app.handle).contains("username:\(alice)"))
        #expect(try app.send("Hi", to: alice, on: ["apns"]) == [200])
        #expect(stage.rungCount(app.handle) == 0)
        #expect(try app.send("Hi", to: bob, on: ["apns"]) == [200])
        #expect(stage.rungCount(app.handle) == 1)
    }

    @Test func eachDeviceOfAUserCanBeRemovedAloneAndByTheUserAlone() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let phones = try (0..<3).map { _ in try stage.phone(of: alice) }
        let id = try #require(phones[0].registrationID)
        let session = phones[0].session
        for target in ["/api/register/\(id)", "/api/register/\(id)?handle=\(phones[0].handle)"] {
            #expect(try session.call("DELETE", target, [basic(bob, bob)], "\"\(phones[0].handle)\"").status == 404)
        }
        for _ in 0..<2 {
            let answer = try session.call("DELETE", "/api/register/\(id)", [basic(alice, alice)])
            #expect(answer.status == 200 && answer.body.isEmpty)
        }
        #expect(try phones[1].send("Hi", to: alice, on: ["apns"]) == [200])
        #expect(phones.map { stage.rungCount($0.handle) } == [0, 1, 1])
    }
}
