import Basics
import Delivery
import HubEmulator
import TestSupport
import Testing
import WorkerRuntime

/// What becomes of a device and its handle between its first registration and its end.
@Suite(.tags(.threads)) struct DeviceLifeTests {
    private let stage: AppStage

    init() throws { stage = try AppStage.shared.get() }

    /// Registers as no app of the tutorials does it.
    ///
    /// - Returns: The status.
    private func put(_ id: String, _ word: String, _ handle: String, tags: [String] = [], as user: String) throws -> Int {
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        return try AppSession(port: stage.port).call(
            "PUT", "/api/register/\(id)", [basic(user, user), "Content-Type: application/json"],
            #"{"Platform":"\#(word)","Handle":"\#(handle)","Tags":[\#(list)]}"#
        ).status
    }

    @Test func withoutATokenNothingIsCalledAndALateOneRegisters() throws {
        let user = stage.word("alice")
        let app = IOSApp(stage.port)
        try app.logIn(user, user)
        #expect(app.session.calls.isEmpty && !app.canSend)
        app.token = stage.token()
        try app.logIn(user, user)
        #expect(app.session.calls.count == 2 && app.canSend)
        #expect(try app.send("Hi", to: user, on: ["apns"]) == [200])
        #expect(stage.rung(app.handle).map(\.alert) == ["From \(user): Hi"])
    }

    @Test(arguments: [("apns", "apple"), ("wns", "windows"), ("fcm", "fcmv1"), ("gcm", "fcmv1")])
    func anotherPutChangesHandleAndTags(word: String, platform: String) throws {
        let (user, id, first, second) = (stage.word("alice"), stage.word("id"), stage.word("first"), stage.word("second"))
        let handles = (0..<2).map { (_: Int) -> String in
            switch platform {
            case "apple": IOSApp(stage.port, token: stage.token()).handle
            case "windows": stage.channel()
            default: stage.word("f")
            }
        }
        #expect(try put(id, word, handles[0], tags: [first], as: user) == 200)
        let old = try #require(stage.device(handles[0]))
        #expect(old.platform == platform && old.installations == [id])
        #expect(Set(old.tags).isSuperset(of: ["username:\(user)", first]))
        #expect(try put(id, word, handles[1], tags: [second], as: user) == 200)
        #expect(stage.device(handles[0])?.registrationCount == 0)
        let new = try #require(stage.device(handles[1]))
        #expect(new.platform == platform && new.installations == [id] && new.registrationCount == 1)
        #expect(Set(new.tags).isSuperset(of: ["username:\(user)", second]) && !new.tags.contains(first))
        let answer = try AppSession(port: stage.port).call(
            "POST", "/api/notifications?pns=\(word)&to_tag=\(user)", [basic(user, user), "Content-Type: application/json"],
            #""Hi""#)
        #expect(answer.status == 200 && handles.map { stage.rungCount($0) } == [0, 1])
    }

    @Test(arguments: ["mpns", "foo"]) func platformsThatThereAreNotRegisterNothing(word: String) throws {
        let (user, handle) = (stage.word("alice"), stage.word("f"))
        #expect(try put(stage.word("id"), word, handle, as: user) == 400)
        #expect(stage.device(handle) == nil && stage.hub.devices(tag: "username:\(user)").isEmpty)
    }

    @Test func ofThreeInstallationsOfAHandleOneStaysAndItsIDIsAnswered() throws {
        let (alice, bob) = (stage.word("alice"), stage.word("bob"))
        let app = IOSApp(stage.port, token: stage.token())
        for (id, user) in [("a", bob), ("b", alice), ("c", bob)] {
            try stage.hub.register(
                EmulatedDevice(id: "\(alice)-\(id)", platform: "apns", handle: app.handle, tags: ["username:\(user)"]))
        }
        #expect(stage.device(app.handle)?.registrationCount == 3)
        let answer = try app.session.call("POST", "/api/register?handle=\(app.handle)", [basic(alice, alice)])
        #expect(answer.status == 200 && answer.body == "\"\(alice)-b\"")
        #expect(stage.device(app.handle)?.installations == ["\(alice)-b"] && stage.device(app.handle)?.registrationCount == 1)
    }

    /// The hub forgets a device whose token is gone, and tells which one it was; the token itself is told to nobody.
    @Test func aDeadTokenIsToldByItsHashAndAddressedNoMore() throws {
        let user = stage.word("alice")
        let (dead, alive) = (try stage.phone(of: user), try stage.phone(of: user))
        let line = "refuse=ExpiredChannel,device=\(dead.handle),count=1"
        stage.hub.script([try TelemetryScript(parsing: line)], replacing: false)
        let session = AppSession(port: stage.trackingPort)
        let target = "/api/notifications?pns=apns&to_tag=\(user)"
        let fields = [basic(user, user), "Content-Type: application/json"]
        #expect(try session.call("POST", target, fields, #""one""#).status == 200)
        let hash = String(decoding: SHA256.hexadecimalDigest(of: Array(dead.handle.utf8)), as: UTF8.self)
        #expect(try eventually { try stage.text(of: stage.topics.handles).contains(hash) })
        #expect(stage.device(dead.handle)?.registrationCount == 0)
        #expect(try session.call("POST", target, fields, #""two""#).status == 200)
        #expect([dead, alive].map { stage.rungCount($0.handle) } == [0, 2])
        // An app that starts again with it, because Apple knows it again, is registered again.
        try dead.logIn(user, user)
        #expect(try session.call("POST", target, fields, #""three""#).status == 200)
        #expect([dead, alive].map { stage.rungCount($0.handle) } == [1, 3])
        for topic in [stage.topics.requests, stage.topics.results, stage.topics.handles] {
            let text = try stage.text(of: topic).uppercased()
            #expect(!text.contains(dead.handle) && !text.contains(alive.handle))
        }
    }

    /// Apple's sandbox and production are two hubs, each with a gateway.
    @Test func aDeviceOfOneHubDoesNotRingFromTheOther() throws {
        let other = try AppStage.other.get()
        let user = stage.word("developer")
        let (sandbox, production) = (try stage.phone(of: user), try other.phone(of: user))
        #expect(try sandbox.send("sandbox", to: user, on: ["apns"]) == [200])
        #expect(stage.rungCount(sandbox.handle) == 1 && other.rungCount(production.handle) == 0)
        #expect(try production.send("production", to: user, on: ["apns"]) == [200])
        #expect(stage.rung(sandbox.handle).map(\.alert) == ["From \(user): sandbox"])
        #expect(other.rung(production.handle).map(\.alert) == ["From \(user): production"])
    }
}
